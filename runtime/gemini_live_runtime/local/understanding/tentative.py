"""Find wishes that are not firm: "maybe a taxi", "a taxi, but first a coffee"."""

from __future__ import annotations

import re
from collections import deque

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
_OR_SOMETHING = re.compile(
    r"(?P<wish>.*\w)\s*,?\s+or (?:something|anything|whatever)(?: (?:like that|similar|else|small|light))?[\s.!]*",
    re.IGNORECASE | re.DOTALL,
)
_OR = re.compile(
    r"\W*(?:(?:hmm?|um|uh|er|oh|well)\W+)*or\s+(?!rather\b|else\b|actually\b|no\b|not\b|make\b|so\b)(?P<wish>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
"""An alternative to what was said before: "or nine", "or a soup"."""
_AND_MAYBE = re.compile(
    rf"(?P<firm>.*\w)\s*,?\s+(?:and|plus)(?: then)? (?:{_MAYBE}|(?:i|we) (?:might|may|could))(?: (?:also|even))?"
    rf"(?: {_HAVING})?\s+(?P<maybe>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
_PUT_OFF = re.compile(
    r"(?P<later>.*\w)\W+but (?:(?:only|just) )?(?:first|before that|before you do(?: (?:it|that|so))?)\b\W*"
    r"(?P<first>\w.*)",
    re.IGNORECASE | re.DOTALL,
)
_PROPOSES = re.compile(
    r"\W*(?:(?:and|so|well|ok|okay|hmm?|um|uh|oh|then)\W+)*(?:(?:how|what) about|or|maybe|perhaps|possibly|could)\b"
    r"|.*\b(?:could|might|may) (?:also |even |well )*be\b",
    re.IGNORECASE | re.DOTALL,
)
_LEFT_OPEN = re.compile(
    r"\b(?:(?:my|our|his|her|the) \w+|i|we|he|she|they|you|there|some\w*) (?:might|may|could)"
    r" (?:also |still |well |even |all )*(?:come|join|be|bring)\b",
    re.IGNORECASE,
)
_HESITATES = re.compile(rf"\b(?:i (?:guess|suppose)|{_MAYBE}|if (?:i|we) (?:must|have to))\b", re.IGNORECASE)

_HOLD = r"(?:hang on|hold on|one (?:moment|second|sec|minute)|(?:just|give me) a (?:moment|second|sec|minute|tick|mo))"
_LOOKING = (
    r"(?:(?:let me|i(?:'ll| will)|i (?:have|need) to|i(?:'ve| have)? got to|i must)(?: just| first| quickly)* "
    r"(?:find|look|check|think|ask|search|count|save|finish|read|see|fetch|(?:get|grab|open) my)\b"
    r"|i(?:'m| am) (?:just )?(?:looking|checking|searching)\b)"
)
_BREAKS_OFF = re.compile(
    rf"(?:(?:er|um|uh|oh|sorry|no|wait|please)\b\W*)*(?:(?:{_HOLD}|wait)\b[\s\W]*(?:please\W+)?{_LOOKING}[^?.:;!]*[.!\s]*"
    rf"|{_HOLD}(?: please| there| for me)*\W*|(?=let me\b){_LOOKING}[^?.:;!]*[.!\s]*)",
    re.IGNORECASE | re.DOTALL,
)
"""The end of a sentence whose speaker stops to look something up."""
_WORD_START = re.compile(r"(?<=\w)\W+(?=\w)")
_MAX_END_WORDS = 30
"""Words at the end of a text among which the end of a sentence that breaks off begins."""


@record
class Hedged:
    """Wish without its hedge; with `is_thought` it is no answer to a question."""

    wish: str
    is_thought: bool = False


def hedged(text: str) -> Hedged | None:
    """Return "a taxi" for "maybe a taxi", "a taxi or something" and "or a taxi".

    None for words without such a hedge.
    """
    if (vague := _OR_SOMETHING.fullmatch(text)) is not None:
        return Hedged(vague["wish"], is_thought=True)
    if (lead := _LEAD.fullmatch(text)) is not None:
        return Hedged(lead["wish"], lead["thought"] is not None)
    if (other := _OR.fullmatch(text)) is not None:
        return Hedged(other["wish"], is_thought=True)
    end = _END.fullmatch(text)
    return None if end is None else Hedged(end["wish"])


def hesitates(text: str) -> bool:
    """Return True for a yes that is none yet: "I guess that works"."""
    return _HESITATES.search(text) is not None


def proposes(text: str) -> bool:
    """Return True for "how about eight" and "or nine": it may be no change yet."""
    return _PROPOSES.match(text) is not None


def leaves_open(text: str) -> bool:
    """Return True for "my boss might come too, so could be seven"."""
    return _LEFT_OPEN.search(text) is not None


def partly_hedged(text: str) -> tuple[str, str]:
    """Return what is firm and what is not in "the soup and maybe a pasta".

    Two empty texts for other words.
    """
    found = _AND_MAYBE.fullmatch(text)
    return (found["firm"], found["maybe"]) if found is not None else ("", "")


def put_off(text: str) -> tuple[str, str]:
    """Return what comes later and what comes first in "a taxi, but first a coffee".

    Two empty texts for other words.
    """
    found = _PUT_OFF.fullmatch(text)
    return (found["later"], found["first"]) if found is not None else ("", "")


def broken_off(text: str) -> tuple[str, str]:
    """Return "it's four four" and "hang on, let me find it" for both in one sentence.

    Two empty texts for words that are not broken off.
    """
    for gap in deque(_WORD_START.finditer(text), _MAX_END_WORDS):
        if _BREAKS_OFF.fullmatch(text, gap.end()) is not None:
            return text[: gap.start()], text[gap.end() :]
    return "", ""
