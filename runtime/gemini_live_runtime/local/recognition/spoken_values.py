"""Find values of a call that were hardly said, and what to ask in their place.

A grammar, and a model of the dialogue's sentences, have only the names that the script has: who asks for the
weather in Naples is heard to say the name that comes nearest. All English has most names. A value counts as said where
all English heard it at that place, or words that sound like it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from gemini_live_runtime.local.language.vocabulary import COMMON_WORDS, EVERYDAY_WORDS
from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.recognition.rejection import LOG_FLOOR, Decoding, Segment, similarity

LEAST_ALIKE_IN_PLACE = 0.7
"""Least similarity of sound of a value and what all English heard in its place.

Of 33 cities that the script lacks, each heard as another one, the most similar pair has 0.67 (Turin, Zurich)."""

LEAST_BETTER = 1.0
"""Acoustic score of a frame by which a name of all English has to fit better than the value.

So it does for 24 of those 33 cities; for 13 cities that were said, and were not heard by all English, for none."""

LEAST_BETTER_THAN_ENGLISH = 0.5
"""The same for a value that fits better than all that all English has for it: it was said.

It is the dish of "order dish soup", where all English heard "dispute", by 0.6 to 3.3; of those 33 cities it is one."""

_NO_NAMES = COMMON_WORDS | EVERYDAY_WORDS

_OVERLAP = 2
"""Frames by which a word reaches into the value's place at least."""


def text_to_ask(text: str, chosen: Decoding, english: Decoding, preview: Callable[[str], Reply | None]) -> str:
    """Return the text to ask about before `text` is acted on.

    It is "" when all values of its calls were said. `chosen` is the decoding that `text` is from. A name that only all
    English has is put in the value's place.
    """
    reply = preview(text)
    for value in _texts(reply):
        place = _place(value.lower().split(), chosen)
        if not place:
            continue
        heard = words_beside(place, english)
        if {_written(word) for word in place} <= {_written(word) for word in heard} or sounds_alike(place, heard):
            continue
        lead_of_english = _fit(heard) - _fit(place)
        if lead_of_english <= -LEAST_BETTER_THAN_ENGLISH:
            continue
        names = [name for word in heard if (name := _written(word)) not in _NO_NAMES]
        said = " ".join(map(_written, place))
        is_name = len(names) == 1 and lead_of_english >= LEAST_BETTER
        other = _with(text, said, names[0].capitalize()) if is_name else ""
        return other if _tools(preview(other)) == _tools(reply) else _with(text, said, value)
    return ""


def _texts(reply: Reply | None) -> Iterator[str]:
    for call in reply.calls if reply is not None else ():
        for value in call.args.values():
            if isinstance(value, str) and not any(char.isdigit() for char in value):
                yield value


def _with(text: str, said: str, value: str) -> str:
    """Return `text` with `value` for the words `said`."""
    return re.sub(rf"\b{re.escape(said)}\b", lambda _: value, text, count=1)


def _tools(reply: Reply | None) -> list[str]:
    return [call.name for call in reply.calls] if reply is not None else []


def _place(words: Sequence[str], decoding: Decoding) -> tuple[Segment, ...]:
    """Return the segments in which `words` were decoded, () when they were not."""
    spoken = [segment for segment in decoding.segments if segment.phones]
    for start in range(len(spoken) - len(words) + 1):
        place = spoken[start : start + len(words)]
        if words and [_written(segment) for segment in place] == list(words):
            return tuple(place)
    return ()


def words_beside(place: Sequence[Segment], decoding: Decoding) -> list[Segment]:
    """Return the words that `decoding` has at the place of some words of another."""
    first, last = place[0].first + _OVERLAP, place[-1].last - _OVERLAP
    return [word for word in decoding.segments if word.phones and word.last >= first and word.first <= last]


def sounds_alike(place: Sequence[Segment], heard: Sequence[Segment]) -> bool:
    """Return True when two decodings of a place sound much the same."""
    return similarity(_phones(place), _phones(heard)) >= LEAST_ALIKE_IN_PLACE


def _fit(words: Sequence[Segment]) -> float:
    """Return the acoustic score of a frame of `words`."""
    frames = sum(word.last - word.first + 1 for word in words)
    return sum(word.acoustic for word in words) / frames if frames else LOG_FLOOR


def _phones(segments: Sequence[Segment]) -> list[str]:
    return [phone for segment in segments for phone in segment.phones]


def _written(segment: Segment) -> str:
    """Return the word of a segment without the number of its pronunciation."""
    return segment.word.partition("(")[0]
