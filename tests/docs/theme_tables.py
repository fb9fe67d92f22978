"""Write docs/themes.md from the keys of a theme file.

`python -m tests.docs.tables` calls this.
"""

from __future__ import annotations

from pathlib import Path

from gemini_live_tui import theming

PAGE = Path(__file__).resolve().parents[2] / "docs" / "themes.md"

_INTRO = """\
# Themes

`/theme` in the prompt, or *Console: Themes* in the palette, lists the themes and previews the one under the cursor in
the whole console; enter saves it in the config file, escape restores the previous one. `/theme paper` uses a theme for
this run only, and so does `--theme paper` on the command line.

A theme is a TOML file, named by the file. Put yours into `themes/` in the config folder (`gemini-live-tui config path`
prints the path of the config file in it); they override bundled ones of the same name. The picker and
`gemini-live-tui doctor` report a file that cannot be used; the other themes still work. Files are read when the picker
opens, so you can try a theme while you write it.

```toml
# ~/.config/gemini-live-tui/themes/dusk.toml
dark = true
primary = "#f0a35e"
foreground = "#e9e2d8"
background = "#17140f"

[variables]
quiet = "#9d9284"
```

`dark` is true for a dark theme. With `ansi = true` colours may be names of the terminal's own, such as `ansi_red`. A
test measures every bundled theme on the screen: text has a contrast of at least 4.5 to 1 (7 to 1 in `high-contrast`).
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
