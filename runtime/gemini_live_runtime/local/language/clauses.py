"""Split a sentence into clauses: a wish often stands beside its reason.

"Dave isn't coming, so we're five" and "send an engineer, I've had enough" have one clause that asks for something.
"""

from __future__ import annotations

import re

from gemini_live_runtime.local.language.polite_conditions import POLITE_CONDITION

_BREAKS = re.compile(
    r"[!;()]+\s*|(?<=\?)\s+|[,.:]\s+|\s[-\u2013\u2014]+\s|[\u2013\u2014\n]"
    r"|\s(?=(?:just )?tell (?:him|her|sam|'?em)\b)"
    r"|(?<!hundred )\band (?=\w+(?: \w+)?(?: dollars| bucks| pounds)? (?:a|per|each|every) month\b)"
    r"|\b(?:but|so|because|cause|'cause|though|although|since|and then|and (?=the rest\b)|and can you|and could you)\b",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:don't|dont|do not) (?!have|know|understand|owe|recogni[sz]e|agree|get|work|hear|remember|mind)"
    rf"|\bif (?!{POLITE_CONDITION})"
    r"|\b(?:as soon as|once|whenever) (?:i|we|he|she|it|they|the|my|our)\b|\bwhen the \w+ (?:stops|is|comes|goes)\b"
    r"|\b(?:not yet|never|unless|what happens|would happen|stop|without)\b",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\"\u201c\u201d\u00ab\u00bb]|:(?!\d)|(?<!\w)['\u2018](?!em\b).+['\u2019](?!\w)")

MAX_CLAUSES = 6


def clauses_of(text: str) -> list[str]:
    """Return the clauses of `text`; [] for a single one, and for too many."""
    parts = [part.strip() for part in _BREAKS.split(text) if part.strip(" .,-'\"")]
    return parts if 1 < len(parts) <= MAX_CLAUSES else []


def quotes(text: str) -> bool:
    """Return True when a text quotes words, or tells them after a colon."""
    return _QUOTES.search(text) is not None


def forbids(text: str) -> bool:
    """Return True when a clause forbids something, or tells of a condition."""
    return _FORBIDS.search(text.replace("\u2019", "'")) is not None
