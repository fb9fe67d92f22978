"""Script a voice session without speech, with a room's soft noise."""

from __future__ import annotations

import asyncio
import random

from tests.support.scripted_link import ScriptedLink

NOISE_DB = -52.0
DEVIATION_DB = 0.35
"""Standard deviation of the level of 20 ms of white noise at 16 kHz."""


class NoisyLink(ScriptedLink):
    """Link that sends meters of noise, 20 a second, as an engine does."""

    def __init__(self, *, meter_hz: float = 20.0, seed: int = 1) -> None:
        super().__init__()
        self._hz = meter_hz
        self._random = random.Random(seed)
        self._task: asyncio.Task[None] | None = None
        self.start()

    def begin(self) -> NoisyLink:
        """Start to send meters; needs a running loop."""
        self._task = asyncio.create_task(self._meters())
        return self

    def noise(self) -> None:
        """Send the meters of 50 ms of noise."""
        level = self._random.gauss(NOISE_DB, DEVIATION_DB)
        self.t += 1 / self._hz
        self.sample(mic_db=level, mic_peak_db=NOISE_DB + 3, clean_db=level - 6, loop_lag_ms=1.0, events_per_s=1.0)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        await super().close()

    async def _meters(self) -> None:
        while True:
            await asyncio.sleep(1 / self._hz)
            self.noise()
