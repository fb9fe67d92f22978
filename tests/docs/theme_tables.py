"""Write docs/themes.md from the keys of a theme file.

`python -m tests.docs.tables` calls this.
"""

from __future__ import annotations

from pathlib import Path

from gemini_live_tui import theming

PAGE = Path(__file__).resolve().parents[2] / "docs" / "themes.md"

_INTRO = """\
# Themes

`/theme` in the prompt, or *Console: Themes* in the palette, shows the console in each theme while one moves through the
list; enter keeps the theme in the config file, escape goes back to the one before. `/theme paper` takes one for now,
`--theme paper` for one start.

A theme is a TOML file; its name is the file's. Yours go to `themes/` in the config folder (`gemini-live-tui config
path` says where that is) and come before bundled ones of the same name. A file that cannot be used is listed with
its fault in the picker and by `gemini-live-tui doctor`; nothing else is lost. Files are read when the picker opens,
so a theme can be tried while it is written.

```toml
# ~/.config/gemini-live-tui/themes/dusk.toml
dark = true
primary = "#f0a35e"
foreground = "#e9e2d8"
background = "#17140f"

[variables]
quiet = "#9d9284"
```

`dark` says which kind it is; with `ansi = true` colours may be names such as `ansi_red`, the terminal's own. A test
measures every bundled theme as it is painted: text has a contrast of 4.5 to 1 at least (7 to 1 in `high-contrast`).
"""


def themes_page() -> str:
    """Return the whole page."""
    bundled = [f"| `{name}` | {_kind(theming.load_theme(name))} |" for name in theming.theme_names()]
    base = [f"| `{name}` | {'needed' if name in theming.REQUIRED else ''} |" for name in theming.BASE]
    own = [f"| `{name}` | `{follows}` |" for name, follows in theming.DEFAULTS.items()]
    return "\n".join(
        [
            _INTRO,
            *("## Bundled", "", "| theme | |", "|---|---|", *bundled, ""),
            *("## Base colours", "", "| colour | |", "|---|---|", *base, ""),
            *("## Variables", "", "| variable | follows, when it is not named |", "|---|---|", *own, ""),
        ]
    )


def _kind(theme: theming.ThemeFile) -> str:
    return "the terminal's sixteen colours" if theme.ansi else "dark" if theme.dark else "light"


def write() -> None:
    """Bring the page up to date."""
    PAGE.write_text(themes_page(), "utf-8")
