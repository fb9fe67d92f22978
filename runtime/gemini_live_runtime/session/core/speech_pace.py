"""Estimate where in its generation's sound a delta of the transcript is spoken.

The protocol gives no times, only the order of text and sound. So a delta belongs where the sound stood when it came,
unless that cannot be: text that runs ahead of its sound follows the text before it, at the rate at which the model has
spoken so far. Text that comes after its sound ends where the sound stands.
"""

from __future__ import annotations

from gemini_live_runtime.records import mutable_record

SAMPLES_PER_CHAR = 1_600
"""Samples (24 kHz) of a character before anything was measured: 15 characters a second."""

PRIOR_CHARS = 30
"""Weight of `SAMPLES_PER_CHAR`, in characters."""

MAX_CHARS = 3_000
"""Characters of which the rate is the mean; older ones count less."""

MIN_CHARS = 20
"""Least characters of a generation that is measured."""

SLACK = 12_000
"""Samples by which a delta may come before its sound: more is text that runs ahead."""

FOLLOWS = 0.4
"""Share of its length that has sounded before the first delta, from which text follows its sound."""

MAX_RATIO = 2.5
"""Factor within which sound before a delta can be that of the delta."""


class SpeakingRate:
    """Rate at which the model speaks, measured over complete generations."""

    def __init__(self) -> None:
        self._chars = float(PRIOR_CHARS)
        self._samples = float(PRIOR_CHARS * SAMPLES_PER_CHAR)

    @property
    def samples_per_char(self) -> float:
        """Samples of a character, pauses included."""
        return self._samples / self._chars

    def measure(self, chars: int, samples: int) -> None:
        """Take in a generation that is complete: its text and sound."""
        if chars < MIN_CHARS or not samples:
            return
        if not 1 / MAX_RATIO < samples / (chars * SAMPLES_PER_CHAR) < 2 * MAX_RATIO:
            return  # Sound without text, or text without sound.
        self._chars += chars
        self._samples += samples
        if self._chars > MAX_CHARS:
            self._samples *= MAX_CHARS / self._chars
            self._chars = MAX_CHARS


@mutable_record
class SpeechPace:
    """Places of a generation's deltas so far."""

    first: int = 0
    """First sample of the last delta."""
    end: int = 0
    """Sample at which the text so far ends, estimated."""
    begun: bool = False
    follows: bool = False
    """True when text comes after its sound."""
    late: int = 0
    """Samples by which text comes later than it should, by the first delta."""

    def place(self, chars: int, received: int, samples_per_char: float) -> tuple[int, int]:
        """Return first sample and length of the next `chars` characters.

        `received` are the generation's samples that came before.
        """
        length = max(1, round(chars * samples_per_char))
        if not self.begun:
            self.begun = True
            self.follows = received >= FOLLOWS * length
            if self.follows and received <= MAX_RATIO * length:
                length = received
            self.late = max(0, received - length) if self.follows else received
            self.end = length
            return 0, length
        here = received - self.late - (length if self.follows else 0)
        first = self.end
        if here > self.end:
            first = here
        elif self.end - here < SLACK:
            # Half way: a rate that is a little slow is corrected, while text that runs away is noticed.
            first = max(self.first, self.end - (self.end - here) // 2)
        self.first, self.end = first, first + length
        return first, length
