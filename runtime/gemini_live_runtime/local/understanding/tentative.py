"""Find wishes that are not firm: "maybe a taxi", "a taxi, but first a coffee"."""

from __future__ import annotations

import re

from gemini_live_runtime.records import record

_MAYBE = r"(?:maybe|perhaps|possibly|probably)"
_HAVING = r"(?:having|getting|taking|trying|have|get|take|try|go for|do)"
_LEAD = re.compile(
    r"\W*(?:(?:so|well|ok|okay|oh|um|uh|hmm?|and|then|or)\W+)*"
    r"(?:(?P<thought>(?:i'?m|i am|we'?re|we are|i was|we were) (?:just )?"
    r"(?:thinking|considering|wondering(?= (?:of|about)))(?: (?:of|about))?"
    r"|(?:i|we) (?:might|may)(?: (?:just|also|as well))*)"
    rf"|{_MAYBE}(?: (?:i|we) (?:could|can|should|will|might))?|(?:i|we) could(?: (?:maybe|perhaps|always|just|also))*)"
    rf"(?: {_MAYBE})?(?: {_HAVING})?\s+(?P<wish>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_END = re.compile(rf"(?P<wish>.*\w)\s*,?\s+{_MAYBE}[\s.!]*", re.IGNORECASE | re.DOTALL)
_PUT_OFF = re.compile(
    r"(?P<later>.*\w)\W+but (?:(?:only|just) )?(?:first|before that|before you do(?: (?:it|that|so))?)\b\W*"
    r"(?P<first>\w.*)",
    re.IGNORECASE | re.DOTALL,
)


@record
class Hedged:
    """Wish without its hedge; with `is_thought` it is no answer to a question."""

    wish: str
    is_thought: bool = False


def hedged(text: str) -> Hedged | None:
    """Return "a taxi" for "maybe a taxi" and "I was thinking of a taxi".

    None for words without such a hedge.
    """
    if (lead := _LEAD.fullmatch(text)) is not None:
        return Hedged(lead["wish"], lead["thought"] is not None)
    end = _END.fullmatch(text)
    return None if end is None else Hedged(end["wish"])


def put_off(text: str) -> tuple[str, str]:
    """Return what comes later and what comes first in "a taxi, but first a coffee".

    Two empty texts for other words.
    """
    found = _PUT_OFF.fullmatch(text)
    return (found["later"], found["first"]) if found is not None else ("", "")
