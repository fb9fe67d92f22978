"""Play a scene through the playout's ring, whose pauses the echo follows."""

from __future__ import annotations

import numpy as np
from tests.rooms.scenes import Scene, echo_of
from tests.rooms.voices import RATE

from gemini_live_runtime.audio.ring import PlayoutRing
from gemini_live_runtime.audio.samples import FRAME, Float32, Int16, to_int16


class Loudspeaker:
    """Loudspeaker of a scene, and the microphone that hears it; frames of 10 ms.

    What is paused goes on later, and so does its echo.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.played: Float32 = scene.far.copy()
        """Samples that were played, and those that are to be played then."""
        self.echo: Float32 = scene.echo.copy()
        """Echo of `played`."""
        self.answers = scene.far != 0
        """Mask of the samples in which the model speaks, or is paused."""
        self._ring = PlayoutRing(RATE)
        self.pauses: list[float] = []
        """Seconds at which it was paused."""
        self._end = 0

    def pause(self, on: bool) -> None:
        """Pause what is played from the next frame on, or go on."""
        if on and not self._ring.held:
            self.pauses.append(self._end / RATE)
        self._ring.held = on

    def play(self, at: int) -> Int16:
        """Play the frame that begins at sample `at`; return it as it is played."""
        ring, far = self._ring, self._scene.far
        while ring.lead < 2:
            first = ring.write_slot * FRAME
            rest = far[first : first + FRAME]
            ring.write(np.concatenate((rest, np.zeros(FRAME - len(rest), np.float32))), 0, first, FRAME)
        out = np.zeros(FRAME, np.float32)
        ring.read(out, at / RATE)
        end = self._end = at + FRAME
        self.answers[at:end] = (out != 0) | ring.held
        if out.tobytes() != self.played[at:end].tobytes():
            self.played[at:end] = out
            self.played[end:] = 0.0 if ring.held else far[ring.read_position :][: len(far) - end]
            scene = self._scene
            changed = echo_of(self.played, scene.kind, scene.room, scene.path, scene.moved)
            self.echo[at:] = np.clip(changed + scene.near, -1, 1)[at:] - scene.near[at:]
        return to_int16(out)

    def hear(self, at: int) -> Int16:
        """Return the microphone's frame that begins at sample `at`."""
        part, scene = slice(at, at + FRAME), self._scene
        return to_int16(self.echo[part] + scene.near[part] + scene.noise[part])
