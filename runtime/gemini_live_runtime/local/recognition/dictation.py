"""Decide which words were said, when no phrase of the grammar was.

Speech is dictated twice: with the words of all English, and with those that people say to this dialogue. Other speech
fits English better. Where the two would have the dialogue do different things, neither is taken. Where they differ only
in how a long sentence ends, its beginning is: "give me a shout in ten minutes, I've got the bath running".
"""

from __future__ import annotations

from collections.abc import Callable

from gemini_live_runtime.local.language.dictated_words import as_typed
from gemini_live_runtime.local.language.vocabulary import NEGATIONS, expand
from gemini_live_runtime.local.language.words import parse_number
from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.recognition.rejection import Decoding, similarity

LEAST_LEAD = 0.01
"""Least lead in score, per 100 frames, of the dialogue's words over all English."""

LEAST_ALIKE = 0.5
"""Least similarity of sound of what was heard in the two ways."""

_LEAST_BEGINNING = 4
"""Least number of words of a beginning that counts."""

Preview = Callable[[str], Reply | None]
"""Function that returns what a text would be answered, None when it is not understood."""


def choose(english: Decoding, dialogue: Decoding, preview: Preview) -> str:
    """Return the words that were said, "" when that is unsure."""
    if similarity(dialogue.phones, english.phones) < LEAST_ALIKE:
        return ""
    in_english, in_dialogue = as_typed(english.text), as_typed(dialogue.text)
    meant_in_english, meant = preview(in_english), preview(in_dialogue)
    if meant is not None and meant_in_english is not None and meant.calls != meant_in_english.calls:
        return ""
    numbers = _numbers(english.text)
    is_same_call = meant is not None and meant_in_english is not None and bool(meant.calls)
    are_numbers_sure = is_same_call or numbers == _numbers(dialogue.text)
    if meant is not None and _leads(dialogue, english) and (are_numbers_sure or not meant.calls):
        return in_dialogue
    # A tool gets a number only when the dialogue's words, too, say what it is for.
    is_agreed = are_numbers_sure and (
        not numbers or meant is not None or _beside_numbers(english.text) == _beside_numbers(dialogue.text)
    )
    if meant_in_english is not None and (is_agreed or not meant_in_english.calls):
        return in_english
    beginning = _beginning(english.text.split(), dialogue.text.split())
    reply = preview(beginning) if beginning else None
    return beginning if reply is not None and reply.calls else ""


def _beginning(english: list[str], dialogue: list[str]) -> str:
    """Return the words with which both begin, "" for few, or with a no after them."""
    count = 0
    while count < min(len(english), len(dialogue)) and english[count] == dialogue[count]:
        count += 1
    is_most = count >= _LEAST_BEGINNING and 2 * count >= max(len(english), len(dialogue))
    rest = expand([*english[count:], *dialogue[count:]])
    return as_typed(" ".join(english[:count])) if is_most and NEGATIONS.isdisjoint(rest) else ""


def _beside_numbers(text: str) -> list[list[str]]:
    """Return the words before and after each number."""
    words = ["", *text.split(), ""]
    return [
        [words[at - 1], *words[at + found[1] : at + found[1] + 1]]
        for at in range(1, len(words))
        if (found := parse_number(words, at)) is not None
    ]


def _leads(dialogue: Decoding, english: Decoding) -> bool:
    frames = dialogue.segments[-1].last + 1 if dialogue.segments else 1
    return (dialogue.score - english.score) / frames * 100 >= LEAST_LEAD


def _numbers(text: str) -> list[int]:
    words = text.split()
    return [found[0] for at in range(len(words)) if (found := parse_number(words, at)) is not None]
