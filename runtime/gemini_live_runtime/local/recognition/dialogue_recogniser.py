"""Recognise what a dialogue understands: by all English, and by its own phrases.

Moonshine writes down what was said, and where the dialogue understands that, it was meant. Pocketsphinx listens for the
dialogue's own words. A phrase that it is sure of counts, short answers such as "nine" are left to it, and a number or a
text that it has not heard as well is asked about.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Protocol

from gemini_live_runtime.errors import MissingExtraError
from gemini_live_runtime.local.dialogue.consent_question import NO, YES
from gemini_live_runtime.local.language.transcript import (
    are_same_numbers,
    denials_in,
    has_more_numbers,
    may_be_confused,
    may_have_lost_a_not,
    numbers_said,
    sound_numbers_alike,
    with_numbers,
)
from gemini_live_runtime.local.language.vocabulary import expand
from gemini_live_runtime.local.language.words import split_words
from gemini_live_runtime.local.parts import Dialogue, Recognition, Reply
from gemini_live_runtime.local.recognition.recogniser import Opinion
from gemini_live_runtime.local.recognition.transcriber import Transcriber

_log = logging.getLogger(__name__)

_SURE = 1.0
"""Score of words that are understood: Moonshine gives none."""

_LEAST_WORDS = 3
"""Least number of words that are taken as they were heard."""

_LEAST_ALIKE = 0.5
"""Least share of words, or of a sure phrase's letters, that both have to have heard.

"How much lumber has it got" has 0.83 of "how much longer has it got"; other sentences have 0.3 and less."""

_LEAST_ALIKE_FOR_TEXT = 0.6
"""The same for a text that a tool gets as it was said."""

_LEAST_ALIKE_TO_ACT = 0.6
"""The same for a call of a tool that changes something, where nothing else was understood.

"I welcome the salad to me" for "I won't have the salad today" has 0.57. A number that both heard is enough, too."""

_LEAST_ALIKE_NAMES = 0.6
"""Least share of letters of two values that are the same one, heard differently: "Rome" and "Romeo" have 0.89."""

_LOOKS_UP = re.compile(r"(?:get|list|find|look|read|search)(?:_|$)")
"""Names of tools that change nothing, so that a mistake does no harm."""

_NO_WORDS = frozenset({
    "you", "uh", "um", "oh", "ah", "aah", "mm", "hmm", "hm", "huh", "m", "eh", "a", "the", "but", "so", "and",
})  # fmt: skip
"""Words that Moonshine hears in noise, coughs and hums."""

_ANSWERS = frozenset(word for text in (*YES, *NO, "ok", "okay", "nope", "yep", "right") for word in split_words(text))


class Phrases(Protocol):
    """Recogniser of a dialogue's own words."""

    async def listen(self, pcm: bytes) -> Opinion:
        """Decode a whole utterance, s16le mono at 16 kHz."""
        ...

    async def close(self) -> None:
        """Free the models."""
        ...


class DialogueRecogniser:
    """`Recogniser` that transcribes; `phrases` is its second opinion."""

    def __init__(self, dialogue: Dialogue, transcriber: Transcriber, phrases: Phrases | None) -> None:
        self._dialogue = dialogue
        self._transcriber = transcriber
        self._phrases = phrases
        self._is_reported = False
        self._meanings: dict[str, Reply | None] = {}
        """Meanings of the utterance that is decided on: each takes some 10 ms to find."""
        transcriber.warm()

    async def recognise(self, pcm: bytes) -> Recognition:
        """Recognise a whole utterance, s16le mono at 16 kHz.

        Raises `MissingExtraError` when the transcriber cannot be loaded and there are no phrases to listen for.
        """
        if self._phrases is None:
            heard = await self._transcriber.transcribe(pcm)
            self._meanings.clear()
            return Recognition(heard, _SURE) if self._meaning_of(heard) is not None else Recognition("", 0.0)
        heard, opinion = await asyncio.gather(self._transcribe(pcm), self._phrases.listen(pcm))
        self._meanings.clear()
        return self._decide(heard, opinion)

    async def close(self) -> None:
        """Close the recogniser of phrases; the transcriber's model stays loaded."""
        if self._phrases is not None:
            await self._phrases.close()

    async def _transcribe(self, pcm: bytes) -> str:
        try:
            return await self._transcriber.transcribe(pcm)
        except MissingExtraError as error:
            if not self._is_reported:
                self._is_reported = True
                _log.warning("%s", error)
            return ""

    def _meaning_of(self, heard: str) -> Reply | None:
        """Return what the words would be answered, None where they mean nothing."""
        if heard not in self._meanings:
            is_noise = _NO_WORDS.issuperset(split_words(heard))
            self._meanings[heard] = None if is_noise else self._dialogue.preview(heard, is_exact=True)
        return self._meanings[heard]

    def _decide(self, transcript: str, opinion: Opinion) -> Recognition:
        heard, is_guessed = _with_heard_numbers(transcript, opinion.decodings)
        words, phrase, meaning = split_words(heard), opinion.recognition, self._meaning_of(heard)
        is_short = len(words) < _LEAST_WORDS
        # A phrase that was surely heard may be misheard word for word: "booked Halewell" for "book table".
        likeness = _likeness_of_letters if opinion.is_phrase else _likeness
        is_alike = is_short or likeness(heard, phrase.text) >= _LEAST_ALIKE
        if meaning is not None and not is_short and self._is_heard_alike(heard, opinion):
            is_same = opinion.is_phrase and _words_of(phrase.text) == _words_of(heard)
            return replace(phrase, is_doubtful=False) if is_same else Recognition(heard, _SURE)
        if opinion.is_phrase and is_alike:
            return self._confirmed(phrase, heard, meaning, opinion)
        if meaning is not None and not is_short:
            is_sure = self._is_sure(heard, meaning, opinion) and not (is_guessed and meaning.calls)
            said = self._unless_denied(Recognition(heard, _SURE), heard, opinion)
            return said if is_sure and not said.is_doubtful else _doubtful(heard, phrase.score)
        if not is_alike:
            # Other words were said: a phrase that was surely heard is asked about, dictated ones are none.
            return replace(phrase, is_doubtful=True) if opinion.is_phrase else Recognition("", phrase.score)
        if phrase.text and not is_short and "not" in denials_in(heard) - denials_in(phrase.text):
            return Recognition(heard, _SURE)  # "Don't cancel it" means nothing, and "going to cancel it" something.
        if phrase.text:
            return self._confirmed(phrase, heard, meaning, opinion)
        if meaning is None or _ANSWERS.issuperset(words):
            return phrase
        return _doubtful(heard, phrase.score)

    def _is_heard_alike(self, heard: str, opinion: Opinion) -> bool:
        """Return True when another decoding has the same words, and none contradicts."""
        is_alike = any(_words_of(other) == _words_of(heard) for other in opinion.decodings)
        is_contradicted = any(may_be_confused(heard, other) for other in opinion.decodings)
        return (
            is_alike
            and not is_contradicted
            and not self._unless_denied(Recognition(heard, _SURE), heard, opinion).is_doubtful
        )

    def _is_sure(self, heard: str, meaning: Reply, opinion: Opinion) -> bool:
        """Return True where a transcript can be acted on, or needs no numbers."""
        if any(may_be_confused(heard, other) for other in opinion.decodings) and meaning.calls:
            return False
        if _is_confirmed(heard, meaning, opinion):
            return True
        if not meaning.calls:
            return not self._dialogue.keeps_numbers(heard)
        return meaning == self._meaning_of(opinion.recognition.text)

    def _confirmed(self, phrase: Recognition, heard: str, meaning: Reply | None, opinion: Opinion) -> Recognition:
        """Return a phrase, doubtful where another decoding has another number.

        It is sure where the transcript means the same.
        """
        said = numbers_said(heard)
        if said and not are_same_numbers(heard, phrase.text):
            # What both have heard differs: what all English has heard is asked about, if it is understood.
            return _doubtful(heard, phrase.score) if meaning is not None else replace(phrase, is_doubtful=True)
        if any(may_be_confused(phrase.text, other) for other in opinion.decodings):
            return replace(phrase, is_doubtful=True)
        meant = self._meaning_of(phrase.text)
        if meaning is not None and meant is not None and _have_other_names(meaning, meant):
            return _doubtful(heard, phrase.score)
        is_agreed = meaning is not None and bool(meaning.calls) and meaning == meant
        is_looked_up = meant is not None and bool(meant.calls) and not _acts(meant)
        if is_looked_up and (meaning is None or not meaning.calls) and _sound_alike(heard, phrase.text):
            is_agreed = True  # "What's the weather in room" means nothing but Rome.
        return self._unless_denied(replace(phrase, is_doubtful=phrase.is_doubtful and not is_agreed), heard, opinion)

    def _unless_denied(self, chosen: Recognition, heard: str, opinion: Opinion) -> Recognition:
        """Return what was chosen, doubtful where a "not" of others would be lost.

        Where nothing is changed, that of a poor decoding does not count.
        """
        if chosen.is_doubtful or (meaning := self._meaning_of(chosen.text)) is None:
            return chosen
        texts = [text for text in (heard, *opinion.decodings) if text != chosen.text]
        if may_have_lost_a_not(chosen.text, texts):
            return replace(chosen, is_doubtful=True)
        others = texts if _acts(meaning) else [heard]
        denials = frozenset[str]().union(*map(denials_in, others))
        return replace(chosen, is_doubtful=not denials <= denials_in(chosen.text))


def _with_heard_numbers(transcript: str, decodings: Sequence[str]) -> tuple[str, bool]:
    """Return a transcript with "two" for "to", and True where nothing else heard it."""
    other = with_numbers(transcript)
    if other == transcript or any(are_same_numbers(other, decoding) for decoding in decodings):
        return other, False
    return other, True


def _doubtful(heard: str, score: float) -> Recognition:
    return Recognition(heard.rstrip(".,!?"), score, is_doubtful=True)


def _is_confirmed(heard: str, meaning: Reply, opinion: Opinion) -> bool:
    """Return True when the other decodings have its numbers, and much of its text."""
    decodings = opinion.decodings
    if not any(sound_numbers_alike(heard, other) for other in decodings):
        return False
    likeness = max((_likeness(heard, other) for other in decodings), default=0.0)
    is_backed = bool(opinion.recognition.text or numbers_said(heard))
    if _acts(meaning) and not is_backed and likeness < _LEAST_ALIKE_TO_ACT:
        return False
    said = f" {' '.join(split_words(heard))} "
    values = (" ".join(split_words(str(value))) for call in meaning.calls for value in call.args.values())
    has_text = any(" " in value and f" {value} " in said for value in values)
    if not has_text:
        return True
    return likeness >= _LEAST_ALIKE_FOR_TEXT and not any(has_more_numbers(other, heard) for other in decodings)


def _words_of(text: str) -> list[str]:
    return expand(split_words(text))


def _sound_alike(heard: str, phrase: str) -> bool:
    """Return True when two texts differ in words of similar letters only."""
    one, other = _words_of(heard), _words_of(phrase)
    return len(one) == len(other) and all(
        _likeness_of_letters(word, beside) >= _LEAST_ALIKE_NAMES for word, beside in zip(one, other, strict=True)
    )


def _have_other_names(one: Reply, other: Reply) -> bool:
    """Return True for "Paris" and "Venice", False for "Romeo" and "Rome"."""
    pairs = [
        (value, same.args.get(name))
        for call, same in zip(one.calls, other.calls, strict=False)
        for name, value in call.args.items()
        if call.name == same.name
    ]
    return any(
        isinstance(value, str) and isinstance(beside, str) and _likeness_of_letters(value, beside) < _LEAST_ALIKE_NAMES
        for value, beside in pairs
    )


def _acts(reply: Reply) -> bool:
    """Return True when a call may change something."""
    return any(not _LOOKS_UP.match(call.name) for call in reply.calls)


def _likeness(one: str, other: str) -> float:
    """Return the share of words that two texts have in common, in order, 0 to 1."""
    return SequenceMatcher(None, split_words(one), split_words(other), autojunk=False).ratio()


def _likeness_of_letters(one: str, other: str) -> float:
    """Return the share of letters that two texts have in common, in order, 0 to 1."""
    return SequenceMatcher(None, "".join(split_words(one)), "".join(split_words(other)), autojunk=False).ratio()
