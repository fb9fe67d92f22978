"""Was it really one of the phrases? Evidence against the grammar's own opinion, which always finds one.

The same sound is decoded three times: by the grammar, by a free language model, and as bare phones. A phrase that was
really said fits almost as well as the free decodings and is as long; nonsense forced through the grammar is not. The
measures are weighed by a logistic regression.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """A word or phone of a decoding: its frames, both ends included, and the logarithm of its acoustic score."""

    word: str
    phones: tuple[str, ...]
    """Empty for silence and noise."""
    first: int
    last: int
    acoustic: float


@dataclass(frozen=True, slots=True)
class Decoding:
    """What one search made of the sound. `score` is the logarithm of the best path's score."""

    text: str
    score: float
    segments: tuple[Segment, ...]

    @property
    def phones(self) -> tuple[str, ...]:
        """All phones in order, without silence and noise."""
        return tuple(phone for segment in self.segments for phone in segment.phones)


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a grammar's decoding stands against the free one and the phone loop."""

    like_loop: float
    """Similarity of its phones to those of the phone loop, 0 to 1."""
    path_free: float
    """Path score less the free decoding's, per 100 frames."""
    path_loop: float
    """Path score less the phone loop's, per 100 frames."""
    worst_word: float
    """Acoustic score less the free decoding's over the same frames, per frame, of the word that fares worst."""
    length_free: float
    """Logarithm of its number of phones over the free decoding's: far below 0 when words went missing."""
    length_loop: float
    """Size of the logarithm of its number of phones over the phone loop's."""
    pause: float
    """Longest silence between its words, in units of 0.1 s: words that the grammar lacks hide there."""

    def values(self) -> tuple[float, ...]:
        """The measures in the order of `WEIGHTS`."""
        return (
            self.like_loop,
            self.path_free,
            self.path_loop,
            self.worst_word,
            self.length_free,
            self.length_loop,
            self.pause,
        )


# Fitted by tests/bench/fit_recogniser.py on synthetic speech in four voices: phrases of the concierge against seventy
# other sentences, none of which is in the evaluation.
WEIGHTS = (15.37, 12.2, 12.31, 0.68, 7.73, -1.39, -1.38)
BIAS = 5.43
ACCEPT = 0.5
"""Confidence from which a phrase is accepted."""


def confidence(evidence: Evidence) -> float:
    """How probable it is, 0 to 1, that the phrase was said."""
    total = BIAS + sum(weight * value for weight, value in zip(WEIGHTS, evidence.values(), strict=True))
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))


def weigh(grammar: Decoding, free: Decoding, loop: Decoding) -> Evidence:
    """The evidence for `grammar`, which has at least one word."""
    frames = max(1, grammar.segments[-1].last + 1) if grammar.segments else 1
    return Evidence(
        like_loop=similarity(grammar.phones, loop.phones),
        path_free=(grammar.score - free.score) / frames * 100,
        path_loop=(grammar.score - loop.score) / frames * 100,
        worst_word=_worst_word(grammar, free),
        length_free=_length_ratio(grammar, free),
        length_loop=abs(_length_ratio(grammar, loop)),
        pause=_longest_pause(grammar) / 10,
    )


def similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """1 less the edit distance over the longer length: 1 is the same."""
    longest = max(len(one), len(other))
    if not longest:
        return 1.0
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        current = [i]
        for j, b in enumerate(other, 1):
            current.append(min(row[j] + 1, current[j - 1] + 1, row[j - 1] + (a != b)))
        row = current
    return 1.0 - row[-1] / longest


def _length_ratio(one: Decoding, other: Decoding) -> float:
    return math.log(max(len(one.phones), 1) / max(len(other.phones), 1))


def _longest_pause(decoding: Decoding) -> int:
    """Frames of the longest silence that is neither the first nor the last."""
    silences = [segment for segment in decoding.segments if not segment.phones][1:-1]
    return max((segment.last - segment.first + 1 for segment in silences), default=0)


def _worst_word(grammar: Decoding, free: Decoding) -> float:
    frames = max((segment.last for decoding in (grammar, free) for segment in decoding.segments), default=0) + 1
    per_frame = [0.0] * frames
    for segment in free.segments:
        share = segment.acoustic / (segment.last - segment.first + 1)
        per_frame[segment.first : segment.last + 1] = [share] * (segment.last - segment.first + 1)
    gaps = [
        (segment.acoustic - sum(per_frame[segment.first : segment.last + 1])) / (segment.last - segment.first + 1)
        for segment in grammar.segments
        if segment.phones
    ]
    return min(gaps, default=0.0)
