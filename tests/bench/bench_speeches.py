"""Measure a speech's cost, the time of a barge-in, and that of a hand-off.

    .venv/bin/python tests/bench/bench_speeches.py [ROUNDS]

- A handle: asking for a reply that has to wait, to its entry in the queue and its event, beside an event alone.
- A barge-in: from the server's message that was read to the order that the speaker gets, while 100 speeches wait.
- A hand-off: two agents on the embedded server, each with a connection of its own; from the end of the old agent's
  turn, which the server tells when it has been heard, to the first word of the new one, and the part of it that is
  ours: until its greeting was asked for.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.session.talking import SECOND_OF_SPEECH, agent, talk  # noqa: E402

from gemini_live_runtime import Agent, tool  # noqa: E402
from gemini_live_runtime import events as ev  # noqa: E402
from gemini_live_runtime.audio.no_audio import NoAudio  # noqa: E402
from gemini_live_runtime.clock import run_virtual  # noqa: E402
from gemini_live_runtime.wire.audio_frame import encode_model_audio  # noqa: E402

ROUNDS = 5
QUEUED = 100
CUTS = 300
HANDLE_AT_MOST_US = 20.0
CUT_AT_MOST_MS = 1.0
HAND_OFF_AT_MOST_MS = 100.0


class Speaker(NoAudio):
    """Speaker that goes on playing, and notes when it is ordered to stop."""

    cut_at = 0.0
    is_busy = False

    @property
    def playing(self) -> bool:
        """True while something is to be heard."""
        return self.is_busy

    def cut(self, cut_below: int) -> None:
        """Note the time."""
        self.cut_at = time.perf_counter()
        super().cut(cut_below)


async def handles_and_cuts(rounds: int) -> tuple[float, float, float, float]:
    """Return the median µs of a handle and of an event, median and p99 ms of a cut."""
    speaker = Speaker()
    handles, events, cuts = [], [], []
    async with talk(agent(), audio=lambda: speaker) as t:
        session = t.stage.session.agent_session
        began_at = 0.0
        server = t.stage.session._core.server
        on_message = server.on_message

        def timed(now: float, message: Any) -> Any:
            nonlocal began_at
            began_at = time.perf_counter()
            return on_message(now, message)

        server.on_message = timed  # type: ignore[method-assign]
        speaker.is_busy = True
        for _ in range(max(rounds * 10, CUTS)):
            await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
            await t.rests()
            began = time.perf_counter()
            for _ in range(QUEUED):
                session.generate_reply(instructions="Say it.")
            handles.append((time.perf_counter() - began) / QUEUED)
            began = time.perf_counter()
            for _ in range(QUEUED):
                t.stage.session.bus.emit(ev.Log(source="engine", level="info", text="bench"))
            events.append((time.perf_counter() - began) / QUEUED)
            await t.server.says(serverContent={"interrupted": True})
            await t.rests()
            cuts.append(speaker.cut_at - began_at)
            await t.server.says(serverContent={"turnComplete": True})
            session.interrupt(force=True)
            await t.rests()
            t.stage.sink.events.clear()
    cuts.sort()
    return (
        statistics.median(handles) * 1e6,
        statistics.median(events) * 1e6,
        statistics.median(cuts) * 1000,
        cuts[round(len(cuts) * 0.99) - 1] * 1000,
    )


class Second(Agent):
    """Agent that takes over."""

    def __init__(self) -> None:
        """Make it."""
        super().__init__(name="second", instructions="Be kind.", greeting="Greet the user.")

    @tool
    def help_out(self) -> str:
        """Help."""
        return "done"


class First(Agent):
    """Agent that hands over."""

    def __init__(self) -> None:
        """Make it."""
        super().__init__(name="first", instructions="Be brief.")

    @tool
    def call_second(self) -> Second:
        """Hand over."""
        return Second()


async def hand_off() -> tuple[float, float]:
    """Return the ms from the old agent's turn to the greeting: asked for, heard."""
    ended = asked = 0.0
    async with First().connect(backend="local") as session, session.events() as events:
        await session.send_text("call second")
        async for event in events:
            match event.payload:
                case ev.TurnCompleted() if not asked:
                    ended = event.t
                case ev.PromptChanged(state="sent"):
                    asked = event.t
                case ev.TranscriptDelta(side="model") if asked:
                    return (asked - ended) * 1000, (event.t - ended) * 1000
    raise AssertionError("the session ended before the hand-off")


def main() -> int:
    """Measure, print the table, and return the exit status."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    handle, event, cut, cut_p99 = run_virtual(handles_and_cuts(rounds))
    pairs = [asyncio.run(hand_off()) for _ in range(rounds)]
    ours, whole = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"a speech that waits      {handle:8.1f} µs   target {HANDLE_AT_MOST_US:g}   {handle / event:.1f}x an event")
    print(f"barge-in to cut, median  {cut:8.3f} ms   with {QUEUED} speeches that wait")
    print(f"barge-in to cut, p99     {cut_p99:8.3f} ms   target {CUT_AT_MOST_MS:g}")
    print(f"hand-off, our part       {ours:8.1f} ms   target {HAND_OFF_AT_MOST_MS:g}")
    print(f"hand-off, to first word  {whole:8.1f} ms   {whole / ours:.1f}x our part: the server's first word is in it")
    met = handle <= HANDLE_AT_MOST_US and cut_p99 <= CUT_AT_MOST_MS and ours <= HAND_OFF_AT_MOST_MS
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
