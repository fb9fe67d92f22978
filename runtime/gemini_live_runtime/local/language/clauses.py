"""Split a sentence into clauses: a wish often stands beside its reason.

"Dave isn't coming, so we're five" and "send an engineer, I've had enough" have one clause that asks for something.
"""

from __future__ import annotations

import re
from itertools import pairwise

from gemini_live_runtime.local.language.polite_conditions import POLITE_CONDITION

_BREAKS = re.compile(
    r"[!;()]+\s*|(?<=\?)\s+|[,:]\s+|(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)(?<!\bprof)\.\s+|\s[-\u2013\u2014]+\s|[\u2013\u2014\n]"
    r"|\s(?=(?:just )?tell (?:him|her|sam|'?em)\b)"
    r"|(?<!hundred )\band (?=\w+(?: \w+)?(?: dollars| bucks| pounds)? (?:a|per|each|every) month\b)"
    r"|\b(?:but|so|because|cause|'cause|though|although|since|and then|and (?=the rest\b)"
    r"|and (?=(?:also )?(?:the|my|our) \w+(?:'s| (?:is|isn't|does|doesn't|keeps|has)) )|and can you|and could you)\b",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\b(?:don't|dont|do not) (?!have|know|understand|owe|recogni[sz]e|agree|get|work|hear|remember|mind)"
    rf"|\bif (?!{POLITE_CONDITION})"
    r"|\b(?:as soon as|once|whenever) (?:i|we|he|she|it|they|the|my|our)\b|\bwhen the \w+ (?:stops|is|comes|goes)\b"
    r"|\b(?:not yet|never|unless|what happens|would happen|stop|without)\b",
    re.IGNORECASE,
)
_DATE = (
    r"(?:(?:next|this|the|on|in|by|from|until|till|before|after|for|coming|following|at|of|end|middle|start) )*"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|payday"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|week|month|year|weekend|first|fifteenth"
    r"|(?:a|an|one|two|three|four|five|six|ten|\d+) (?:days?|weeks?|months?|years?|fortnight))"
)
_IS_DATE = re.compile(
    rf"(?:(?:but|and|or|well|maybe|perhaps|probably|only|just|not|if that's ok|say) )*{_DATE}"
    r"(?: (?:of (?:the|next) month|though|please|then|or so|only|at the earliest|if that's ok))*[\s.!]*",
    re.IGNORECASE,
)
"""A part of a sentence that is nothing but a date: what stands before it is meant for then."""
_IS_FOR_A_DATE = re.compile(
    r"\b(?:pay|take|charge|give|send|settle|clear|restart|reboot|reset|test|check|book|order|cancel|set|add|put|\d+"
    r"|dollars|bucks|pounds)\b",
    re.IGNORECASE,
)
"""Words of what may be done on another day."""

_QUOTES = re.compile(r"[\"\u201c\u201d\u00ab\u00bb]|:(?!\d)|(?<!\w)['\u2018](?!em\b).+['\u2019](?!\w)")

_PUNCTUATION = re.compile(r"[,;!?()\u2013\u2014\n]|[.:](?!\d)|\s-+\s")
_STARTS = re.compile(
    r"(?:i'm|i've|i'll|i'd|i am|i have|i will|i suppose|i guess|we're|we've|we'll|we are|we have|it's|it is|that's"
    r"|he's|she's|they're|there's|is (?:it|there|that|he|she)|are you|(?:would|could|can|will) you|(?:what|how) about"
    r"|(?:the|my|our) \w+(?: (?:is|are|has|have)|'s)|only|just (?:a|an|the|in)|anything (?:in|on|at|later|earlier)"
    r"|you (?:sound|look|are)|starting|tops|easily|no more)\b"
)
"""Words with which a clause begins where nothing is punctuated: speech is not, nor is what many people type."""
_LEADS = re.compile(
    r"(?:(?:no|oh|well|ok|okay|sorry|right|yes|yeah|hmm|evening|morning) )*"
    r"(?:never mind|on second thoughts?|hang on|hold on|no wait|wait|nothing (?:important|special|urgent|much)"
    r"|that's no good)"
    r"(?= \w+ \w+)"
)
"""Remarks before what is wanted."""
_GOES_ON = frozenset({
    "and", "or", "but", "if", "when", "that", "because", "so", "what", "where", "how", "why", "who", "which", "than",
    "as", "like", "whether", "unless", "until", "till", "while", "after", "before", "since", "once", "think",
    "thinks", "thought", "know", "knows", "knew", "say", "says", "said", "saying", "told", "tell", "hear", "heard",
    "hope", "wish", "guess", "suppose", "reckon", "believe", "bet", "sure", "afraid", "glad", "sorry", "see", "feel",
    "means", "mean", "meant", "not", "to", "for", "in", "on", "at", "of", "with", "about", "from", "by", "the", "a",
    "an", "my", "your", "our", "me", "him", "her", "them", "us", "is", "are", "was", "were", "be", "now", "do", "did",
    "does", "have", "has", "had", "can", "could", "would", "will", "note", "down", "it's", "that's", "i'm", "only",
    "just",
})  # fmt: skip
"""Words before which nothing begins: "he said I'm late", "tell him I've called"."""
_CONDITIONS = frozenset({
    "if", "when", "whenever", "should", "once", "another", "unless", "had", "were", "after", "next", "tell", "ask",
    "say",
})  # fmt: skip
"""First words of texts whose end is no clause of its own: "when I'm paid I'll pay", "tell her it's late"."""
_LEAST_WORDS = 2

MAX_CLAUSES = 6


def clauses_of(text: str) -> list[str]:
    """Return the clauses of `text`; [] for a single one, and for too many."""
    parts = [part.strip() for part in _BREAKS.split(text) if part.strip(" .,-'\"")]
    if not _PUNCTUATION.search(text.rstrip(" .!?")):
        parts = [clause for part in parts for clause in _clauses_by_their_starts(part)]
    parts = _with_their_dates(parts)
    return parts if 1 < len(parts) <= MAX_CLAUSES else []


def _with_their_dates(parts: list[str]) -> list[str]:
    """Return parts of a sentence, each date joined to what is to be done then.

    "Take fifty, on Friday" is one part.
    """
    joined: list[str] = []
    for part in parts:
        if joined and _IS_DATE.fullmatch(part) and _IS_FOR_A_DATE.search(joined[-1]):
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return joined


def _clauses_by_their_starts(text: str) -> list[str]:
    """Return the clauses of a text without punctuation, found by how clauses begin."""
    lead = _LEADS.match(text.lower())
    first, rest = (text[: lead.end()], text[lead.end() :].strip()) if lead else ("", text)
    words = rest.split()
    starts = [0]
    is_whole = bool(words) and words[0].lower() in _CONDITIONS
    for at in range(_LEAST_WORDS, 0 if is_whole else len(words)):
        before = words[at - 1].lower()
        if at - starts[-1] >= _LEAST_WORDS and before not in _GOES_ON and _STARTS.match(" ".join(words[at:]).lower()):
            starts.append(at)
    clauses = [" ".join(words[start:end]) for start, end in pairwise([*starts, len(words)])]
    return [first, *clauses] if first else clauses


def quotes(text: str) -> bool:
    """Return True when a text quotes words, or tells them after a colon."""
    return _QUOTES.search(text) is not None


def forbids(text: str) -> bool:
    """Return True when a clause forbids something, or tells of a condition."""
    return _FORBIDS.search(text.replace("\u2019", "'")) is not None
