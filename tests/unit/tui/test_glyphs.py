"""Each sign is one cell wide and has an ASCII twin."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import fields

from rich.cells import cell_len

from gemini_live_tui.painting.glyphs import ASCII, UNICODE, Glyphs


def signs(glyphs: Glyphs) -> Iterator[tuple[str, str]]:
    """Yield each sign with the name of its field."""
    for field in fields(glyphs):
        value = getattr(glyphs, field.name)
        if field.name != "border":
            for sign in value.values() if field.name == "states" else value:
                yield field.name, sign


def test_every_sign_is_one_cell_wide_in_every_terminal() -> None:
    for name, sign in signs(UNICODE):
        assert cell_len(sign) == 1, (name, sign)
        assert unicodedata.east_asian_width(sign) not in ("W", "F"), (name, sign)
        assert not unicodedata.combining(sign), (name, sign)


def test_every_sign_has_an_ascii_twin() -> None:
    for name, sign in signs(ASCII):
        assert sign.isascii(), (name, sign)
        assert sign.isprintable(), (name, sign)
    assert UNICODE.states.keys() == ASCII.states.keys()
    assert (UNICODE.mark, ASCII.mark) == ("⚑", "m")
