"""Count what is given out: "salads, one for me and one for my son" are two."""

from __future__ import annotations

import re

from gemini_live_runtime.local.language.words import parse_number, split_words

_NUMBER = r"(?:one|two|three|four|five|six|\d)"
_PERSON = (
    r"(?:me|him|her|us|them|myself|each of us|(?:my|our|his|her|the) (?!eggs?\b|oven\b|pasta\b|tea\b|meeting\b)\w+"
    r"(?: and (?:me|my \w+))?)"
)
_SHARE = rf"(?:and )?(?:another |the other )?{_NUMBER} for {_PERSON}"
_SHARES = re.compile(rf"\b{_SHARE}(?:(?:\s*,\s*|\s+){_SHARE})+\b", re.IGNORECASE)
_COUNT = re.compile(rf"\b({_NUMBER}) for\b", re.IGNORECASE)


def with_shares_counted(text: str) -> str:
    """Return `text` with the number of what it gives out: "salads, 2".

    A text that counts anything else besides stays as it is.
    """
    found = _SHARES.search(text)
    if found is None:
        return text
    before, after = text[: found.start()], text[found.end() :]
    rest = split_words(f"{before} {after}")
    if any(parse_number(rest, at) is not None for at in range(len(rest))):
        return text
    counts = (parse_number(split_words(count), 0) for count in _COUNT.findall(found[0]))
    return f"{before}{sum(number[0] for number in counts if number is not None)}{after}"
