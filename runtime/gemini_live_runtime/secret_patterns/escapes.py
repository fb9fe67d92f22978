"""Read texts as if their signs were not escaped: `token%253Dabc` is `token=abc`.

Separators and quotation marks are written in many ways: encoded in URLs, JSON and HTML, once or several times, and
with the signs of other scripts. They are read once here, so that patterns need to know one way only.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from gemini_live_runtime.secret_patterns.compiled import compiled

_ESCAPE = (
    r"%(?:25)*(?P<url>[0-9A-Fa-f]{2})|\\+(?:u00|x)(?P<json>[0-9A-Fa-f]{2})|\\+(?P<letter>[nrt/])"
    r"|&(?:amp;)*(?:#x(?P<hex>[0-9A-Fa-f]{2})|#(?P<number>[0-9]{2,3})|(?P<name>quot|apos|amp|equals|colon|lt|gt|num));"
)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "/": "/"}
_ENTITIES = {"quot": '"', "apos": "'", "amp": "&", "equals": "=", "colon": ":", "lt": "<", "gt": ">", "num": "#"}

_OTHER_SIGNS = {
    ":": "\uff1a\ufe55\u2236",
    "=": "\uff1d\ufe66",
    "'": "\u2018\u2019\u201a\u201b\u2039\u203a\u300c\u300d\uff07",
    '"': "\u201c\u201d\u201e\u201f\u00ab\u00bb\u300e\u300f\u301d\u301e\u301f\uff02",
    "`": "\uff40\u00b4",
    "@": "\uff20\ufe6b",
    "/": "\uff0f\u2044",
    "-": "\u2010\u2011\uff0d\ufe63",
    " ": "\u00a0\u2002\u2003\u2009\u202f\u3000",
}
_PLAIN_SIGNS = str.maketrans({other: sign for sign, others in _OTHER_SIGNS.items() for other in others})
_HAS_OTHER_SIGN = f"[{''.join(_OTHER_SIGNS.values())}]"


def has_other_separator(text: str) -> bool:
    """Return True when `text` has another script's sign for a colon or "="."""
    return "\uff1a" in text or "\uff1d" in text or "\ufe55" in text or "\ufe66" in text or "\u2236" in text


class PlainText:
    """Text with its escapes read, and where its characters were."""

    __slots__ = ("_after", "_before", "text")

    def __init__(self, raw: str) -> None:
        pieces: list[str] = []
        self._before: list[int] = []
        """Places in the plain text of the characters that were escaped."""
        self._after: list[int] = []
        """Characters that the escapes had more, up to and with each of them."""
        at = length = more = 0
        for match in compiled(_ESCAPE).finditer(raw):
            sign = _unescaped(match)
            if sign is None:
                continue
            pieces += [raw[at : match.start()], sign]
            length += match.start() - at
            at = match.end()
            more += at - match.start() - 1
            self._before.append(length)
            self._after.append(more)
            length += 1
        pieces.append(raw[at:])
        self.text = "".join(pieces)
        if not raw.isascii():
            self.text = self.text.translate(_PLAIN_SIGNS)

    def raw_span(self, first: int, beyond: int) -> tuple[int, int]:
        """Return where the part [first, beyond) was in the text with escapes."""
        return first + self._more(bisect_left(self._before, first)), beyond + self._more(
            bisect_right(self._before, beyond - 1)
        )

    def _more(self, count: int) -> int:
        return self._after[count - 1] if count else 0


def plain_text(raw: str) -> PlainText | None:
    """Return `raw` with its escapes read, or None when it has none."""
    if ("%" in raw or "\\" in raw or "&" in raw) or (not raw.isascii() and compiled(_HAS_OTHER_SIGN).search(raw)):
        plain = PlainText(raw)
        return None if plain.text == raw else plain
    return None


def _unescaped(match: re.Match[str]) -> str | None:
    """Return the character of ASCII that a match stands for."""
    if match.lastgroup == "letter":
        return _LETTERS[match["letter"]]
    if match.lastgroup == "name":
        return _ENTITIES[match["name"]]
    assert match.lastgroup is not None
    number = int(match[match.lastgroup], 10 if match.lastgroup == "number" else 16)
    return chr(number) if 32 <= number < 127 or number in (9, 10, 13) else None
