"""Faults in an agent's code are reported with its place and one traceback."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import (
    ComputedVar,
    DefaultResultFormatter,
    InstructionModifier,
    Live,
    PatternDetector,
    Phase,
    PhaseInstruction,
    PhasePreparation,
    ReactorEvent,
    ReactorRule,
    State,
    TemporalEvent,
    TemporalPattern,
    Transition,
    TurnCountDetector,
    VoiceRuntimeState,
    Watcher,
    WatchPredicate,
    key,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.rules import reactor

HERE = Path(__file__)


def boom(*args: Any) -> Any:
    """Raise, as the code of an author."""
    raise RuntimeError("boom")


async def booms_later(state: State) -> None:
    """Raise, as async code of an author."""
    raise RuntimeError("boom")


def at_the_end(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> None:
    """Raise at the end of a turn, as a rule."""
    if isinstance(event, reactor.Live) and isinstance(event.event, ev.TurnCompleted):
        boom()


class Broken(DefaultResultFormatter):
    """A formatter that words nothing."""

    def format_running(self, call: Any) -> dict[str, Any]:
        """Fail."""
        return boom()  # type: ignore[no-any-return]


def phases(**of_second: Any) -> tuple[Phase, Phase]:
    """Return two phases, the second entered with `app:go`."""
    return (
        Phase("first", "One.", transitions=Transition("second", key("app:go"))),
        Phase("second", of_second.pop("instruction", "Two."), terminal=True, **of_second),
    )


def in_phases(**of_second: Any) -> tuple[Live, str]:
    """Return an agent of two phases, and the place of the second."""
    both = phases(**of_second)
    return agent().phase(*both), both[1].defined_at


def rule() -> tuple[Live, str]:
    """Return an agent whose rule fails, and the rule's place."""
    bad = ReactorRule("bad", at_the_end)
    return agent().rule(bad), bad.defined_at


def listener(name: str) -> tuple[Live, str]:
    """Return an agent whose listener fails, and the listener's place."""
    of = agent().on(name, boom)
    return of, of.definition.callbacks.of(name)[0].defined_at


def watcher() -> tuple[Live, str]:
    """Return an agent whose watcher fails, and the watcher's place."""
    bad = Watcher(WatchPredicate.changed("app:go"), boom, name="app:go")
    return agent().watch(bad), bad.defined_at


def pattern() -> tuple[Live, str]:
    """Return an agent whose pattern fails, and the pattern's place."""
    bad = TemporalPattern("often", TurnCountDetector(key("app:go"), 1), boom)
    return agent().pattern(bad), bad.defined_at


def computed() -> tuple[Live, str]:
    """Return an agent whose computed value fails, and the value's place."""
    bad = ComputedVar("sum", boom, "app:go")
    return agent().computed(bad), bad.defined_at


def preparation() -> tuple[Live, str]:
    """Return an agent whose preparation fails, and the preparation's place."""
    bad = PhasePreparation("p", boom, "app:name")
    return agent().phase(*phases(requires="app:name", preparations=bad)), bad.defined_at


def leaving() -> tuple[Live, str]:
    """Return an agent whose first phase fails on exit, and the phase's place."""
    bad = Phase("first", "One.", on_exit=boom, transitions=Transition("second", key("app:go")))
    return agent().phase(bad, phases()[1]), bad.defined_at


def instruction() -> tuple[Live, str]:
    """Return an agent whose phase instruction fails, and the instruction's place."""
    bad = PhaseInstruction(boom)
    return agent().phase(*phases(instruction=bad)), bad.defined_at


def modifier() -> tuple[Live, str]:
    """Return an agent whose modifier fails, and the modifier's place."""
    bad = InstructionModifier.custom(boom)
    return agent().in_every_phase(bad), bad.defined_at


def formatter() -> tuple[Live, str]:
    """Return an agent whose tool formatter fails, and the tool's place."""

    @tool(background=True, formatter=Broken())
    async def report() -> str:
        """Work."""
        return "done"

    return agent().tools(report), report.defined_at


CASES: dict[str, Callable[[], tuple[Live, str]]] = {
    "reactor rule": rule,
    "on_turn_complete": lambda: listener("on_turn_complete"),
    "on_output_transcript": lambda: listener("on_output_transcript"),
    "watcher app:go": watcher,
    "pattern often": pattern,
    "computed sum": computed,
    "preparation p": preparation,
    "on_enter of second": lambda: in_phases(on_enter=boom),
    "on_enter of second, async": lambda: in_phases(on_enter=booms_later),
    "on_enter_context of second": lambda: in_phases(on_enter_context=boom),
    "on_exit of first": leaving,
    "instruction of second": instruction,
    "modifier": modifier,
    "tool report": formatter,
}


async def everything_runs(t: Talk) -> None:
    """Make the session run every part of the agent."""
    await t.writes(go=True)
    await t.calls("report")
    await t.turn()
    await t.turn()


@pytest.mark.parametrize("where", CASES)
async def test_a_fault_names_the_place_of_its_code_and_its_traceback_is_in_the_log(where: str) -> None:
    of, place = CASES[where]()
    async with talk(of) as t:
        await everything_runs(t)
    wanted = where.partition(",")[0]
    assert {(fault.where, fault.defined_at) for fault in t.failures()} == {(wanted, place)}
    assert all("boom" in fault.error for fault in t.failures())
    assert place.startswith(f"{HERE.name}:")
    traces = [log.text for log in t.all(ev.Log) if log.level == "debug"]
    assert sum(bool(re.match(r"\s*raise RuntimeError", line)) for line in traces) == 1


KEY_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"


def tells_a_key(*args: Any) -> Any:
    """Raise with a private key of several lines in the text, as the code of an author."""
    raise RuntimeError(f"cannot use\n-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\n{KEY_BODY}\n-----END PRIVATE KEY-----")


async def tells_a_key_later(state: State) -> None:
    """Raise with a private key in the text, as async code of an author."""
    tells_a_key()


@pytest.mark.parametrize("where", CASES)
async def test_no_line_of_a_private_key_in_an_error_is_told(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "boom", tells_a_key)
    monkeypatch.setattr(sys.modules[__name__], "booms_later", tells_a_key_later)
    of, _ = CASES[where]()
    async with talk(of) as t:
        await everything_runs(t)
    assert any("cannot use" in fault.error for fault in t.failures())
    assert KEY_BODY not in repr(t.all(ev.Log)) + repr(t.failures())


def leaves(*args: Any) -> Any:
    """Exit the program, as the code of an author may do in its own program."""
    sys.exit("boom")


async def leaves_later(state: State) -> None:
    """Exit the program, as async code of an author."""
    sys.exit("boom")


@pytest.mark.parametrize("where", CASES)
async def test_code_that_ends_the_program_is_a_fault_like_any_other(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "boom", leaves)
    monkeypatch.setattr(sys.modules[__name__], "booms_later", leaves_later)
    of, place = CASES[where]()
    async with talk(of) as t:
        await everything_runs(t)
    assert {(fault.where, fault.defined_at) for fault in t.failures()} == {(where.partition(",")[0], place)}
    assert all("boom" in fault.error for fault in t.failures())
    assert len(t.all(ev.TurnCompleted)) == 2


class Leaves(PatternDetector):
    """Detector that exits the program at every call."""

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """No answer."""
        leaves()
        return False

    def reset(self) -> None:
        """Do nothing."""

    def deadline(self, now: float) -> float | None:
        """No answer."""
        leaves()
        return None

    def progress(self, now: float) -> str:
        """No words."""
        leaves()
        return ""


async def test_a_detector_that_ends_the_program_is_a_fault_of_its_pattern() -> None:
    pattern = TemporalPattern("odd", Leaves(), lambda: None)

    async with talk(agent().pattern(pattern).watch(Watcher(key("app:go").changed(), lambda: None))) as t:
        await t.writes(go=True)
        await t.turn()
        await t.passes(3)
    assert {(fault.where, fault.defined_at) for fault in t.failures()} == {("pattern odd", pattern.defined_at)}
    # It fails at what its faults cause, too, which must come to an end.
    told = [fault.times for fault in t.failures()]
    assert told == [2**n for n in range(len(told))]
    assert "failed: SystemExit" in t.all(ev.PatternsRead)[-1].patterns[0]["progress"]
    assert len(t.all(ev.WatcherFired)) == 1


async def test_a_guard_that_raises_names_its_transition() -> None:
    way = Transition("second", boom)
    async with talk(
        agent().phase(Phase("first", "One.", transitions=way), Phase("second", "Two.", terminal=True))
    ) as t:
        await t.turn()
    assert {(fault.where, fault.defined_at) for fault in t.failures()} == {("guard of first to second", way.defined_at)}


async def test_a_phases_own_guard_that_raises_names_the_phase() -> None:
    first, second = phases(guard=boom)
    async with talk(agent().phase(first, second)) as t:
        await t.writes(go=True)
        await t.turn()
    assert {fault.defined_at for fault in t.failures()} == {second.defined_at}


async def test_a_listener_that_drops_an_answer_is_named() -> None:
    def work() -> str:
        """Work."""
        return "done"

    async with talk(agent().tools(work).on("before_tool_response", lambda responses, state: [])) as t:
        await t.calls("work")
    (fault,) = t.failures()
    assert fault.where == "tool work"
    assert fault.defined_at.startswith(f"{HERE.name}:")


async def test_what_is_called_all_the_time_is_told_of_at_the_1st_2nd_4th_and_8th_time() -> None:
    async with talk(agent().on("output_transcript", boom)) as t:
        for _ in range(9):
            await t.says("word ")
    assert [fault.times for fault in t.failures()] == [1, 2, 4, 8]


async def test_code_that_is_slow_is_named_with_its_place() -> None:
    async def slow(state: State) -> None:
        import asyncio

        await asyncio.sleep(1)

    async with talk(agent().phase(*phases(on_enter=slow))) as t:
        await t.writes(go=True)
        await t.passes(2)
    (held,) = t.all(ev.CodeSlow)
    assert (held.where, held.ms) == ("on_enter of second", 1000)
    assert held.defined_at.startswith(f"{HERE.name}:")
