"""Group actions into the rows of the help and of docs/keys.md.

Actions that belong together, such as back and forward, or that are the same in several places, share a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gemini_live_runtime.records import record
from gemini_live_tui.actions import ACTIONS, BY_ID, PLACES, Action
from gemini_live_tui.actions.keymap import keys_of

SHARED = "In panes and lists"
"""Heading of the rows whose letters mean the same in several places."""

_GENERAL = ("everywhere", "prompt")

_SHARED_ROWS: tuple[tuple[str, str, str], ...] = (
    (
        "text-mode text voice",
        "Text or voice",
        "Switch between text and voice; in text mode the microphone is off and the prompt has the cursor",
    ),
    (
        "consent-yes consent-no consent-always revoke-consent",
        "Yes/no/always",
        "Run the call that waits, refuse it, or run it and later calls of its tool; /revoke-consent asks again",
    ),
    (
        "connect resend",
        "Connect, send",
        "Make a lost connection again, now, or send a message again that may not have arrived, else your last one",
    ),
    ("history-previous history-next", "Older messages", "Bring back an earlier message, or a later one"),
    (
        "scroll-up scroll-down page-up page-down top",
        "Scroll",
        "Go up or down in the focused pane, by line or by page, or to its first line",
    ),
    ("follow live", "End, live", "Go to the last line and follow it, and return to live"),
    ("utterance-back utterance-on", "Utterance", "Put the cursor on the utterance before or after; a click does, too"),
    ("search-older search-newer", "Search on", "Go to the next older or newer paragraph with the text searched for"),
    (
        # The tasks, whose key is a letter, have a row of their own: a short list of keys shows digits only.
        " ".join(f"pane-{name}" for name in PLACES if f"pane-{name}" in BY_ID and name != "tasks"),
        "Pane",
        "Go to a pane: Transcript, Phase, Watchers, State, Timeline, Latency, Tools, Events, Logs",
    ),
    ("next-pane previous-pane", "Next pane", "Go to the next or previous pane on the screen; out of the prompt, too"),
    (
        "why watcher-why",
        "Why",
        "Explain the row under the cursor: a key, call, event, watcher, transition or task; else the newest decision",
    ),
    (
        "tasks notifications memory harness-next harness-previous",
        "Part",
        "Show tasks with their progress, notifications and why they wait, or what is remembered for later sessions",
    ),
    (
        "cancel-task harness-file",
        "Cancel, open",
        "Cancel a task, or open the file of tasks, notifications or memory in the editor or pager",
    ),
    (
        "acknowledge queue-again",
        "Heard, again",
        "Acknowledge a notification, or queue a closed one again",
    ),
    ("timeline-in timeline-out", "Zoom", "Show a shorter time in more detail, or a longer time"),
    ("timeline-earlier timeline-later", "Move", "Move a quarter of the window back or forward"),
    ("state-fold state-unfold", "Fold", "Fold or unfold the scope of the cursor"),
    ("why-older why-newer", "Older, newer", "Explain the decision before or after this one"),
    (
        "copy-utterance state-copy copy-event copy-log copy-failure copy-why copy-details",
        "Copy",
        "Copy the row under the cursor, or what is shown",
    ),
    (
        "state-filter events-filter sessions-filter memory-search",
        "Filter",
        "List only some rows, by words, keys or types",
    ),
    ("state-add breakpoint-add memory-add", "Add", "Add a key, a breakpoint or a memory"),
    ("state-edit breakpoint-change sessions-rename memory-edit", "Edit", "Edit the row under the cursor"),
    (
        "state-delete breakpoint-forget sessions-delete harness-delete profile-delete",
        "Delete",
        "Delete the row under the cursor, or discard what is staged there",
    ),
    ("state-undo sessions-undo harness-undo undo", "Undo", "Undo the last edit or deletion"),
    ("state-redo redo", "Redo", "Redo the edit that was undone last"),
    (
        "watcher-mute watcher-screen-mute breakpoint-switch switch-watcher",
        "On or off",
        "Switch a watcher or a breakpoint off, or on again",
    ),
    (
        "phase-break watcher-break state-break tool-break watcher-screen-break break",
        "Break",
        "Set or remove a breakpoint: on a phase, transition (from>to), watcher, key, tool or expression",
    ),
    (
        "editor-apply go-now send-telling memory-write memory-kind profile-apply",
        "Apply",
        "Apply or send what is written or staged, or go to the phase at once; ^y reads a memory as text or JSON",
    ),
    (
        "editor-keep-mine editor-take-theirs memory-keep-mine memory-take-theirs",
        "Mine or theirs",
        "Keep the typed value, or that of the agent or another program",
    ),
    ("watcher-fire fire-watcher", "Fire", "Run a watcher's action, as if its condition had become true"),
    ("set-key unset-key", "Set a key", "Set a key of the state to a JSON value (quote text), or remove it"),
    (
        "phase-override go-to-phase",
        "Go to phase",
        "Move the conversation to another phase, and preview the effects; /goto does it at once",
    ),
    ("give-context write-context", "Give context", "Send context to the model without asking for an answer"),
    (
        "set-instruction edit-instruction",
        "Instruction",
        "Replace the agent's own instruction; the phases' parts of it stay",
    ),
    ("pause continue", "Hold", "Pause the agent before its next decision, or continue; the call goes on either way"),
    ("event-back event-on", "Event back, on", "Go back or forward by one event"),
    ("turn-back turn-on", "Turn back, on", "Go back or forward by a turn"),
    ("transition-back transition-on", "Phase back, on", "Go back or forward to a change of phase"),
    ("mark-back mark-on", "Mark back, on", "Go back or forward to a mark"),
    ("play-slower play-faster", "Speed", "Play back more slowly, or faster"),
    ("diff-earlier diff-later", "Earlier, later", "Go to the previous or next turn or mark"),
    ("export sessions-export export-write", "Export", "Write a session to files: Markdown, text, JSON, sound"),
    (
        "sessions-up sessions-down sessions-page-up sessions-page-down sessions-first sessions-last "
        "export-up export-down",
        "Move",
        "Go up or down in the list",
    ),
    ("sessions-close export-close", "Close", "Leave the field, the filter or the trash, then close"),
    ("test-microphone test-echo", "Test the sound", "Rate the sound of your voice, or measure the echo"),
    (
        "agents profiles profile-new profile-switch",
        "Agent, profile",
        "Choose another agent; list profiles with their values, copy one, or start the next session under another",
    ),
    ("api-key vertex", "Access", "Enter a Gemini API key, or talk through a Google Cloud project"),
    (
        "quit detach",
        "Quit, detach",
        "Hang up and quit, or quit and let the call go on, for up to five minutes; "
        "Sessions and gemini-live-tui attach return to it",
    ),
    (
        "sessions-open sessions-resume",
        "Open, resume",
        "Replay the session, return to it while it runs, or restore it from the trash; G resumes a recorded one",
    ),
    ("themes theme", "Themes", "Preview themes and keep one; /theme NAME uses one for this run"),
)
"""Ids of the actions of a row, its title and its description."""


@record
class Row:
    """Actions that are explained together."""

    title: str
    description: str
    actions: tuple[Action, ...]

    @property
    def section(self) -> str:
        """Group of a first action that works everywhere, the only place, or `SHARED`."""
        first = self.actions[0]
        if PLACES[first.scope].kind in _GENERAL:
            return first.group
        return first.scope if len({action.scope for action in self.actions}) == 1 else SHARED

    def keys(self, keymap: Mapping[str, str]) -> list[str]:
        """Return the keys of all its actions, each once."""
        return list(dict.fromkeys(key for action in self.actions for key in keys_of(action, keymap)))


def rows_of(actions: Iterable[Action]) -> list[Row]:
    """Return the rows of actions, in the order of their first actions."""
    given = list(actions)
    left = {action.id for action in given}
    found = []
    for action in given:
        if action.id in left:
            together = [one for one in given if one.id in _ROW_OF.get(action.id, (action.id,))]
            left.difference_update(one.id for one in together)
            title, description = _WORDS.get(action.id, ("", "")) if len(together) > 1 else ("", "")
            found.append(Row(title or action.title, description or action.description, tuple(together)))
    return found


_ROW_OF: Mapping[str, tuple[str, ...]] = {
    ident: tuple(idents.split()) for idents, _, _ in _SHARED_ROWS for ident in idents.split()
}
_WORDS: Mapping[str, tuple[str, str]] = {
    ident: (title, description) for idents, title, description in _SHARED_ROWS for ident in idents.split()
}

ROWS: tuple[Row, ...] = tuple(rows_of(ACTIONS))
"""Rows of all actions."""
