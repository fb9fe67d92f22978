"""Changing what the agent knows and does."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "state-delete",
        "delete",
        "delete",
        "Delete",
        "Remove the key; undo brings it back",
        "Change",
        scope="state",
        bar="pane",
    ),
    Action(
        "state-undo",
        "u",
        "undo",
        "Undo",
        "Take back the last edit of the state",
        "Change",
        scope="state",
        bar="pane",
    ),
    Action(
        "state-redo",
        "r,ctrl+y",
        "redo",
        "Redo",
        "Make the edit again that was taken back last",
        "Change",
        scope="state",
    ),
    Action(
        "watcher-mute",
        "m",
        "mute",
        "Mute or hear",
        "Mute the watcher, or hear it again",
        "Change",
        scope="watchers",
        bar="pane",
    ),
)
