"""Write docs/keys.md and the README's key table from the action table.

`python -m tests.docs.tables` calls this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from gemini_live_tui.actions import ACTIONS, GROUPS, PLACES, Action, in_group, in_scope
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.actions.slash import COMMANDS, form_of

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "keys.md"
_MARK = re.compile(r"<!-- table: keys -->\n(?:\n(?:\|.*\n)+)?")
_GENERAL = ("everywhere", "prompt")

_INTRO = """\
# Keys and commands

All actions of the console, by key, by name in the palette (`F3`) and by command in the prompt. `F1` shows the keys of
the focused pane, as they are mapped. This page is generated from the table in `tui/gemini_live_tui/actions`
(`python -m tests.docs.tables`).

Change an action's keys by its name, in the config file or with `gemini-live-tui config set keymap.mute "k,f4"`:

```toml
[keymap]
mute = "k,f4"
interrupt = "escape,ctrl+x"
```

Entries that cannot work (an unknown name, a key that terminals never send, a key with two meanings in one place) are
reported when the console starts; these actions keep their default keys, and the rest of the keymap is in use.
`gemini-live-tui doctor` lists all such entries. Actions on keys that tmux, screen, docker or flow control may intercept
have a second key.
"""


def readme_table() -> list[str]:
    """Return the table of keys that hold everywhere and in the console."""
    rows = [
        f"| {_keys(action)} | {_cell(action.description)} |"
        for group in GROUPS
        for action in in_group(group)
        if PLACES[action.scope].kind == "everywhere" and keys_of(action, {})
    ]
    return ["| key | what it does |", "|---|---|", *rows]


def with_key_table(readme: str) -> str:
    """Return the README with its table brought up to date."""
    table = "\n".join(readme_table())
    return _MARK.sub(lambda _: f"<!-- table: keys -->\n\n{table}\n", readme)


def keys_page() -> str:
    """Return the whole page."""
    general = [action for action in ACTIONS if PLACES[action.scope].kind in _GENERAL]
    parts = [_INTRO, *(_section(group, "", (one for one in general if one.group == group)) for group in GROUPS)]
    for place in PLACES.values():
        if place.kind not in _GENERAL:
            title = f"{place.title} pane" if place.kind == "pane" else place.title
            parts.append(_section(title, place.about, in_scope(place.name)))
    rows = [f"| `{form_of(one).usage}` | {_cell(one.description)} |" for one in dict.fromkeys(COMMANDS.values())]
    about = "Written in the prompt, where `tab` completes them. `/say`, or `//` in front, sends a line that begins so."
    parts.append("\n".join(["## Commands", "", about, "", "| command | what it does |", "|---|---|", *rows, ""]))
    return "\n".join(part for part in parts if part)


def _section(title: str, about: str, actions: Iterable[Action]) -> str:
    rows = [f"| {_keys(one) or 'none'} | `{one.id}` | {_cell(one.description)} |" for one in actions]
    if not rows:
        return ""
    head = [f"## {title}", "", *([about, ""] if about else []), "| key | name | what it does |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _keys(action: Action) -> str:
    return ", ".join(f"`{key_label(key)}`".replace("|", "\\|") for key in keys_of(action, {}))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def write() -> None:
    """Bring both files up to date."""
    README.write_text(with_key_table(README.read_text("utf-8")), "utf-8")
    PAGE.write_text(keys_page(), "utf-8")
