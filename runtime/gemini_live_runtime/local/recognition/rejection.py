"""Decide whether a decoded phrase was really said.

A grammar decoder always finds a phrase. So the sound is decoded three times: by the grammar, by a free language model,
and as a phone loop. A phrase that was said scores almost as well as the free decodings and has the same length; other
speech forced through the grammar does not. A logistic regression weighs the measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gemini_live_runtime.records import frozen_record, record


@frozen_record
class Segment:
    """Word or phone of a decoding: first and last frame, log of the acoustic score."""

    word: str
    phones: tuple[str, ...]
    """Phones of the word; empty for silence and noise."""
    first: int
    last: int
    acoustic: float


@record
class Decoding:
    """Result of one search; `score` is the log of the best path's score."""

    text: str
    score: float
    segments: tuple[Segment, ...]

    @property
    def phones(self) -> tuple[str, ...]:
        """All phones in order, without silence and noise."""
        return tuple(phone for segment in self.segments for phone in segment.phones)


LOG_FLOOR = -700.0
"""Log of the score of what was not decoded."""

NOTHING = Decoding("", LOG_FLOOR, ())
"""Decoding without words."""


@record
class Evidence:
    """Comparison of the grammar's decoding with the free one and the phone loop."""

    like_loop: float
    """Similarity of the phones to those of the phone loop, 0 to 1."""
    path_free: float
    """Path score less the free decoding's, per 100 frames."""
    path_loop: float
    """Path score less the phone loop's, per 100 frames."""
    worst_word: float
    """Lowest acoustic score of a word less the free decoding's, per frame."""
    length_free: float
    """Log of the ratio of phones to the free decoding's; well below 0 for missing words."""
    length_loop: float
    """Absolute log of the ratio of phones to the phone loop's."""
    pause: float
    """Longest silence between words, in units of 0.1 s: words outside the grammar hide there."""

    def values(self) -> tuple[float, ...]:
        """Return the measures in the order of `WEIGHTS`."""
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
"""Least confidence of an accepted phrase."""


def confidence(evidence: Evidence) -> float:
    """Return the probability, 0 to 1, that the phrase was said."""
    total = BIAS + sum(weight * value for weight, value in zip(WEIGHTS, evidence.values(), strict=True))
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, total))))


def weigh(grammar: Decoding, free: Decoding, loop: Decoding) -> Evidence:
    """Return the evidence for `grammar`, a decoding of at least one word."""
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
    """Return 1 less the edit distance over the longer length."""
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
    """Return the frames of the longest inner silence."""
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
