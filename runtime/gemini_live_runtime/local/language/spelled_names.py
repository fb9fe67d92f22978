"""Read names that are spelled after they are said: "Gareth Pugh, that's P U G H"."""

from __future__ import annotations

import re

from gemini_live_runtime.local.language.words import edit_distance

_SPELLED = re.compile(
    r"(?P<name>[A-Z][\w'\u2019-]+)"
    r"[\s,.;:(]+"
    r"(?P<lead>(?:(?i:(?:that|it)(?:['\u2019]s| is)|thats|its|which is|spelt|spelled|i spell it|with)[\s,:]+)*)"
    r"(?P<letters>(?:(?i:double\s)?[A-Za-z][\s.,-]+){1,14}(?i:double\s)?[A-Za-z]\b)\)?"
)
"""A name, and three letters or more by themselves."""

_LETTER = re.compile(r"(?P<twice>double\s+)?(?P<letter>[a-z])\b", re.IGNORECASE)
_EDITS = 3
"""Letters in which a heard name may differ from the spelled one."""
_LEAST = 3
"""Fewest letters of a spelled name."""


def as_spelled(text: str) -> str:
    """Return `text` with a name as it is spelled, and without the letters.

    Letters that spell another name are left alone.
    """
    return _SPELLED.sub(_with_name, text)


def _with_name(found: re.Match[str]) -> str:
    letters = (2 * item["letter"] if item["twice"] else item["letter"] for item in _LETTER.finditer(found["letters"]))
    spelled, name = "".join(letters).lower(), found["name"]
    plain = re.sub(r"\W", "", name.lower())
    # "That's P U G H" announces letters, which may differ more from what was heard.
    allowed = _EDITS if found["lead"] else min(_EDITS, len(plain) // 2)
    is_other = len(spelled) < _LEAST or spelled[0] != plain[0] or edit_distance(spelled, plain, _EDITS) > allowed
    return found[0] if is_other else name if spelled == plain else spelled.capitalize()
