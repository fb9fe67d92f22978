"""Ask by a moment without playback whether a sound is a person's or an echo.

Two voices at once cannot be distinguished for certain by listening. But an echo follows its loudspeaker: where that
falls silent, so do the echo and all that a canceller leaves of it, after the time that sound takes through the room. A
person goes on. So the model is quiet at once for a voice that may be a person's, and goes on from its next sample when
it was none. Where the model pauses by itself, between two sentences, that shows a person as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from gemini_live_runtime.audio.samples import FRAME, Int16

ProbeState: TypeAlias = Literal["", "paused", "person"]
"""State of a probe: `paused` while it is decided, `person` while one is believed, "" otherwise."""

ORDER_FRAMES = 2
"""Frames (20 ms) from the order until nothing is played."""
DECAY_FRAMES = 3
"""Frames after the echo's delay in which a room and the canceller's averages follow."""
LEAST_DELAY_FRAMES = 4
NEEDED_FRAMES, WINDOW_FRAMES = 4, 6
"""Frames with a person's voice, of the newest, that decide for a person."""
DECIDING_FRAMES = 24
"""Frames after the echo has fallen in which a person has to be heard, syllables and gaps."""
TALKING_FRAMES = 90
"""Most frames of a pause while a person speaks: by then the answer is cut, or is to go on."""
RETURN_FRAMES = 8
"""Frames after a pause in which playback has gone on, where it does."""
LEAD_FRAMES = 30
"""Frames (300 ms) before a suspicion that may have a person's first word; whole chunks of the microphone."""
MAX_WAIT_FRAMES = 6_400
WAIT_FRAMES = 50
"""Frames until the next probe after one that found an echo; doubled by each until a person is found."""
MAX_LIKELY_WAIT_FRAMES = 100
"""Most frames for which more than a suspicion waits, a quarter of the others: a canceller is seldom wrong then."""


class PauseProbe:
    """Probe that pauses the loudspeaker at a suspicion; counts frames of 10 ms."""

    __slots__ = (
        "_heard",
        "_needed_from",
        "_next_wait",
        "_since",
        "_wait",
        "echoes",
        "frame",
        "is_listening",
        "state",
    )

    def __init__(self) -> None:
        self.state: ProbeState = ""
        self.echoes = 0
        """Probes that found an echo."""
        self.frame: Int16 = np.zeros(FRAME, np.int16)
        """The microphone's newest frame, cleaned, with all that may be a person's."""
        self.is_listening = False
        """True while the model is heard, and a person may begin to speak over it."""
        self._since = WAIT_FRAMES
        self._needed_from = 0
        self._heard: deque[bool] = deque(maxlen=WINDOW_FRAMES)
        self._next_wait = WAIT_FRAMES
        self._wait = 0

    @property
    def pauses(self) -> bool:
        """True while the loudspeaker is to be paused."""
        return self.state == "paused" or (self.state == "person" and self._since < TALKING_FRAMES)

    @property
    def is_open(self) -> bool:
        """True while an answer that was paused for a person may go on."""
        return self.state != "" and self._since < TALKING_FRAMES + RETURN_FRAMES

    @property
    def is_deciding(self) -> bool:
        """True while the newest frame shows who speaks, since nothing is played."""
        return self.state == "paused" or (self.state == "" and bool(self._heard))

    def begin(self) -> None:
        """Return to the state without a suspicion: no echo is to be expected."""
        self.state = ""
        self._heard.clear()

    def update(
        self, *, suspected: bool, likely: bool, heard: bool, believed: bool, delay: int, silent: int = 0, late: int = 0
    ) -> bool:
        """Take the next frame of an expected echo; return True when a person is found.

        `suspected` tells that it may be a person's, `likely` that more speaks for it, `heard` that the canceller takes
        it for one, `believed` that it did a moment ago. `delay` is that of the echo in frames, as far as it is known.
        `silent` is the number of frames since the model's last sound, as it is known `late` frames after it was played.
        """
        falls_after = max(LEAST_DELAY_FRAMES, delay) + DECAY_FRAMES
        self._since += 1
        if self.state == "person":
            if not (heard or believed):
                self.state = ""
        elif self.state == "paused":
            return self._decide(heard)
        elif (suspected and self._since >= self._wait) or (
            likely and self._since >= min(self._wait // 4, MAX_LIKELY_WAIT_FRAMES)
        ):
            self.state, self._since = "paused", 0
            self._needed_from = ORDER_FRAMES + late + falls_after
            self._heard.clear()
        elif silent < falls_after:
            self._heard.clear()
        elif self._hear(heard):
            self._since = 0
            return True
        return False

    def _hear(self, heard: bool) -> bool:
        """Take a frame without an echo; return True when a person is found."""
        self._heard.append(heard)
        if sum(self._heard) < NEEDED_FRAMES:
            return False
        self.state, self._wait, self._next_wait = "person", 0, WAIT_FRAMES
        return True

    def _decide(self, heard: bool) -> bool:
        if self._since < self._needed_from:
            return False
        if self._hear(heard):
            return True
        if self._since >= self._needed_from + DECIDING_FRAMES:
            self.state, self._since, self._wait = "", 0, self._next_wait
            self._next_wait = min(2 * self._next_wait, MAX_WAIT_FRAMES)
            self.echoes += 1
        return False


@dataclass(frozen=True, slots=True)
class MicFrame:
    """Frame of the cleaned microphone, and what was known when it came."""

    sound: Int16
    moment: float
    """Clock time (s) of its end."""
    near_end: bool
    """True where it may be a person's."""
    playing: bool
    """True where an echo was to be expected."""


class KeptSound:
    """Keeper of the microphone's frames until it is known whose they are.

    While the model is heard, the newest `LEAD_FRAMES` are kept, as a person's first word comes before the suspicion,
    and all frames of a pause for a probe. Those of a person come with all that may be theirs.
    """

    __slots__ = ("_frames", "_undecided")

    def __init__(self) -> None:
        self._frames: deque[tuple[MicFrame, Int16]] = deque()
        self._undecided = 0
        """Number of the newest frames that came while the probe was deciding."""

    def __len__(self) -> int:
        return len(self._frames)

    def clear(self) -> None:
        """Forget the frames that are kept."""
        self._frames.clear()
        self._undecided = 0

    def add(self, frame: MicFrame, probe: PauseProbe | None) -> Iterator[MicFrame]:
        """Yield the frames that are decided.

        Takes what a canceller has returned last, and its probe.
        """
        if probe is None or probe.state == "person" or not (probe.state or probe.is_listening):
            yield from self.release(is_person=probe is not None and probe.state == "person")
            yield frame
            return
        self._frames.append((frame, probe.frame))
        self._undecided = self._undecided + 1 if probe.is_deciding else 0
        if probe.state == "paused":
            return
        while len(self._frames) > LEAD_FRAMES:
            yield self._frames.popleft()[0]

    def release(self, *, is_person: bool) -> Iterator[MicFrame]:
        """Yield all frames that are kept, as a person's or not."""
        lead = len(self._frames) - self._undecided
        for number, (frame, opened) in enumerate(self._frames):
            sound = opened if is_person else frame.sound
            yield replace(frame, sound=sound, near_end=is_person and number >= lead)
        self.clear()
