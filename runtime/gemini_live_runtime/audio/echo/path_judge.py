"""Judge by powers alone whether a filter's echo path is still the room's."""

from __future__ import annotations

from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["right", "moved", "another"]
"""Result about a path: `moved` is one that the filter had learned, `another` that of another room."""

_SMOOTHING = 0.85
"""Smoothing over about 60 ms.

Long enough to ignore single frames, short enough to find a moved echo path within a syllable."""
_WORSE = 1.25
"""Ratio of output to input power from which the filter's echo path counts as wrong."""
_LONG_SMOOTHING = 0.95
"""Smoothing over about 200 ms."""
_LONG_FRAMES = 20
"""Frames of that time: before, a filter may still be learning, or the first echo be on its way."""
_FEW_FRAMES = 10
"""Frames from which a path that was known before is compared with the echo."""
_BAD = 0.35
"""Ratio of output to input power over that time below which a quiet sound alone was predicted wrongly.

A filter that is right about what is loud is not to be given up for that."""
_LEAST_REMOVED, _MOST_REMOVED = -0.2, 1.3
"""Power that a right prediction of the echo removes over that time, as a ratio to its own.

It is 1 without a person and 0 or more with one, whose voice is not like the echo. A path stored in another room adds
the power of its prediction instead, or removes twice as much and more while the filter learns the room's own.
"""


class PathJudge:
    """Judge of an echo path that a filter has learned, or that was known before."""

    __slots__ = (
        "_frames",
        "_is_known",
        "_left",
        "_long_echo",
        "_long_left",
        "_long_microphone",
        "_microphone",
        "proven",
    )

    def __init__(self, *, is_known: bool) -> None:
        """`is_known` tells that the filter begins with a path measured before."""
        self._is_known = is_known
        self.proven = False
        """True once the filter has shown that it removes the echo."""
        self.begin()

    def begin(self) -> None:
        """Start over with another path."""
        self._microphone = self._left = 0.0
        self._long_microphone = self._long_left = self._long_echo = 0.0
        self._frames = 0

    def update(self, microphone: float, left: float, echo: float) -> Verdict:
        """Return the verdict on the path.

        Takes mean squares of an audible frame of the microphone, of what the filter leaves of it and of the echo that
        it predicts. A path of which nothing was known yet is right. After any other verdict it starts over.
        """
        self._microphone += (1 - _SMOOTHING) * (microphone - self._microphone)
        self._left += (1 - _SMOOTHING) * (left - self._left)
        self._long_microphone += (1 - _LONG_SMOOTHING) * (microphone - self._long_microphone)
        self._long_left += (1 - _LONG_SMOOTHING) * (left - self._long_left)
        self._long_echo += (1 - _LONG_SMOOTHING) * (echo - self._long_echo)
        self._frames += 1
        is_louder = self._left > _WORSE * self._microphone and self._long_left > _BAD * self._long_microphone
        if self.proven:
            verdict: Verdict = "moved" if is_louder else "right"
        else:
            verdict = "another" if self._is_known and self._is_another(is_louder) else "right"
            self._is_known &= verdict == "right"
        if verdict != "right":
            self.begin()
        return verdict

    def _is_another(self, is_louder: bool) -> bool:
        if self._frames > _LONG_FRAMES:
            return is_louder
        removed = (self._long_microphone - self._long_left) / self._long_echo
        return self._frames >= _FEW_FRAMES and not _LEAST_REMOVED < removed < _MOST_REMOVED
