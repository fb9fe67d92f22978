"""Writing a message."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "say",
        "",
        "",
        "Say",
        "Send a line as it is, also one that begins with a slash",
        "Write",
        palette=False,
        slash="say TEXT",
        takes="say",
    ),
    Action(
        "send",
        "enter",
        "send",
        "Send",
        "Send what is written, all lines as one message",
        "Write",
        scope="prompt",
        bar="text",
        palette=False,
    ),
    Action(
        "newline",
        "ctrl+j,shift+enter",
        "newline",
        "New line",
        "Start a new line in the prompt",
        "Write",
        scope="prompt",
        bar="text",
        palette=False,
    ),
    Action(
        "complete",
        "tab",
        "complete",
        "Complete",
        "Take the suggestion for the command being written; up and down choose among them",
        "Write",
        scope="prompt",
        palette=False,
    ),
    Action(
        "history-previous",
        "up",
        "history_previous",
        "Previous message",
        "Bring back an earlier message (on the prompt's first line)",
        "Write",
        scope="prompt",
        palette=False,
    ),
    Action(
        "history-next",
        "down",
        "history_next",
        "Next message",
        "Go to a later message (on the prompt's last line)",
        "Write",
        scope="prompt",
        palette=False,
    ),
)
