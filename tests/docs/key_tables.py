"""Write docs/keys.md from the action table.

`python -m tests.docs.tables` calls this.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gemini_live_tui.actions import GROUPS, PLACES
from gemini_live_tui.actions.keymap import key_label
from gemini_live_tui.actions.rows import ROWS, SHARED, Row
from gemini_live_tui.actions.slash import form_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "keys.md"

_INTRO = """\
# Keys and commands

Letters are typed only while the prompt (or another field) has the cursor; `i`, `enter` in the transcript, a click, a
paste or text mode put it there, `tab` leaves it. In the transcript and in every other pane a letter is a command, the
same one everywhere. `esc` closes dialogs, lists and search lines; everywhere else it stops the model's speech.

`F1` shows the keys of the focused pane, as they are mapped; typing there searches all actions. The palette (`F3`) finds
each action by its name. Commands are written in the prompt, where `tab` completes them; `/say`, or `//` in front, sends
a line that begins so. This page is generated from the table in `tui/gemini_live_tui/actions`
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

_SHARED_ABOUT = "These letters mean the same wherever they mean something."


def keys_page() -> str:
    """Return the whole page."""
    parts = [_INTRO]
    for section in (*GROUPS, SHARED, *PLACES):
        rows = [row for row in ROWS if row.section == section]
        place = PLACES.get(section)
        title = section if place is None else f"{place.title} pane" if place.kind == "pane" else place.title
        about = _SHARED_ABOUT if section == SHARED else place.about if place is not None else ""
        if rows:
            parts.append(_section(title, about, rows))
    return "\n".join(parts)


def _section(title: str, about: str, rows: Iterable[Row]) -> str:
    lines = [
        f"| {_keys(row)} | {_commands(row)} | {_cell(_description(row))} | "
        f"{', '.join(f'`{action.id}`' for action in row.actions)} |"
        for row in rows
    ]
    head = ["| key | command | what it does | names |", "|---|---|---|---|"]
    return "\n".join([f"## {title}", "", *([about, ""] if about else []), *head, *lines, ""])


def _description(row: Row) -> str:
    if row.section != SHARED:
        return row.description
    places = dict.fromkeys(PLACES[action.scope].title for action in row.actions)
    return f"{row.description} ({', '.join(places)})"


def _keys(row: Row) -> str:
    return ", ".join(f"`{key_label(key)}`".replace("|", "\\|") for key in row.keys({}))


def _commands(row: Row) -> str:
    return ", ".join(f"`{_cell(form_of(action).usage)}`" for action in row.actions if action.slash)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def write() -> None:
    """Bring the page up to date."""
    PAGE.write_text(keys_page(), "utf-8")
