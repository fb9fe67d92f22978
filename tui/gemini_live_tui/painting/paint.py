"""Turn a theme's colours into the styles of painted rows.

The rows are painted cell by cell, so their looks are not style sheet rules: each name here is a colour of the theme
(see `theming.DEFAULTS`) with text attributes. Every widget that paints asks for its styles by these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.style import Style
from textual.color import Color
from textual.content import Content
from textual.widget import Widget

Look = tuple[str, str]
"""Theme variable and text attributes."""

LOOKS: Mapping[str, Look] = {
    "said": ("foreground", ""),
    "quiet": ("quiet", ""),
    "strong": ("strong", "bold"),
    "thought": ("quiet", "italic"),
    "unheard": ("quiet", "strike"),
    "ahead": ("quiet", ""),
    "cut": ("caution", "bold"),
    "good": ("confirmed", ""),
    "user": ("speaker-user", "bold"),
    "model": ("speaker-model", "bold"),
    "tool": ("speaker-tool", "bold"),
    "note": ("quiet", "bold"),
    "warn": ("caution", "bold"),
    "error": ("failure", "bold"),
    "key": ("key", "bold"),
    "record": ("recording", "bold"),
    "replay": ("replaying", "bold reverse"),
    "chosen": ("key", "bold reverse"),
    "low": ("meter-low", ""),
    "mid": ("meter-mid", ""),
    "high": ("meter-high", ""),
    "track": ("meter-track", ""),
    "peak": ("meter-peak", ""),
    "voice": ("voice", "bold"),
    "alarm": ("caution", "bold"),
    "state-offline": ("state-offline", "bold"),
    "state-connecting": ("state-connecting", "bold"),
    "state-dormant": ("state-offline", "bold"),
    "state-listening": ("state-listening", "bold"),
    "state-hearing": ("state-hearing", "bold"),
    "state-thinking": ("state-thinking", "bold"),
    "state-speaking": ("state-speaking", "bold"),
    "state-interrupted": ("state-interrupted", "bold"),
    "state-text": ("state-text", "bold"),
    "state-error": ("state-error", "bold"),
    "scope": ("quiet", "bold"),
    "scope-app": ("scope-app", "bold"),
    "scope-user": ("scope-user", "bold"),
    "scope-session": ("scope-session", "bold"),
    "scope-turn": ("scope-turn", "bold"),
    "scope-bg": ("scope-bg", "bold"),
    "scope-temp": ("scope-temp", "bold"),
    "scope-derived": ("scope-derived", "bold"),
    "value": ("foreground", ""),
    "changed": ("changed", "bold reverse"),
    "phase": ("phase", "bold"),
    "watch": ("watcher", "bold"),
    "break": ("breakpoint", "bold"),
    "held": ("held", "bold reverse"),
    "mark": ("mark", "bold"),
    "spark": ("spark", ""),
    "add": ("diff-add", ""),
    "del": ("diff-del", ""),
    "lane-user": ("lane-user", ""),
    "lane-model": ("lane-model", ""),
    "lane-phase": ("lane-phase", ""),
    "lane-watcher": ("lane-watcher", ""),
    "lane-tool": ("lane-tool", ""),
    "lane-state": ("lane-state", ""),
    "lane-latency": ("lane-latency", ""),
}
"""Looks by the names of styles; "" is the widget's own."""


def content(rows: Iterable[Sequence[tuple[str, str]]]) -> Content:
    """Return rows of styled runs for a widget of Textual's; nothing in them is markup."""
    parts: list[Content] = []
    for row in rows:
        runs = []
        for text, name in row:
            variable, attributes = LOOKS.get(name, ("foreground", ""))
            runs.append(Content.styled(text, f"{attributes} ${variable}".strip()))
        parts.append(Content("").join(runs))
    return Content("\n").join(parts)


class Paint:
    """Styles of one widget under the current theme, made on first use."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, Style] = {}

    def style(self, name: str) -> Style:
        """Return the style called `name`, on the widget's background."""
        style = self._styles.get(name)
        if style is None:
            style = self._widget.rich_style
            if name == "cursor":
                style = self._cursor()
            elif name:
                variable, attributes = LOOKS[name]
                colour = Color.parse(self._widget.app.theme_variables[variable])
                if name in ("unheard", "ahead") and self._widget.app.current_theme.ansi:
                    # 16 colours have no quieter one, and some such terminals do not strike through.
                    attributes += " dim"
                style += Style.parse(attributes or "none") + Style(color=colour.rich_color)
            self._styles[name] = style
        return style

    def _cursor(self) -> Style:
        app = self._widget.app
        if app.no_color:
            return Style(reverse=True)
        ink, ground = (app.theme_variables[f"block-cursor-{part}"] for part in ("foreground", "background"))
        return Style(color=Color.parse(ink).rich_color, bgcolor=Color.parse(ground).rich_color, bold=True)

    def forget(self) -> None:
        """Forget all styles after a change of theme."""
        self._styles.clear()
