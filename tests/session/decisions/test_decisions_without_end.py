"""Decisions that set themselves off again and again are stopped, and told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from typing import Any

import pytest
from tests.session.decisions.deciding_code import CLOSED, CLOSURES, count, pattern
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    EmitEvent,
    FunctionExtractor,
    LiveHandle,
    PatternDetector,
    Phase,
    ReactorRule,
    SendContext,
    State,
    TemporalEvent,
    TemporalPattern,
    Transition,
    key,
    on_phase_change,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.event_observer import MAX_CHANGES
from gemini_live_runtime.session.agent.settle_engine import MAX_PER_S
from gemini_live_runtime.session.agent.throttle import BURST, PER_S
from gemini_live_runtime.session.rules.dispatch import MAX_DEPTH, MAX_EVENTS_PER_TURN, MAX_PER_TURN
from gemini_live_runtime.session.rules.effects import SignalUserActivityEnd, SignalUserActivityStart


async def test_a_rule_that_answers_everything_is_stopped_for_the_rest_of_the_turn() -> None:
    rule = ReactorRule("talks", lambda event, voice, state: [SendContext(("Again.",), "it talks")])
    async with talk(agent().rule(rule)) as t:
        await t.turn()
        await t.passes(60)
        assert 0 < len(t.sent("model context")) <= 2 * MAX_PER_TURN
        warned = [notice for notice in t.all(ev.Notice) if notice.code == "reactor" and "talks" in notice.text]
        assert warned


async def test_a_rule_that_marks_the_users_activity_all_the_time_is_stopped_for_the_rest_of_the_turn() -> None:
    marks = [SignalUserActivityStart(), SignalUserActivityEnd()]
    async with talk(agent().rule(ReactorRule("marks", lambda event, voice, state: marks))) as t:
        for _ in range(MAX_PER_TURN):
            await t.hears("hello")
        assert 0 < len(t.wire) <= 2 * MAX_PER_TURN
        assert [notice for notice in t.all(ev.Notice) if notice.code == "reactor" and "marks" in notice.text]


async def test_however_often_the_user_speaks_in_a_turn_each_time_is_marked() -> None:
    async with talk(agent().turn_taking("client")) as t:
        await t.hears("hello")
        observer = t.stage.session.orchestrator.observer
        for speaking in [True, False] * MAX_PER_TURN:
            observer.on_user_speech(speaking)
        await t.rests()
        assert len(t.wire) == 2 * MAX_PER_TURN


async def test_a_rule_that_answers_its_own_errors_is_stopped_for_the_rest_of_the_turn() -> None:
    error = EmitEvent(ev.Notice(level="error", code="mine", text="Again."))
    async with talk(agent().rule(ReactorRule("talks", lambda event, voice, state: [error]))) as t:
        await t.turn()
        await t.passes(60)
        notices = t.all(ev.Notice)
        assert [notice for notice in notices if notice.code == "reactor" and "events in a turn" in notice.text]
        assert len(notices) <= 3 * MAX_EVENTS_PER_TURN


async def test_rules_that_set_each_other_off_are_not_asked_further() -> None:
    def answer(event: Any, voice: Any, state: Any) -> list[Any]:
        asked.append(event)
        return [EmitEvent(ev.Notice(level="info", code="mine", text="Again."))]

    asked: list[Any] = []
    async with talk(agent().rule(ReactorRule("talks", answer))) as t:
        await t.rests()
        asked.clear()
        t.stage.session.orchestrator.agent.emit(ev.Notice(level="info", code="mine", text="First."))
        assert len(asked) == MAX_DEPTH
        assert f"set each other off {MAX_DEPTH} times in a row" in t.all(ev.Notice)[-1].text


async def test_of_changes_without_end_that_wait_for_rules_the_newest_are_told() -> None:
    def hear(event: Any, voice: Any, state: Any) -> tuple[()]:
        told.extend(mutation.new for mutation in getattr(event, "mutations", ()) if mutation.key == "app:x")
        return ()

    told: list[int] = []
    async with talk(agent().rule(ReactorRule("hears", hear))) as t:
        for number in range(BURST + 1):
            await t.writes(x=number)
        told.clear()
        for number in range(MAX_CHANGES + 5):
            t.state.set("app:x", -number)
        await t.passes(1)
        assert told == [-number for number in range(5, MAX_CHANGES + 5)]


async def test_phases_whose_hooks_ask_for_each_other_are_stopped() -> None:
    held: list[LiveHandle] = []

    def asks_for(phase: str) -> Callable[[], None]:
        return lambda: held[0].transition_to(phase) if held else None

    of = agent().phase(
        Phase("a", "A.", on_enter=asks_for("b"), transitions=Transition("b", key("app:go") == 1)),
        Phase("b", "B.", on_enter=asks_for("a"), transitions=Transition("a", CLOSED)),
    )
    async with talk(of) as t:
        held.append(t.handle)
        await t.writes(go=1)
        assert len(t.phases) <= MAX_PER_S + 2
        assert "in a second" in t.failures()[0].error


async def test_transitions_that_a_callback_sets_off_again_and_again_rest_and_it_is_told() -> None:
    held: list[State] = []
    calls = []

    def extracted(name: str, value: Any) -> None:
        calls.append(name)
        if len(calls) < 10 * MAX_PER_S:
            count(held[0])

    extractor = FunctionExtractor(lambda window: {"a": 1}, trigger=on_phase_change("a", "b"))
    of = agent().extract(extractor).on("extracted", extracted)
    of = of.phase(
        Phase("a", "A.", transitions=Transition("b", lambda s: s.get("app:n", 0) % 2 == 1)),
        Phase("b", "B.", transitions=Transition("a", lambda s: s.get("app:n", 0) % 2 == 0)),
    )
    async with talk(of) as t:
        held.append(t.state)
        await t.turn()
        await t.writes(n=1)
        assert len(t.phases) <= MAX_PER_S + 1
        assert [notice for notice in t.all(ev.Notice) if notice.code == "phase" and "they rest" in notice.text]


class Overdue(PatternDetector):
    """Detector whose deadline is always over."""

    def __init__(self, wait: float = 0.0, *, finds: bool = False) -> None:
        self.wait, self.finds, self.asked = wait, finds, 0

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        self.asked += 1
        return self.finds

    def reset(self) -> None:
        pass

    def fresh(self) -> Overdue:
        return self

    def deadline(self, now: float) -> float | None:
        return self.wait


@pytest.mark.parametrize("wait", [0.0, -1.0, 1e-9])
@pytest.mark.parametrize("finds", [False, True], ids=["finds nothing", "fires"])
async def test_a_detector_whose_deadline_is_always_over_is_reported_and_not_asked_without_end(
    wait: float, finds: bool
) -> None:
    async with talk(pattern(overdue := Overdue(wait, finds=finds))) as t:
        await t.turn()
        await t.passes(3)
        told, asked = [fault for fault in t.failures() if "deadline()" in fault.error], overdue.asked
        await t.passes(5)
        assert 0 < len([fault for fault in t.failures() if "deadline()" in fault.error]) <= len(told) + 1
        assert overdue.asked <= asked + 5


async def test_a_pattern_that_is_complete_is_not_asked_during_its_cooldown() -> None:
    complete = TemporalPattern("complete", overdue := Overdue(finds=True), lambda: None, cooldown_s=60)
    async with talk(agent().pattern(complete)) as t:
        await t.turn()
        asked = overdue.asked
        await t.passes(50)
        assert overdue.asked <= asked + 5
        await t.passes(20)
        assert len(t.all(ev.PatternFired)) == 2


def by_a_thread(state: State) -> None:
    writing = threading.Thread(target=count, args=(state,))
    writing.start()
    writing.join(60)


def by_an_executor(state: State) -> None:
    with ThreadPoolExecutor(1) as executor:
        executor.submit(count, state).result(60)


def by_a_callback_in_a_context_of_its_own(state: State) -> None:
    asyncio.get_running_loop().call_soon(count, state, context=Context())


def by_a_task_in_a_context_of_its_own(state: State) -> None:
    asyncio.get_running_loop().create_task(write(state), context=Context())


async def write(state: State) -> None:
    count(state)


@pytest.mark.parametrize("what", CLOSURES)
@pytest.mark.parametrize(
    "by",
    [
        by_a_thread,
        by_an_executor,
        by_a_callback_in_a_context_of_its_own,
        by_a_task_in_a_context_of_its_own,
    ],
)
async def test_what_code_that_decides_has_written_elsewhere_does_not_call_for_it_without_end(
    by: Any, what: str
) -> None:
    held: list[State] = []
    calls = []

    def decide() -> int:
        calls.append(1)
        if held and len(calls) < 10_000:
            by(held[0])
        return 0

    async with talk(CLOSURES[what](decide)) as t:
        held.append(t.state)
        await t.turn()
        await t.writes(other=1)
        await t.passes(20)
        # At the pace, each decision of a step may be asked for a few times.
        assert len(calls) <= 6 * (BURST + 20 * PER_S)
        if len(calls) > BURST:
            assert [notice for notice in t.all(ev.Notice) if notice.code in ("state", "watchers")]
        held.clear()
