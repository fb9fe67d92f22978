"""Say signs that people type in words: "+1 fish" and "-1 water", "2x coffee"."""

from __future__ import annotations

import re

_TIMES = re.compile(r"(?<![\w.])(\d{1,2}) ?[x\u00d7] ?(?=[^\W\d])(?!\w*\d)", re.IGNORECASE)
_TIMES_AFTER = re.compile(r"(?<=[^\W\d]) [x\u00d7] ?(\d{1,2})\b(?![x\u00d7:.])", re.IGNORECASE)
_PLUS = re.compile(r"(?:(?<=\s)|^)\+ ?(?=\d{1,2} [^\W\d])")
_MINUS = re.compile(r"(?:(?<=\s)|^)[-\u2212] ?(?=\d{1,2} [^\W\d])")
_AND = re.compile(r"(?<=\w)(?:\s+n['\u2019]?\s+|\s+'n'?\s+)(?=\w)", re.IGNORECASE)


def in_words_of_signs(text: str) -> str:
    """Return `text` with words for signs between or before things."""
    text = _TIMES.sub(r"\1 ", text)
    text = _TIMES_AFTER.sub(r" \1", text)
    text = _MINUS.sub("minus ", _PLUS.sub("plus ", text))
    return _AND.sub(" and ", text)
