"""Play a scene through the playout's ring, whose attenuation the echo follows."""

from __future__ import annotations

import numpy as np
from tests.rooms.scenes import DRIFT_PPM, JUMP_AT_S, Scene, bent, small_loudspeaker
from tests.rooms.voices import RATE

from gemini_live_runtime.audio.ring import PlayoutRing
from gemini_live_runtime.audio.samples import FRAME, Int16, to_int16

_SIZE = 1 << 15
"""Samples of a transform, longer than the longest echo of a frame."""
_LEAD = 800
"""Samples before a frame in which a loudspeaker without phase begins to sound."""


class Loudspeaker:
    """Loudspeaker of a scene, and the microphone that hears it; frames of 10 ms.

    What is attenuated is attenuated in the echo, too: the echo of the difference is added to the scene's own.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._echo = scene.echo.copy()
        self._ring = PlayoutRing(RATE)
        self._frequency = np.fft.rfftfreq(_SIZE, 1 / RATE)
        shape = small_loudspeaker(self._frequency)
        self._spectra = [np.fft.rfft(path, _SIZE) * shape for path in (scene.path, scene.moved)]
        self.ducked = 0
        """Times that it was attenuated."""

    def duck(self, on: bool) -> None:
        """Attenuate what is played from the next frame on, or no longer."""
        self.ducked += on and not self._ring.ducked
        self._ring.ducked = on

    def play(self, at: int) -> Int16:
        """Play the frame that begins at sample `at`; return it as it is played."""
        far = self._scene.far[at : at + FRAME]
        out = np.zeros(FRAME, np.float32)
        self._ring.write(far, 0, at, FRAME)
        self._ring.read(out, at / RATE)
        if not np.array_equal(out, far):
            self._change(at, bent(out, self._scene.room.drive) - bent(far, self._scene.room.drive))
        return to_int16(out)

    def hear(self, at: int) -> Int16:
        """Return the microphone's frame that begins at sample `at`."""
        part, scene = slice(at, at + FRAME), self._scene
        return to_int16(np.clip(self._echo[part] + scene.near[part], -1, 1) + scene.noise[part])

    def _change(self, at: int, difference: np.ndarray) -> None:
        sound = np.zeros(_SIZE)
        sound[_LEAD : _LEAD + FRAME] = difference
        spectrum = np.fft.rfft(sound)
        if self._scene.kind == "drift":
            spectrum *= np.exp(-2j * np.pi * self._frequency * at * DRIFT_PPM * 1e-6 / RATE)
        first = at - _LEAD
        jump = int(JUMP_AT_S * RATE) if self._scene.kind == "jump" else len(self._echo)
        for path, begin, end in ((0, 0, jump), (1, jump, len(self._echo))):
            begin, end = max(begin, first), min(end, first + _SIZE)
            if begin < end:
                echo = np.fft.irfft(spectrum * self._spectra[path])
                self._echo[begin:end] += echo[begin - first : end - first].astype(np.float32)
