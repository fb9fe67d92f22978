"""Measure the agent's cost for each piece of sound and each turn's end.

    .venv/bin/python tests/bench/bench_runtime.py

Sound: what a session does for a piece of sound with a listener to `on_audio`, less what it takes to play, beside a
guarded direct call of that listener in the same place. Turns: the steps `turn_began` and `turn_ended` of an agent with
20 phases, 100 watchers and 50 computed values, from the first line to the last: settling, guards, steering, listeners,
signals, measuring, and every event of it made, redacted, encoded and folded by the engine's own hub, no console
attached. What an extractor does to write its ten keys, their ten events included, is not part of it. The floor is the
bare evaluation of what had to be decided: the guards of the current phase's transitions, and, of what the changed
keys concern, the watchers' predicates and the computed values, done once a round, as the turn is. Cases run in turns;
ratios are medians over the rounds.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.bench.live import BenchAudio, make_hub, make_session  # noqa: E402

from gemini_live_runtime import events as ev  # noqa: E402
from gemini_live_runtime.api import Live  # noqa: E402
from gemini_live_runtime.audio.interface import MODEL_RATE  # noqa: E402
from gemini_live_runtime.clock import LoopClock  # noqa: E402
from gemini_live_runtime.conversation.phases import Phase, Transition  # noqa: E402
from gemini_live_runtime.session.agent.settle_engine import FireRateCounter  # noqa: E402
from gemini_live_runtime.session.definition.plan import SessionPlan  # noqa: E402
from gemini_live_runtime.session.io.live_session import LiveSession  # noqa: E402
from gemini_live_runtime.session.io.model_sound import ModelSound  # noqa: E402
from gemini_live_runtime.session.lifespan import Lifespan  # noqa: E402
from gemini_live_runtime.session.ports.sink import EventSink  # noqa: E402
from gemini_live_runtime.state.computed import ComputedVar  # noqa: E402
from gemini_live_runtime.state.guards import Guard  # noqa: E402
from gemini_live_runtime.state.mutations import Origin, writing_as  # noqa: E402
from gemini_live_runtime.state.terms import key  # noqa: E402
from gemini_live_runtime.state.watchers import Watcher  # noqa: E402
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint  # noqa: E402
from gemini_live_runtime.wire.transport import Transport  # noqa: E402

ROUNDS = 101
FRAMES = 500
PHASES, WATCHERS, COMPUTED, KEYS = 20, 100, 50, 300
WAYS = 4
"""Transitions out of each phase."""
CHANGED = 10

AT_MOST_A_FRAME = 4.0
AT_MOST_A_TURN = 20.0

EXTRACTOR = Origin("extractor", "bench")


class Stamps:
    """Minimal sink, to tell the hub's share of a turn."""

    wall = 0.0

    def __init__(self) -> None:
        self._seq = 0

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        self._seq += 1
        return ev.Event(self._seq, 0.0, turn, gen, payload)

    async def written(self, within_s: float) -> bool:
        return True

    def audio(self, track: ev.Side, pcm: bytes) -> None:
        return None


class Least:
    """The least work for a piece of sound: play it and call the listener, guarded."""

    def __init__(self, session: LiveSession) -> None:
        self._audio = session._audio
        self._faults: list[Exception] = []

    def play_and_call(self, gen: int, pcm: bytes) -> None:
        """Play a piece of sound and call the listener, guarded."""
        self._audio.play(gen, pcm)
        try:
            listener(pcm)
        except Exception as error:
            self._faults.append(error)


def nothing() -> None:
    """Do nothing, as a watcher's action."""


def listener(pcm: bytes) -> None:
    """Do nothing, as a listener to the sound."""


async def no_transport(_: Endpoint) -> Transport:
    raise NotImplementedError


def session_of(plan: SessionPlan, sink: EventSink | None = None) -> LiveSession:
    """Return the product's session, never connected.

    Without a sink it gets the engine's hub.
    """
    clock = LoopClock()
    hub = make_hub(clock, None)
    session, _ = make_session(hub, BenchAudio(), clock, local_endpoint("ws://localhost"), no_transport, plan)
    if sink is not None:
        session.bus._sink = sink
    return session


# -- a piece of sound -----------------------------------------------------------------------------------------------


async def sound() -> bool:
    """Measure, print, judge."""
    session = session_of(Live.builder("bench").instruction("You are a bench.").on("audio", listener).plan())
    agent = session.orchestrator.agent
    agent.telemetry.turn_started(agent.clock.now(), 1, "typed")
    end = session._audio.end_of_turn
    cases = {
        "play": ModelSound(session._audio.play, end).play,
        "guarded": ModelSound(Least(session).play_and_call, end).play,
        "session": session._performer.sound.play,
    }
    pcm = bytes(1920)
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(4 * ROUNDS):
        for name, play in cases.items():
            began = time.perf_counter()
            for _ in range(FRAMES):
                play(1, pcm, MODEL_RATE)
            samples[name].append((time.perf_counter() - began) / FRAMES * 1e9)
    assert agent.telemetry._sound[0] == 4 * ROUNDS * FRAMES
    rounds = zip(samples["play"], samples["guarded"], samples["session"], strict=True)
    alone, guarded, ours = (statistics.median(values) for values in samples.values())
    ratio = statistics.median((c - a) / (b - a) for a, b, c in rounds)
    print(f"playing a piece of sound {alone:.0f} ns, and calling its listener guarded {guarded - alone:.0f} ns")
    return told("the session's part for a piece of sound", f"{ours - alone:.0f} ns", ratio, AT_MOST_A_FRAME)


# -- a turn ---------------------------------------------------------------------------------------------------------


def agent() -> SessionPlan:
    """Return an agent with phases, watchers and computed values.

    20 phases in a ring with four transitions each, watchers of four kinds on 100 keys, computed values of two
    keys each.
    """
    kinds = (
        lambda term: term.changed(),
        lambda term: term.crossed_above(1e9),
        lambda term: (term > 1e9).became_true(),
        lambda term: term.changed_to("never"),
    )
    return (
        Live.builder("bench")
        .instruction("You are a bench.")
        .phase(
            *(
                Phase(
                    f"phase{number}",
                    f"Talk about subject {number}.",
                    needs=f"user:need{number}",
                    transitions=[
                        Transition(f"phase{(number + way) % PHASES}", way_on(way), because=f"way {way} is open")
                        for way in range(1, WAYS + 1)
                    ],
                )
                for number in range(PHASES)
            )
        )
        .watch(*(Watcher(kinds[number % 4](key(f"app:key{number}")), nothing) for number in range(WATCHERS)))
        .computed(
            *(
                ComputedVar(f"both{number}", (key(f"app:key{2 * number}") > 5) & (key(f"app:key{2 * number + 1}") < 7))
                for number in range(COMPUTED)
            )
        )
        .state(values={f"app:key{number}": number % 5 for number in range(KEYS)})
        .state(values={f"user:need{number}": None for number in range(PHASES)})
        .plan()
    )


def way_on(way: int) -> Guard:
    return (key(f"app:key{way}") < 1e9) & key("user:ready").is_true()


class Turns:
    """Turns of one session, and the floor of each."""

    def __init__(self, sink: EventSink | None = None) -> None:
        self.session = session_of(agent(), sink)
        self.orchestrator = self.session.orchestrator
        self.agent = self.orchestrator.agent
        self._number = 0
        self._value = 0
        assert self.agent.phases is not None
        self._ways = [way.when for way in self.agent.phases.machine.current_phase.transitions]
        changed = {f"app:key{number}" for number in range(CHANGED)}
        watchers = self.orchestrator.settle.watchers._watchers
        self._predicates = [item.predicate for item in watchers if item.predicate.keys & changed]
        self._computed = [
            item.compute for item in self.orchestrator.settle.computed.variables if changed & set(item.inputs)
        ]
        assert (len(self._predicates), len(self._computed)) == (CHANGED, CHANGED // 2)

    async def turn(self, changed: bool) -> float:
        """Microseconds of the steps of one turn."""
        agent, orchestrator = self.agent, self.orchestrator
        now = agent.clock.now()
        self._number += 1
        # Turns are seconds apart: what fires in each of them is not held back as if it set itself off.
        orchestrator.settle.fire_rates = FireRateCounter()
        began = time.perf_counter()
        await orchestrator.pipeline.begin_turn(self._number, "voice")
        took = time.perf_counter() - began
        agent.transcript.begin_turn(self._number, "voice", now)
        agent.telemetry.turn_started(now, self._number, "voice")
        agent.transcript.add_input("What do you think?")
        agent.transcript.add_output("Nothing much.")
        agent.telemetry.model_audio(now, 1920)
        agent.transcript.end_turn()
        agent.telemetry.turn_completed(now)
        if changed:
            self._value += 1
            with writing_as(EXTRACTOR):
                for number in range(CHANGED):
                    agent.state.set(f"app:key{number}", self._value % 100)
            agent.bus.publish_state()
        began = time.perf_counter()
        await orchestrator.pipeline.end_turn(self._number, ev.TurnCompleted(outcome="complete", latency_ms=1.0))
        took += time.perf_counter() - began
        await asyncio.sleep(0)  # what was spawned may end
        return took * 1e6

    def floor(self, changed: bool) -> float:
        """Return microseconds of one bare evaluation, with cold caches, as in a turn."""
        state, ways = self.agent.state, self._ways
        began = time.perf_counter()
        for guard in ways:
            guard.holds(state)
        if changed:
            for predicate in self._predicates:
                if predicate.guard is not None:
                    predicate.guard.holds(state)
                else:
                    predicate.matches(1, state.get_raw(predicate.key))
            for compute in self._computed:
                compute.holds(state)  # type: ignore[union-attr]
        return (time.perf_counter() - began) * 1e6

    def all_guards(self) -> float:
        """Return microseconds of evaluating everything, as without known changes."""
        orchestrator, state = self.orchestrator, self.agent.state
        began = time.perf_counter()
        for guard in self._ways:
            guard.holds(state)
        for watcher in orchestrator.settle.watchers._watchers:
            predicate = watcher.predicate
            if predicate.guard is not None:
                predicate.guard.holds(state)
            else:
                predicate.matches(1, state.get_raw(predicate.key))
        for item in orchestrator.settle.computed.variables:
            item.compute.holds(state)  # type: ignore[union-attr]
        return (time.perf_counter() - began) * 1e6


async def turns() -> bool:
    """Measure, print, judge."""
    whole, stamped = Turns(), Turns(Stamps())
    for one in (whole, stamped):
        await Lifespan(one.orchestrator).begin()
    names = [(changed, what) for changed in (False, True) for what in ("floor", "whole", "stamped", "everything")]
    samples: dict[tuple[bool, str], list[float]] = {name: [] for name in names}
    for _ in range(2 * ROUNDS):
        for changed in (False, True):
            samples[changed, "whole"].append(await whole.turn(changed))
            samples[changed, "stamped"].append(await stamped.turn(changed))
            samples[changed, "floor"].append(whole.floor(changed))
            samples[changed, "everything"].append(whole.all_guards())
    met = True
    for changed, title in ((False, "a quiet turn"), (True, f"a turn with {CHANGED} changed keys")):
        floor, ours, rest, everything = (samples[changed, what] for what in ("floor", "whole", "stamped", "everything"))
        ratio = statistics.median(a / b for a, b in zip(ours, floor, strict=True))
        without = statistics.median(a / b for a, b in zip(rest, floor, strict=True))
        against_all = statistics.median(a / b for a, b in zip(ours, everything, strict=True))
        print(
            f"\n{title}: what has to be decided {statistics.median(floor):.1f} us; asking all {WATCHERS} watchers and "
            f"{COMPUTED} computed values {statistics.median(everything):.0f} us"
        )
        met &= told(title, f"{statistics.median(ours):.0f} us", ratio, AT_MOST_A_TURN)
        told("  without encoding and folding its events", f"{statistics.median(rest):.0f} us", without)
        told("  beside asking everything", f"{statistics.median(ours):.0f} us", against_all)
    return met


def told(name: str, measured: str, ratio: float, at_most: float = 0.0) -> bool:
    """Print a line; whether its target is met."""
    met = not at_most or ratio <= at_most
    target = f"<= {at_most:g}x" if at_most else "-"
    print(f"{name:44} | {target:>8} | {ratio:6.2f}x  {measured}{'' if met else '  MISSED'}")
    return met


async def main() -> int:
    """Measure, print, judge."""
    print(f"CPython {sys.version.split()[0]}, {PHASES} phases, {WATCHERS} watchers, {COMPUTED} computed values\n")
    met = await sound()
    met &= await turns()
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
