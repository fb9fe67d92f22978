"""Replace the last non-ASCII signs under `--ascii`: lines, blocks, arrows, quotes.

The console's own signs have their twins in `glyphs`; these are Textual's, and those in sentences. Letters are never
touched.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_CORNERS = "┌┐└┘├┤┬┴┼╭╮╯╰╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋"
_TWINS = str.maketrans(
    {
        **dict.fromkeys("─━═╌┄┈▔▁", "-"),
        **dict.fromkeys("│┃║╎┆┊▏▕", "|"),
        **dict.fromkeys(_CORNERS, "+"),
        # Partly filled cells: the ends of scrollbars, the edges of buttons and switches.
        **dict.fromkeys("▂▃▄▅▆▇▎▍▌▋▊▉▐▀", " "),
        **dict.fromkeys("█▓▒░■", "#"),
        **dict.fromkeys("▼▾⌄↓", "v"),
        **dict.fromkeys("▲▴⌃↑", "^"),
        **dict.fromkeys("▶▸›→", ">"),
        **dict.fromkeys("◀◂‹←", "<"),
        **dict.fromkeys("“”„«»", '"'),
        **dict.fromkeys("‘’‚", "'"),
        **dict.fromkeys("–—−", "-"),
        **dict.fromkeys("●•◉○", "*"),
        **dict.fromkeys("✓✔", "x"),
        "…": ".",
        "·": "-",
    }
)
"""Signs and their twins, each one cell wide."""


class AsciiFilter(LineFilter):
    """Filter that replaces signs in painted lines."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments in plain signs."""
        return [
            part if part.text.isascii() else Segment(part.text.translate(_TWINS), part.style, part.control)
            for part in segments
        ]
