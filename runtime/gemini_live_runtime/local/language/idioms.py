"""Say idioms in plain words: "give me a ring" is "call me".

A rough number is the number: "fifty or so" is "fifty". Scripts name the plain words only. A text to keep, such as a
message, stays as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from gemini_live_runtime.local.language.openings import OPENINGS
from gemini_live_runtime.local.language.words import parse_number, split_words

_WHOM = ("me", "us", "him", "her", "them", "you")
_CALLS = ("call", "ring", "bell", "buzz", "quick call", "quick ring", "phone call")
_VERBS = ("ring", "phone", "telephone")


def _idioms() -> Iterator[tuple[str, str]]:
    for verb in _VERBS:
        yield f"{verb} back", "call back"
    for whom in _WHOM:
        yield from ((f"give {whom} a {call}", f"call {whom}") for call in _CALLS)
        yield from ((f"{verb} {whom}", f"call {whom}") for verb in _VERBS)


_ORDINARY = {
    "would like": ("could murder", "could kill for", "would kill for", "would not say no to", "am dying for",
                   "am gasping for", "have a hankering for", "am in the mood for", "have a craving for"),
    "o'clock": ("o clock",),
    "need": ("could do with", "am in need of"),
    "urgent": ("a matter of life and death", "a matter of life or death", "life or death"),
    "ill": ("off colour", "out of sorts", "like death warmed up", "rough as anything"),
    "sick": ("sick as a dog", "sick to my stomach"),
    "bladder": ("waterworks",),
    "nothing": ("diddly squat", "zilch"),
    "no luck": ("not a sausage", "no joy", "no dice"),
    "fine": ("like a dream", "like a charm", "like clockwork", "hunky dory", "tickety boo", "peachy"),
    "great": ("smashing", "cracking", "champion", "marvellous", "awesome", "terrific", "fab", "fabulous", "lovely job",
              "good job", "top banana", "just the ticket", "just the job", "music to my ears"),
    "ok": ("righto", "rightio", "okey dokey", "okey doke", "alrighty", "righty ho"),
    "right": ("spot on", "bang on", "about right"),
    "broke": ("on my uppers", "on the breadline", "on the bones of my backside"),
    "no money": ("not got two pennies to rub together", "not have two pennies to rub together"),
    "ten pounds": ("a tenner",),
    "five pounds": ("a fiver",),
    "soon": ("in two shakes", "in two ticks", "in a flash"),
    "in the morning": ("at the crack of dawn", "bright and early"),
    "in the afternoon": ("late in the day",),
    "wait": ("hold your horses", "half a tick", "half a mo", "give us a sec", "give us a minute"),
    "in trouble": ("in a pickle", "in a jam", "in a bind", "in a spot of bother", "in hot water"),
    "cancel": ("knock on the head",),
    "cancel it": ("knock it on the head", "call it off"),
}  # fmt: skip
"""Ordinary idioms by what they mean."""

_PLAIN = {tuple(said.split()): tuple(meant.split()) for said, meant in _idioms()}
_PLAIN |= {tuple(said.split()): tuple(meant.split()) for meant, ways in _ORDINARY.items() for said in ways}


def _by_first_word(phrases: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Return phrases by their first word, in the order given."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        found.setdefault(phrase[0], []).append(phrase)
    return found


_IDIOMS = _by_first_word(_PLAIN)

_WANTS_TO_KNOW = frozenset({"me", "us", "know", "wonder", "wondering", "idea", "ask", "check", "see", "out"})
_QUESTION_WORDS = frozenset({"what", "how", "where", "when", "who", "why"})
_SUBJECTS = frozenset({"it", "that", "this", "they", "you", "i", "we", "he", "she"})
_VERBS_BEFORE_SUBJECTS = frozenset({"is", "are", "am", "can", "do", "does", "will", "was"})
_ASKS_POLITELY = frozenset({"can", "could", "will", "would"})
_ASKED = frozenset({"you", "we", "i", "someone", "somebody"})
_MERELY = frozenset({"just", "please", "simply"})

_BEFORE_NUMBERS = _by_first_word(
    tuple(text.split())
    for text in (
        "at most", "at the most", "at least", "at the very least", "no more than", "not more than", "no less than",
        "roughly", "approximately", "more like", "something like", "close to", "nearly", "almost", "just under",
        "just over", "getting on for",
    )
)  # fmt: skip
_AFTER_NUMBERS = tuple(
    tuple(text.split())
    for text in (
        "at most", "at the most", "at the very most", "at least", "tops", "max", "maximum", "or so", "give or take",
        "ish", "or thereabouts", "at a push", "if that", "at best",
    )
)  # fmt: skip
"""Words before and after a number that make it a rough one."""

_ANOTHER = re.compile(
    r"(?P<opening>(?:(?:hmm?|well|no|oh|ok|okay|actually|sorry|and|but|then|right|please)\b\W*)*)"
    r"(?:(?:can|could) (?:we|you|i) (?:make (?:it|that)|say|do)|(?:can|could) it be|(?:let's|let us|shall we|better)"
    r" (?:make (?:it|that)|say|be)|would it be possible to make it|(?:it|that) should (?:be|have been))"
    r"\s+(?P<rest>\S.*?)\??",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence such as "hmm, could it be thirty?"."""


_INSTEAD = re.compile(
    r"(?:(?:oh|well|sorry|hmm?)\b\W*)*(?:no|nope|nah)\b\W*(?:(?:oh|well|sorry|then|actually|please|but)\b\W*)*"
    r"(?:(?:make|call) (?:it|that)|(?:let's|let us|better|i would|i'd) (?:say|do|make (?:it|that))|say"
    r"|i (?:said|meant))\s+(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence such as "no, let's say sixty"."""


def naming_another(text: str) -> str:
    """Return "make it sixty" for "no, let's say sixty", "" for what names no number."""
    found = _INSTEAD.fullmatch(text.strip())
    if found is None or parse_number(split_words(found["rest"]), 0) is None:
        return ""
    return f"make it {found['rest']}"


def asking_for_another(text: str) -> str:
    """Return "make it thirty" for "could it be thirty?", "" for what names no number."""
    found = _ANOTHER.fullmatch(text.strip())
    if found is None or parse_number(split_words(found["rest"]), 0) is None:
        return ""
    return f"{found['opening']}make it {found['rest']}"


def in_plain_words(words: Sequence[str]) -> Sequence[str | None]:
    """Return words with idioms said plainly; None for each word that this leaves out."""
    return _in_plain_words(tuple(words))


# A sentence is read for each of a script's intents.
@lru_cache(maxsize=256)
def _in_plain_words(words: tuple[str, ...]) -> tuple[str | None, ...]:
    said: list[str | None] = list(words)
    at = 0
    while at < len(words):
        for idiom in _IDIOMS.get(words[at], ()):
            if words[at : at + len(idiom)] == idiom:
                plain = _PLAIN[idiom]
                said[at : at + len(idiom)] = [*plain, *[None] * (len(idiom) - len(plain))]
                at += len(idiom) - 1
                break
        at += 1
    for at in range(len(words) - 3):
        lead, asked, subject, verb = words[at : at + 4]
        is_indirect = lead in _WANTS_TO_KNOW and asked in _QUESTION_WORDS
        if is_indirect and subject in _SUBJECTS and verb in _VERBS_BEFORE_SUBJECTS:
            said[at + 2 : at + 4] = [verb, subject]  # "tell me what it is like"
    for at in range(len(words) - 3):
        # "Can't you just test it?" asks for it; "can't you do the evening?" may only ask whether.
        verb, denial, subject, lead = words[at : at + 4]
        if verb in _ASKS_POLITELY and denial == "not" and subject in _ASKED and lead in _MERELY:
            said[at + 1] = None if OPENINGS.issuperset(words[:at]) else said[at + 1]
    for start, length in _hedges(list(words)):
        said[start : start + length] = [None] * length
    return tuple(said)


def _hedges(words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield place and length of the phrases that make a number a rough one."""
    for at in range(len(words)):
        for phrase in _BEFORE_NUMBERS.get(words[at], ()):
            after = at + len(phrase)
            after += words[after : after + 1] in (["a"], ["an"])
            if tuple(words[at : at + len(phrase)]) == phrase and parse_number(words, after) is not None:
                yield at, len(phrase)
        number = parse_number(words, at)
        for phrase in _AFTER_NUMBERS if number is not None else ():
            end = at + number[1] if number is not None else at
            # "fifty dollars tops", "two people at most"
            for start in (end, end + 1):
                if tuple(words[start : start + len(phrase)]) == phrase:
                    yield start, len(phrase)
