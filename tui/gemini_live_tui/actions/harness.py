"""List the actions on tasks, notifications and memory."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action


def _writing(ident: str, keys: str, action: str, title: str, description: str) -> Action:
    return Action(ident, keys, action, title, description, "Change", scope="memory", palette=False)


def _own(ident: str, keys: str, action: str, title: str, description: str) -> Action:
    return Action(ident, keys, action, title, description, "Inspect", scope="harness", palette=False)


ACTIONS: tuple[Action, ...] = (
    Action(
        "tasks",
        "T",
        "open('tasks')",
        "Tasks",
        "Show tasks with their progress, notifications, and memory",
        "Inspect",
        scope="app",
        slash="tasks",
    ),
    Action(
        "notifications",
        "",
        "app.open('notifications')",
        "Notifications",
        "Show which notifications wait and why, and which were told",
        "Inspect",
        slash="notifications",
    ),
    Action(
        "memory",
        "",
        "app.open('memory')",
        "Memory",
        "Show, search and change what is remembered for later sessions",
        "Inspect",
        slash="memory",
    ),
    _own("harness-tasks", "1", "part('tasks')", "Tasks", "Show the tasks"),
    _own("harness-notifications", "2", "part('notifications')", "Notifications", "Show the notifications"),
    _own("harness-memory", "3", "part('memory')", "Memory", "Show the memories"),
    _own("harness-previous", "left,shift+tab", "next_part(-1)", "Previous", "Show the part to the left"),
    _own("harness-next", "right,tab", "next_part(1)", "Next", "Show the part to the right"),
    _own("harness-open", "enter", "open_row", "Details", "Show all of the row under the cursor"),
    _own("harness-file", "O", "open_file", "File", "Open its file in $VISUAL, $EDITOR or the pager"),
    _own("harness-why", "ctrl+e", "why", "Why", "Explain why a notification waits, or who wrote a memory"),
    _own("cancel-task", "c", "cancel_task", "Cancel", "Cancel the task under the cursor, after asking"),
    _own("acknowledge", "H", "acknowledge", "Acknowledge", "Close the notification, so that it is not announced"),
    _own("queue-again", "R", "queue_again", "Send again", "Queue a closed notification again"),
    _own("memory-edit", "e", "edit_memory", "Edit", "Edit the value of the memory"),
    _own("memory-add", "a", "add_memory", "Add", "Add a memory"),
    Action(
        "memory-search",
        "f",
        "search",
        "Filter",
        "List memories with some words",
        "Inspect",
        scope="harness",
        # Words that are typed together with the key follow at once.
        anywhere=True,
        palette=False,
    ),
    _own("harness-delete", "delete,backspace", "delete", "Delete", "Delete the notification or the memory"),
    _own("harness-undo", "u", "undo", "Undo", "Undo the last deletion"),
    _writing("memory-write", "ctrl+s,f5", "write", "Write", "Write the memory"),
    Action(
        "memory-kind",
        "ctrl+y",
        "change_kind",
        "Text or JSON",
        "Read what is typed as text, or as JSON",
        "Change",
        scope="memory",
        # The text area has the key, too.
        anywhere=True,
        palette=False,
    ),
    _writing("memory-keep-mine", "ctrl+r", "keep_mine", "Keep mine", "Write over what another program wrote meanwhile"),
    _writing("memory-take-theirs", "ctrl+t", "take_theirs", "Take theirs", "Edit what another program wrote meanwhile"),
)
