"""Decide which words were said, when no phrase of the grammar was.

Speech is dictated twice: with the words of all English, and with those that people say to this dialogue. Other speech
fits English better. Where the two would have the dialogue do different things, it asks about the likelier first. Where
they differ only in how a long sentence ends, its beginning is taken: "give me a shout in ten minutes, I've got the bath
running".
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from gemini_live_runtime.local.language.dictated_words import as_typed
from gemini_live_runtime.local.language.vocabulary import NEGATIONS, expand
from gemini_live_runtime.local.language.words import parse_number
from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.recognition.rejection import Decoding, similarity
from gemini_live_runtime.local.recognition.spoken_values import sounds_alike, words_beside
from gemini_live_runtime.records import record

LEAST_LEAD = 0.01
"""Least lead in score, per 100 frames, of the dialogue's words over all English."""

LEAST_ALIKE = 0.5
"""Least similarity of sound of what was heard in the two ways."""

LEAST_LEAD_ALIKE = -0.02
LEAST_ALIKE_FOR_LESS = 0.7
"""Least lead where the two sound that much alike.

Of 463 spoken sentences of the open sets (flite:slt) 12 more are understood than without, none wrongly, and one more of
240 that no dialogue covers."""

_GOES_ON = NEGATIONS.union({"and", "plus", "with"})
"""Words after a beginning that say more than it."""

_ENOUGH_ALIKE = 3
"""Least number of words for speech to be taken as typed, where all English and the dialogue's words are the same."""

_SOUND_LIKE_NO = frozenset({"new", "know"})

_LEAST_BEGINNING = 4
"""Least number of words of a beginning that counts."""

_DENIABLE = frozenset(
    {"can", "could", "do", "does", "did", "will", "would", "is", "are", "was", "have", "has", "should"}
)

Preview = Callable[[str], Reply | None]
"""Function that returns what a text would be answered, None when it is not understood."""


@record
class Dictated:
    """Words that were said, "" when unsure; doubtful ones have to be asked about."""

    text: str = ""
    is_doubtful: bool = False


def denies_otherwise(one: str, other: str) -> bool:
    """Return True for "it can wait" and "it can't wait", which sound much the same."""
    (denied, said), (other_denied, other_said) = _denied_and_said(one), _denied_and_said(other)
    return not (denied - other_denied).isdisjoint(other_said) or not (other_denied - denied).isdisjoint(said)


def _denied_and_said(text: str) -> tuple[set[str], set[str]]:
    words = [*expand(text.split()), ""]
    verbs = [(word, words[at + 1] == "not") for at, word in enumerate(words) if word in _DENIABLE]
    return {word for word, denied in verbs if denied}, {word for word, denied in verbs if not denied}


def choose(english: Decoding, dialogue: Decoding, preview: Preview) -> Dictated:
    """Return the words that were said, none when they are unsure."""
    said = _choose(english, dialogue, preview)
    return Dictated(said.text, is_doubtful=True) if _may_be_denied(said.text, preview) else said


def _choose(english: Decoding, dialogue: Decoding, preview: Preview) -> Dictated:
    if english.text == dialogue.text and len(english.text.split()) >= _ENOUGH_ALIKE:
        return Dictated(as_typed(dialogue.text))
    alike = similarity(dialogue.phones, english.phones)
    if alike < LEAST_ALIKE or denies_otherwise(english.text, dialogue.text):
        return Dictated()
    dialogue_text = _with_heard_numbers(dialogue.text, english.text)
    in_english, in_dialogue = as_typed(english.text), as_typed(dialogue_text)
    meant_in_english, meant = preview(in_english), preview(in_dialogue)
    lead = _lead(dialogue, english)
    is_likely = lead >= LEAST_LEAD or (lead >= LEAST_LEAD_ALIKE and alike >= LEAST_ALIKE_FOR_LESS)
    doubtful = (
        Dictated(in_dialogue, is_doubtful=True) if is_likely and meant is not None and meant.calls else Dictated()
    )
    if meant is not None and meant_in_english is not None and meant.calls != meant_in_english.calls:
        return doubtful
    if meant is not None and len(meant.calls) > 1 and (meant_in_english is None or not meant_in_english.calls):
        return doubtful  # Of several things some may have been misheard.
    numbers = numbers_in(english.text)
    is_same_call = meant is not None and meant_in_english is not None and bool(meant.calls)
    are_numbers_sure = is_same_call or numbers == numbers_in(dialogue_text)
    if meant is not None and lead >= LEAST_LEAD and (are_numbers_sure or not meant.calls):
        return Dictated(in_dialogue)
    # A tool gets a number only when the dialogue's words, too, say what it is for.
    is_agreed = are_numbers_sure and (
        not numbers or meant is not None or _beside_numbers(english.text) == _beside_numbers(dialogue_text)
    )
    if meant_in_english is not None and (is_agreed or not meant_in_english.calls):
        return Dictated(in_english)
    if meant is not None and is_likely:
        is_sure = are_numbers_sure or not meant.calls or _sound_numbers_alike(dialogue, english)
        return Dictated(in_dialogue) if is_sure else doubtful
    beginning = _beginning(english.text.split(), dialogue.text.split())
    reply = preview(beginning) if beginning else None
    if reply is None or not reply.calls:
        return Dictated()
    # Where the rest asks for something as well, the beginning is less than what was asked for.
    count = len(beginning.split())
    rests = (preview(as_typed(" ".join(one.text.split()[count:]))) for one in (english, dialogue))
    return Dictated("" if any(rest is not None and rest.calls for rest in rests) else beginning)


def _may_be_denied(text: str, preview: Preview) -> bool:
    """Return True for "new coffee", where "no coffee" means another thing."""
    words = text.split()
    other = " ".join("no" if word in _SOUND_LIKE_NO else word for word in words)
    reply = preview(text) if other != text else None
    return bool(reply is not None and reply.calls) and preview(other) != reply


def _with_heard_numbers(text: str, other: str) -> str:
    """Return `text` with the "two" of `other` where it has "to" before the same word."""
    pairs = set(pairwise(other.split()))
    return " ".join(
        "two" if word in ("to", "too") and ("two", after) in pairs else word
        for word, after in pairwise((*text.split(), ""))
    )


def _beginning(english: list[str], dialogue: list[str]) -> str:
    """Return the words with which both begin.

    "" for few, or with a no, a number or another thing after them: "four salads, and ..." is less than was ordered.
    """
    count = 0
    while count < min(len(english), len(dialogue)) and english[count] == dialogue[count]:
        count += 1
    is_most = count >= _LEAST_BEGINNING and 2 * count >= max(len(english), len(dialogue))
    rest = expand([*english[count:], *dialogue[count:]])
    goes_on = not _GOES_ON.isdisjoint(rest) or bool(numbers_in(" ".join(rest)))
    return as_typed(" ".join(english[:count])) if is_most and not goes_on else ""


def _beside_numbers(text: str) -> list[list[str]]:
    """Return the words before and after each number."""
    words = ["", *text.split(), ""]
    return [
        [words[at - 1], *words[at + found[1] : at + found[1] + 1]]
        for at in range(1, len(words))
        if (found := parse_number(words, at)) is not None
    ]


def _lead(dialogue: Decoding, english: Decoding) -> float:
    """Return the lead in score, per 100 frames, of the dialogue over all English."""
    frames = dialogue.segments[-1].last + 1 if dialogue.segments else 1
    return (dialogue.score - english.score) / frames * 100


def _sound_numbers_alike(one: Decoding, other: Decoding) -> bool:
    """Return True when both heard the sound of each number, as in "two" and "to"."""
    return _has_sounds_of_numbers(one, other) and _has_sounds_of_numbers(other, one)


def _has_sounds_of_numbers(one: Decoding, other: Decoding) -> bool:
    for segment in one.segments:
        number = numbers_in(segment.word)
        beside = words_beside([segment], other)
        others = [found for word in beside for found in numbers_in(word.word)]
        if number and (not sounds_alike([segment], beside) or others not in ([], number)):
            return False
    return True


def numbers_in(text: str) -> list[int]:
    """Return the numbers that a text names, in order."""
    words = text.split()
    return [found[0] for at in range(len(words)) if (found := parse_number(words, at)) is not None]
