"""Everything the console can be told to do: the one source of bindings, key bar, palette and help.

An action's keys can be changed by its id. Keys that terminals swallow (or that tmux and screen keep for themselves)
have a twin among the function keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gemini_live_runtime.errors import ConfigError

if TYPE_CHECKING:
    from textual.binding import Binding

Scope = Literal["console", "app", "prompt"]
Group = Literal["Talk", "Write", "Read", "Console"]
Bar = Literal["", "always", "voice", "text"]
GROUPS: tuple[Group, ...] = ("Talk", "Write", "Read", "Console")


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do.

    `action` is the method `action_…` of the scope that carries it out. `anywhere`: its keys go before the prompt's own
    while that is focused. `bar`: when the key bar shows it.
    """

    id: str
    keys: str
    action: str
    title: str
    description: str
    group: Group
    scope: Scope = "console"
    anywhere: bool = False
    bar: Bar = ""
    palette: bool = True


ACTIONS: tuple[Action, ...] = (
    Action(
        "text-mode",
        "ctrl+b,f2",
        "toggle_text_mode",
        "Text",
        "Text mode and back: the microphone goes off, the speaker stays as it is, what you type is sent",
        "Talk",
        anywhere=True,
        bar="always",
    ),
    Action("mute", "space,f4", "mute", "Mute", "Mute the microphone, or open it again", "Talk", bar="voice"),
    Action(
        "mute-speaker", "v,f5", "mute_speaker", "Speaker", "Mute the speaker, or open it again", "Talk", bar="voice"
    ),
    Action(
        "interrupt",
        "escape",
        "interrupt",
        "Interrupt",
        "Stop the model; when it is silent: clear the message, or leave the prompt",
        "Talk",
        anywhere=True,
        bar="always",
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
    Action("scroll-up", "up", "scroll('up')", "Line up", "Scroll the transcript up", "Read", palette=False),
    Action("scroll-down", "down", "scroll('down')", "Line down", "Scroll the transcript down", "Read", palette=False),
    Action(
        "page-up",
        "pageup",
        "scroll('page_up')",
        "Page up",
        "Scroll the transcript a page up",
        "Read",
        anywhere=True,
        palette=False,
    ),
    Action(
        "page-down",
        "pagedown",
        "scroll('page_down')",
        "Page down",
        "Scroll the transcript a page down",
        "Read",
        anywhere=True,
        palette=False,
    ),
    Action("top", "home,ctrl+home", "scroll('home')", "To the top", "Go to the first line", "Read"),
    Action("follow", "end,ctrl+end", "scroll('end')", "Follow", "Go to the last line and follow it", "Read"),
    Action(
        "copy",
        "ctrl+c",
        "copy_or_quit",
        "Copy",
        "Copy what is selected; with nothing selected, twice: quit",
        "Console",
        scope="app",
        anywhere=True,
        palette=False,
    ),
    Action("help", "f1,question_mark", "open('help')", "Help", "All keys", "Console", scope="app", bar="always"),
    Action(
        "palette",
        "ctrl+p,f3",
        "open('palette')",
        "Commands",
        "Search for a command by its name",
        "Console",
        scope="app",
        anywhere=True,
        bar="always",
        palette=False,
    ),
    Action(
        "theme",
        "f9",
        "next_theme",
        "Theme",
        "Change to the next theme",
        "Console",
        scope="app",
        anywhere=True,
    ),
    Action(
        "quit",
        "ctrl+q",
        "hang_up_and_quit",
        "Quit",
        "Hang up and quit",
        "Console",
        scope="app",
        anywhere=True,
        bar="always",
    ),
)

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}

UNREACHABLE = {
    "ctrl+i": "terminals send it as tab",
    "ctrl+m": "terminals send it as enter",
    "ctrl+h": "terminals send it as backspace",
    "ctrl+left_square_bracket": "terminals send it as escape",
    "ctrl+[": "terminals send it as escape",
}
"""Keys that never arrive as themselves."""


def bindings(scope: Scope) -> list[Binding]:
    """Textual's bindings of one scope."""
    from textual.binding import Binding

    return [
        Binding(action.keys, action.action, action.title, id=action.id, priority=action.anywhere)
        for action in ACTIONS
        if action.scope == scope
    ]


def keys_of(action: Action, keymap: Mapping[str, str]) -> list[str]:
    """The keys that trigger an action under a keymap."""
    return [key.strip() for key in keymap.get(action.id, action.keys).split(",") if key.strip()]


_KEY = re.compile(r"(?:[a-z]+\+)*(?:[A-Za-z0-9_]+|[!-~])")

_LABELS = {"escape": "esc", "pageup": "PgUp", "pagedown": "PgDn", "question_mark": "?", "up": "↑", "down": "↓"}


def key_label(key: str, *, ascii_only: bool = False) -> str:
    """A key as people write it: `^b`, `F2`, `esc`."""
    if ascii_only and key in ("up", "down"):
        return key
    if key in _LABELS:
        return _LABELS[key]
    if key.startswith("ctrl+") and len(key) == 6:
        return f"^{key[5:]}"
    if key.startswith("f") and key[1:].isdigit():
        return key.upper()
    return key


def check_keymap(keymap: Mapping[str, str]) -> None:
    """Raise `ConfigError` naming the first entry of `keymap` that cannot work."""
    for ident, keys in keymap.items():
        field = f"keymap.{ident}"
        if ident not in BY_ID:
            known = ", ".join(BY_ID)
            raise ConfigError(f"{field}: there is no action {ident!r}", remedy=f"Known: {known}", field=field)
        if not isinstance(keys, str) or not keys_of(BY_ID[ident], keymap):
            raise ConfigError(f"{field}: no key is given", remedy='Write e.g. "f4" or "m,f4"', field=field, value=keys)
        for key in keys_of(BY_ID[ident], keymap):
            if not _KEY.fullmatch(key):
                raise ConfigError(
                    f"{field}: {key[:40]!r} is no key",
                    remedy='Write e.g. "m", "f4", "ctrl+n" or "shift+tab"',
                    field=field,
                    value=key,
                )
            if key in UNREACHABLE:
                raise ConfigError(
                    f"{field}: {key} cannot be used, {UNREACHABLE[key]}",
                    remedy="Choose another key",
                    field=field,
                    value=key,
                )
    _check_clashes(keymap)


def _check_clashes(keymap: Mapping[str, str]) -> None:
    taken: dict[tuple[str, str], str] = {}
    for action in ACTIONS:
        # The prompt is a place of its own: its up and down are not the transcript's.
        place = "prompt" if action.scope == "prompt" else "console"
        for key in keys_of(action, keymap):
            other = taken.setdefault((place, key), action.id)
            if other != action.id:
                field = f"keymap.{action.id if action.id in keymap else other}"
                raise ConfigError(
                    f"{field}: {key} is the key of both {other} and {action.id}",
                    remedy="Give one of them another key",
                    field=field,
                    value=key,
                )


def in_group(group: Group) -> Iterable[Action]:
    """The actions of one group, in their order."""
    return (action for action in ACTIONS if action.group == group)
