"""Stream a busy scripted session in real time, for benchmarks and trials."""

from __future__ import annotations

import asyncio
import itertools
import math

from tests.support.scripted_link import ScriptedLink

from gemini_live_runtime import events as ev

_TEXT = """
The harbour is quiet this morning and the light comes in low over the water, so if you want to see the boats leave you
had better be there before eight, bring a coat and perhaps something warm to drink
"""
WORDS = tuple(_TEXT.split())


class StreamingLink(ScriptedLink):
    """Endless turns, with words, meters, and a tool call in every third turn.

    Words come at `words_per_s`, meters at `meter_hz`.
    """

    def __init__(self, *, words_per_s: float = 12.0, meter_hz: float = 20.0, backlog: int = 0) -> None:
        super().__init__()
        self._words_per_s = words_per_s
        self._meter_hz = meter_hz
        self._tasks: list[asyncio.Task[None]] = []
        self.start()
        for number in range(backlog):
            self.exchange(f"Question {number}: what is it like at the harbour?", " ".join(WORDS[: 8 + number % 20]))

    def begin(self) -> StreamingLink:
        """Start to stream; needs a running loop."""
        self._tasks = [asyncio.create_task(self._meters()), asyncio.create_task(self._turns())]
        return self

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await super().close()

    async def _meters(self) -> None:
        for tick in itertools.count():
            await asyncio.sleep(1 / self._meter_hz)
            self.t += 1 / self._meter_hz
            wave = math.sin(tick * 0.7) * math.sin(tick * 0.11)
            level = -34 + 22 * wave
            self.sample(
                mic_db=level,
                mic_peak_db=min(0.0, level + 6),
                out_db=-20 + 12 * math.cos(tick * 0.5),
                erle_db=24 + 3 * wave,
                buffer_ms=62 + 8 * wave,
                speech=wave > 0.2,
            )

    async def _turns(self) -> None:
        for number in itertools.count():
            self.state("hearing")
            self.begin_turn()
            for word in f"Tell me about the harbour once more, take {number}".split():
                await asyncio.sleep(1 / self._words_per_s)
                self.user(f"{word} ")
            self.state("thinking")
            if number % 3 == 1:
                self.call_tool("harbour_report", {"day": "today"}, {"wind": "north-west", "boats": 14})
            await asyncio.sleep(0.3)
            self.state("speaking")
            self.emit(ev.PlaybackStarted())
            for word in WORDS:
                await asyncio.sleep(1 / self._words_per_s)
                self.model(f"{word} ")
            self.emit(ev.GenerationCompleted(), ev.PlaybackDrained(of=self.gen))
            self.emit(ev.TurnCompleted(outcome="complete", latency_ms=500.0 + 10 * (number % 30)))
            self.gen += 1
