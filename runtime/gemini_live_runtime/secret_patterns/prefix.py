"""Make the patterns of a provider's keys from what they begin with."""

from __future__ import annotations

import re
from typing import NamedTuple

from gemini_live_runtime.records import frozen_record

ANY = r"[0-9A-Za-z_\-]"
"""Sign of most keys."""

BASE62, BASE64, HEX, CAPITAL = r"[0-9A-Za-z]", r"[0-9A-Za-z+/=]", "[0-9a-f]", "[0-9A-Z]"
NO_DASH, NO_UNDERSCORE = r"[0-9A-Za-z_]", r"[0-9A-Za-z\-]"
DOTTED, PADDED, LOWER = r"[0-9A-Za-z_\-.]", r"[0-9A-Za-z_\-+/=]", "[0-9a-z]"
URL, UUID = r"[0-9A-Za-z%+/=_\-~]", r"[0-9a-f\-]"

SEPARATORS = "_-./~=$"
RARE = "AKJGV"
"""Signs of prefixes that are rare in ordinary texts; `Prefix.hinge` is one of them."""

_IN_PATTERN = re.compile(r"\[(?P<one>[.$])\]|\[[^\]]*\]|\{[^}]*\}|(?P<sign>.)")


# A word may follow a letter that ends an escape: of JSON (`\\n`, `\\u200b`), of a URL (`%20`), of a terminal (`[1m`).
# Letters beyond ASCII do not count: languages without spaces write keys right after them.
_ESCAPES = (r"\\[nrtbf]", r"\\u[0-9a-fA-F]{4}", r"%[0-9a-fA-F]{2}", r"[0-9;]m")

BEGIN = rf"(?:(?<![0-9A-Za-z]){''.join(f'|(?<={escape})' for escape in _ESCAPES)})"
"""Pattern of a place where a word begins."""


def begins(anchor: str) -> str:
    """Return a pattern of `anchor`, of fixed width, where a word begins.

    Quicker to search for than `BEGIN` before it.
    """
    escapes = "".join(rf"|(?<={escape}{anchor})" for escape in _ESCAPES)
    return rf"{anchor}(?:(?<![0-9A-Za-z]{anchor}){escapes})"


def tells(signs: str) -> str:
    """Return a lookahead for what ordinary words do not have.

    That is a digit, or capitals and small letters that change in a way in which CamelCase does not, twice.
    """
    return rf"(?={signs}{{0,60}}[0-9]|(?:{signs}{{0,30}}?(?:[A-Z][a-z][A-Z]|[a-z][A-Z]{{2}})){{2}})"


class Hinge(NamedTuple):
    """Rare sign of a prefix, with the patterns of what stands before and behind it."""

    sign: str
    before: str
    behind: str


@frozen_record
class Prefix:
    """Beginning of a provider's keys, as a pattern of fixed width.

    `least` signs of `signs` follow in a whole key; of one that is cut off, `telling` signs tell too much. Words may
    follow the prefix, unless `is_unlike`: a key has what words do not have. `literal` is a text that each key has,
    where `pattern` is none; `form` is a lookahead for what follows the prefix. Letters may stand before one with
    `is_anywhere`. With `is_public`, the prefix is no part of the secret. A prefix with secret parts has a `lead`, the
    pattern of its first signs, and perhaps a `cut_lead`, that of first signs that tell too much.
    """

    pattern: str
    signs: str
    least: int
    telling: int = 6
    is_unlike: bool = False
    literal: str = ""
    form: str = ""
    lead: str = ""
    cut_lead: str = ""
    is_anywhere: bool = False
    is_public: bool = False

    @property
    def anchor(self) -> str:
        """Return a literal that each key contains."""
        return self.literal or self.pattern.replace("[.]", ".").replace("[$]", "$")

    @property
    def whole(self) -> str:
        """Return the pattern of a key."""
        if self.is_public:
            begin = rf"(?<={self.pattern})"
        else:
            begin = self.pattern if self.is_anywhere else begins(self.pattern)
        return rf"{begin}{self.form}{self._tells}{self.signs}{{{self.least},}}"

    @property
    def open(self) -> str:
        """Return the pattern of what may begin a key, without what must precede it."""
        lead = rf"|{self.lead}" if self.lead else ""
        return rf"{self._start}{self.signs}{{0,{self._most}}}{lead}"

    @property
    def cut(self) -> str:
        """Return the pattern of a key's beginning that tells too much, like `open`."""
        lead = rf"|{self.cut_lead}" if self.cut_lead else ""
        if self.telling > self._most:
            return f"(?!){lead}"
        return rf"{self._start}{self._tells}{self.signs}{{{self.telling},{self._most}}}{lead}"

    @property
    def hinge(self) -> Hinge | None:
        """Return the rarest sign of the prefix, or None when it has no rare one."""
        found = [(match["one"] or match["sign"], *match.span()) for match in _IN_PATTERN.finditer(self.pattern)]
        signs = [part for part in found if part[0] is not None]
        last = signs[-1]
        if last[0] not in SEPARATORS or last[2] < len(self.pattern):
            rare = [part for sign in SEPARATORS + RARE for part in signs if part[0] == sign]
            if not rare:
                return None
            last = rare[0]
        sign, start, end = last
        return Hinge(sign, self.pattern[:start], self.pattern[end:])

    @property
    def _start(self) -> str:
        return rf"(?<={self.pattern})" if self.is_public else self.pattern

    @property
    def _most(self) -> int:
        """Return the most signs of a key that is not whole."""
        # What tells a key from words may be at its end.
        return self.least - 1 if self.is_unlike else max(self.least - 1, 80)

    @property
    def _tells(self) -> str:
        return "" if self.is_unlike else tells(self.signs)
