"""List the actions on tasks, notifications and memory."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action, Bar


def _own(ident: str, keys: str, action: str, title: str, description: str, bar: Bar = "pane") -> Action:
    return Action(ident, keys, action, title, description, "Inspect", scope="tasks", bar=bar, palette=False)


def _writing(ident: str, keys: str, action: str, title: str, description: str) -> Action:
    return Action(ident, keys, action, title, description, "Change", scope="memory", palette=False)


ACTIONS: tuple[Action, ...] = (
    Action(
        "tasks",
        "",
        "part('tasks')",
        "Tasks",
        "Show tasks with their progress",
        "Inspect",
        scope="tasks",
        slash="tasks",
    ),
    Action(
        "notifications",
        "",
        "part('notifications')",
        "Notifications",
        "Show which notifications wait and why, and which were told",
        "Inspect",
        scope="tasks",
        slash="notifications",
    ),
    Action(
        "memory",
        "",
        "part('memory')",
        "Memory",
        "Show, search and change what is remembered for later sessions",
        "Inspect",
        scope="tasks",
        slash="memory",
    ),
    _own("harness-next", "right", "next_part(1)", "Part", "Show the part to the right"),
    _own("harness-previous", "left", "next_part(-1)", "Previous", "Show the part to the left", ""),
    _own("cancel-task", "c", "change('cancel_task')", "Cancel", "Cancel the task under the cursor, after asking"),
    _own(
        "acknowledge",
        "H",
        "change('acknowledge')",
        "Acknowledge",
        "Close the notification, so that it is not announced",
    ),
    _own("queue-again", "Q", "change('queue_again')", "Queue again", "Queue a closed notification again"),
    _own("memory-search", "f", "search", "Filter", "List memories with some words"),
    _own("memory-edit", "e", "change('edit_memory')", "Edit", "Edit the value of the memory"),
    _own("memory-add", "a", "change('add_memory', 'memory')", "Add", "Add a memory"),
    _own("harness-file", "O", "open_file", "File", "Open its file in $VISUAL, $EDITOR or the pager"),
    _own(
        "harness-delete",
        "delete,backspace",
        "change('delete')",
        "Delete",
        "Delete the notification or the memory",
        "",
    ),
    _own("harness-undo", "u", "change('undo')", "Undo", "Undo the last deletion", ""),
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
