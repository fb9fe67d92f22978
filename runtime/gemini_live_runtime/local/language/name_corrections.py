"""Read the name in words that correct one."""

from __future__ import annotations

import re

_IT_IS = r"(?i:(?:it'?s|it is|this is|i'?m|i am|my name'?s|my name is|the name'?s|the name is) )"
_NAME = r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)?"
_CORRECTION = re.compile(
    rf"(?i:(?:(?:oh|well|actually|no|nope|sorry)\b\W*)*)(?:"
    rf"(?<=\W){_IT_IS}?(?P<after_no>{_NAME})(?i:,? i said)?|(?i:i said )(?P<again>{_NAME})"
    rf"|{_IT_IS}?(?P<right>{_NAME}),? not {_NAME}|(?i:not ){_NAME},? {_IT_IS}?(?P<instead>{_NAME}))"
    r"(?:\W+(?:[A-Z]\W*)+)?\W*"
)
"""A sentence such as "no, it's Stan", "Stan, not Dan" or "I said Stan, S T A N"."""


def corrected_name(said: str) -> str:
    """Return the name in words that correct one, "" for other words."""
    found = _CORRECTION.fullmatch(said.replace("\u2019", "'").strip())
    name = next(filter(None, found.groups()), "") if found else ""
    return "" if name in ("Sir", "Madam", "Thanks") else name
