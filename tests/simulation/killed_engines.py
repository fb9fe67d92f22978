"""Kill the engine of a simulated session, and let another one go on with it.

The first engine stops after some actions, wherever it is. The next one finds its events and the last snapshot that had
been written, takes further actions, and comes to rest.
"""

from __future__ import annotations

import asyncio
import copy
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.simulation.coverage import Step
from tests.simulation.world import World

from gemini_live_runtime import MemoryPersistence
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import VirtualTimeLoop
from gemini_live_runtime.journal.completion.completion_gate import RealtimeCompletionGate
from gemini_live_runtime.journal.recording.kept_journal import KeptJournal
from gemini_live_runtime.session.agent.autosave import OwnStore

ONCE = ("add", "pay")
"""Tools of the simulated agent that change something."""


@dataclass(slots=True)
class Restart:
    """A session of two engines: their events, actions and faults."""

    seed: int
    before: list[ev.Event]
    after: list[ev.Event]
    steps: list[Step]
    rest: str
    fault: str = ""

    @property
    def finding(self) -> str:
        """Promise that was broken, or ""."""
        return self.fault or self._numbers() or self._inputs() or self._calls() or self._ends()

    def _numbers(self) -> str:
        events = self.before + self.after
        if [event.seq for event in events] != list(range(1, len(events) + 1)):
            return "the numbers of the events have a gap"
        if any(later.t < earlier.t for earlier, later in pairwise(events)):
            return "the time goes back"
        turns = [event.turn for event in events if isinstance(event.payload, ev.TurnStarted)]
        return "" if turns == sorted(set(turns)) else f"the turns are numbered {turns}"

    def _inputs(self) -> str:
        """Tell of accepted texts that were neither sent nor refused, or sent twice."""
        events = [event.payload for event in self.before + self.after]
        sent = [one.command_id for one in events if isinstance(one, ev.TextSent)]
        refused = {one.command_id for one in events if isinstance(one, ev.CommandRefused)}
        intended = [one.ref for one in events if isinstance(one, ev.SendIntended) and one.kind == "text"]
        lost = [ref for ref in intended if ref not in sent and ref not in refused]
        if lost:
            return f"the texts {lost} are lost"
        return f"texts are sent as new ones twice: {sent}" if len(sent) != len(set(sent)) else ""

    def _calls(self) -> str:
        """Tell of calls without exactly one end, whichever engine gives it."""
        events = [event.payload for event in self.before + self.after]
        called = [one.call_id for one in events if isinstance(one, ev.ToolCalled)]
        ended = [one.call_id for one in events if isinstance(one, ev.ToolFinished)]
        open_ids = [ident for ident in called if called.count(ident) != ended.count(ident)]
        return f"the calls {sorted(set(open_ids))} do not have one end each" if open_ids else ""

    def _ends(self) -> str:
        kinds = [event.type for event in self.after]
        if kinds.count("session.started") or kinds.count("session.ended") != 1 or kinds[-1] != "session.ended":
            return "the session does not end once"
        if self.rest and self.rest != "quiet":
            return f"it does not come to rest: {self.rest}"
        gate = RealtimeCompletionGate()
        # The host of an engine that goes on says so first; here there is none.
        resumed = ev.SessionResumed(kept=len(self.before), after="crash", wall=0.0, record="off", program="test")
        for event in (*self.before, ev.Event(0, 0.0, 0, 0, resumed), *self.after):
            gate.apply(event)
        missing = gate.completion().words
        settled = [event.payload for event in self.before + self.after if isinstance(event.payload, ev.SendSettled)]
        if not missing or not self.rest or any(one.outcome == "unknown" for one in settled):
            return ""
        return f"at rest, and still missing: {missing}"


def restart(seed: int) -> Restart:
    """Run the session of `seed` with two engines."""
    faults: list[str] = []
    found = Restart(seed, [], [], [], "")

    def loop_factory() -> VirtualTimeLoop:
        loop = VirtualTimeLoop()
        loop.set_exception_handler(lambda _, context: faults.append(str(context.get("exception") or context)))
        return loop

    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(_two_lives(seed, found))
    except Exception as error:
        faults.append(f"{type(error).__name__}: {error}")
    found.fault = "; ".join(faults)
    return found


async def _two_lives(seed: int, found: Restart) -> None:
    first = World(seed, None)
    first.length = first.chance.randint(2, 14)
    store = MemoryPersistence()
    first.own_store = OwnStore(store, "simulated")
    await first.begin()
    try:
        await first._act()
        found.before = list(first.sink.events)
        kept = KeptJournal(Path())
        for event in found.before:
            kept.add(event)
        saved = copy.deepcopy(store)
        found.steps = list(first.steps)
    finally:
        first.over()
        await asyncio.gather(first.running, return_exceptions=True)
    if kept.is_ended:
        found.after, found.rest = found.before[-1:], ""
        found.before = found.before[:-1]
        return
    second = World(seed + 1_000_000, None)
    second.console = "d"
    second.plan, second.own_store = first.plan, OwnStore(saved, "simulated", kept)
    second.length, second.finishes = second.chance.randint(0, 8), True
    second.words, second.calls = first.words + 1000, []
    # What the simulated server knows of the first engine's handles does not matter to the session.
    await second.begin()
    try:
        await second._act()
        facts = await second.end()
        found.steps += second.steps
        rest = facts["rest"]
        found.rest = "" if not rest or rest["gave_up"] else "quiet" if rest["quiet"] else rest["why"]
    finally:
        second.over()
        found.after = list(second.sink.events)
