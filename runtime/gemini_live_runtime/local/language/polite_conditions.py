"""List what is said after an "if" that sets no condition.

"If you can" and "if it's not too much trouble" are only polite.
"""

from __future__ import annotations

import re

from gemini_live_runtime.local.language.vocabulary import plainly

_CONDITIONS = (
    "you can manage it", "you can", "you could", "you would", "you please", "you do not mind", "you like",
    "possible", "at all possible", "need be", "it suits", "it suits you", "that suits", "that suits you",
    "there is one", "there is any", "there is room", "you have one", "you have any", "you have something",
    "you have anything", "there is something", "there is anything", "you have got one",
    "you have got any", "you have time", "you have got time", "that is possible",
    "that is ok", "that is okay", "that is all right", "that is alright", "that is not too much to ask",
    "it is possible", "i may", "i can", "i could", "we may", "we can", "we could",
    "it is not too much trouble", "it is not too much bother", "that works", "it is no trouble", "it is no bother",
    "you would be so kind", "you get a moment", "you get a chance", "you have a moment", "it is all the same to you",
)  # fmt: skip
"""Conditions in plain words."""

POLITE_IFS = tuple(("if", *plainly(text.split())) for text in sorted(_CONDITIONS, key=len, reverse=True))
"""Words of each polite condition, without those that only weigh a negation, the longest first."""

_OTHER_ENDS = (
    r"can|could|would|mind|like|possible|ok|okay|all ?right|alright|fine|doable|may|please|works|helps|suits|at all"
)


def _as_said(text: str) -> str:
    """Return a pattern of `text` with and without contractions."""
    text = re.sub(r"\b(there|that|it) is\b", r"\1(?:'s| is)", text)
    text = re.sub(r"\bnot too\b", "not(?: too)?", text)
    return re.sub(r"\byou have\b", "you(?:'ve| have)", text)


POLITE_CONDITION = (
    rf"(?:{'|'.join(_as_said(text) for text in sorted(_CONDITIONS, key=len, reverse=True))})\b"
    rf"|(?:you|that|it|i|we|this)\b.{{0,12}}(?:{_OTHER_ENDS})\b"
)
"""Pattern of what follows the "if" of a polite condition, contracted or not."""
