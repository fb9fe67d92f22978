"""Ask by a moment of attenuated playback whether a sound is a person's or an echo.

Two voices at once cannot be distinguished for certain by listening. But an echo follows its loudspeaker: 12 dB less
of it bring 12 dB less of the echo, and of all that a canceller leaves of it, after the time that sound takes through
the room. A person goes on as loud as before, now 12 dB further above what is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np

from gemini_live_runtime.audio.samples import FRAME, Int16

ProbeState: TypeAlias = Literal["", "ducked", "person"]
"""State of a probe: `ducked` while it is decided, `person` while one is believed, "" otherwise."""

DUCKED_FRAMES = 2
"""Frames (20 ms) from the order until less is played."""
DECAY_FRAMES = 3
"""Frames after the echo's delay in which a room and the canceller's averages follow."""
LEAST_DELAY_FRAMES = 4
NEEDED_FRAMES, WINDOW_FRAMES = 4, 6
"""Frames with a person's voice, of the newest, that decide for a person."""
DECIDING_FRAMES = 24
"""Frames after the echo has fallen in which a person has to be heard, syllables and gaps."""
TALKING_FRAMES = 100
"""Most frames of attenuation while a person speaks: by then the answer is cut, or is to go on."""
MAX_PAUSE_FRAMES = 6_400
PAUSE_FRAMES = 100
"""Frames of playback until the next probe after one that found an echo; doubled by each until a person is found.

More than a suspicion has to wait for the shortest pause only.
"""


class DuckProbe:
    """Probe that lowers the loudspeaker at a suspicion; counts frames of 10 ms."""

    __slots__ = ("_heard", "_needed_from", "_pause", "_since", "_wait", "echoes", "frame", "state")

    def __init__(self) -> None:
        self.state: ProbeState = ""
        self.echoes = 0
        """Probes that found an echo."""
        self.frame: Int16 = np.zeros(FRAME, np.int16)
        """The microphone's newest frame, cleaned, with all that may be a person's."""
        self._since = PAUSE_FRAMES
        self._needed_from = 0
        self._heard: list[bool] = []
        self._pause = PAUSE_FRAMES
        self._wait = 0

    @property
    def ducks(self) -> bool:
        """True while the loudspeaker is to be attenuated."""
        return self.state == "ducked" or (self.state == "person" and self._since < TALKING_FRAMES)

    def begin(self) -> None:
        """Return to the state without a suspicion: no echo is to be expected."""
        self.state = ""

    def update(self, *, suspected: bool, likely: bool, heard: bool, believed: bool, delay: int) -> bool:
        """Take the next frame of an expected echo; return True when a person is found.

        `suspected` tells that it may be a person's, `likely` that more speaks for it, `heard` that the canceller takes
        it for one, `believed` that it did a moment ago. `delay` is that of the echo in frames, as far as it is known.
        """
        self._since += 1
        self._wait = max(0, self._wait - 1)
        if self.state == "person":
            if not (heard or believed):
                self.state = ""
        elif self.state == "ducked":
            return self._decide(heard)
        elif (suspected and not self._wait) or (likely and self._since >= PAUSE_FRAMES):
            self.state, self._since = "ducked", 0
            self._needed_from = DUCKED_FRAMES + max(LEAST_DELAY_FRAMES, delay) + DECAY_FRAMES
            self._heard.clear()
        return False

    def _decide(self, heard: bool) -> bool:
        if self._since < self._needed_from:
            return False
        self._heard.append(heard)
        if sum(self._heard[-WINDOW_FRAMES:]) >= NEEDED_FRAMES:
            self.state, self._since, self._pause = "person", 0, PAUSE_FRAMES
            return True
        if self._since >= self._needed_from + DECIDING_FRAMES:
            self.state, self._since, self._wait = "", 0, self._pause
            self._pause = min(2 * self._pause, MAX_PAUSE_FRAMES)
            self.echoes += 1
        return False


class KeptSound:
    """Keeper of the microphone's frames while a probe decides whose they are."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: list[tuple[Int16, Int16, float]] = []

    def __len__(self) -> int:
        return len(self._frames)

    def clear(self) -> None:
        """Forget the frames that are kept."""
        self._frames.clear()

    def add(
        self, clean: Int16, moment: float, probe: DuckProbe | None, *, near_end: bool
    ) -> Iterator[tuple[Int16, bool, float]]:
        """Yield the frames that are decided, True for a person's, and their moments.

        Takes what a canceller has returned last, its probe, and whether it takes that for a person's.
        """
        if probe is not None and probe.state == "ducked":
            self._frames.append((clean, probe.frame, moment))
            return
        is_person = probe is not None and probe.state == "person"
        for closed, opened, at in self._frames:
            yield (opened if is_person else closed), is_person, at
        self._frames.clear()
        yield clean, near_end, moment
