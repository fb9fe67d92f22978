"""Temporal patterns: when each detector fires, cooldowns, faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.temporal import (
    ConsecutiveFailureDetector,
    PatternDetector,
    RateDetector,
    SustainedDetector,
    TemporalEvent,
    TemporalPattern,
    TemporalRegistry,
    TurnCountDetector,
)
from gemini_live_runtime.state.terms import key

TICK, TURN, STATE = TemporalEvent("tick"), TemporalEvent("turn"), TemporalEvent("state")
INTERRUPTED = TemporalEvent("event", type="interrupted")


def nothing() -> None:
    """Do nothing, as an action."""


def tool(name: str, ok: bool) -> TemporalEvent:
    """Return the event of a call that ended."""
    return TemporalEvent("tool", name=name, ok=ok)


class One:
    """A registry with one pattern."""

    def __init__(self, detector: PatternDetector, **options: Any) -> None:
        self.state = State()
        self.registry = TemporalRegistry([TemporalPattern("p", detector, nothing, **options)])

    def at(self, now: float, event: TemporalEvent = TICK, **values: Any) -> bool:
        """Set values, show the event, and tell whether the pattern fired."""
        for name, value in values.items():
            self.state.set(f"app:{name}", value)
        result = self.registry.observe(event, self.state, now)
        assert not result.faults
        self.said = [firing.explanation for firing in result.fired]
        return bool(result.fired)


ANGRY = key("app:angry").is_true()


def test_a_guard_has_to_hold_on_end() -> None:
    one = One(SustainedDetector(ANGRY, 5))
    assert not one.at(0, STATE, angry=True)
    assert not one.at(2, STATE, angry=False)
    assert not one.at(3, STATE, angry=True)
    assert not one.at(5)
    assert not one.at(7.999)
    assert one.at(8)
    assert one.said == ["app:angry is true for 5 s: 5.0 of 5 s"]


def test_the_timer_is_exact_and_there_is_none_without_need() -> None:
    one = One(SustainedDetector(ANGRY, 5))
    assert one.registry.deadline(0) is None
    one.at(10, STATE, angry=True)
    assert one.registry.deadline(10) == 5
    assert one.registry.deadline(12.5) == 2.5
    one.at(13, STATE, angry=False)
    assert one.registry.deadline(13) is None


@given(st.floats(0, 1e6), st.floats(0.001, 1e4))
def test_a_tick_at_the_deadline_is_never_too_early(start: float, seconds: float) -> None:
    one = One(SustainedDetector(ANGRY, seconds))
    one.at(start, STATE, angry=True)
    wait = one.registry.deadline(start)
    assert wait is not None
    assert one.at(start + wait)
    assert one.registry.deadline(start + wait) is None


def test_a_sustained_pattern_is_acted_upon_once_until_the_guard_was_false() -> None:
    one = One(SustainedDetector(ANGRY, 5))
    one.at(0, STATE, angry=True)
    assert one.at(5)
    assert not any(one.at(now) for now in (6, 10, 100))
    one.at(101, STATE, angry=False)
    one.at(102, STATE, angry=True)
    assert not one.at(106)
    assert one.at(107)


def test_a_pattern_that_outlasts_the_cooldown_fires_when_it_ends() -> None:
    one = One(SustainedDetector(ANGRY, 5), cooldown_s=20)
    one.at(0, STATE, angry=True)
    assert one.at(5)
    one.at(6, STATE, angry=False)
    one.at(7, STATE, angry=True)
    assert not one.at(12)
    assert one.registry.deadline(12) == 13
    assert one.registry.status(12)[0].cooldown_left_s == 13
    assert one.at(25)


def test_a_pattern_that_ends_in_the_cooldown_is_not_acted_upon() -> None:
    one = One(SustainedDetector(ANGRY, 5), cooldown_s=20)
    one.at(0, STATE, angry=True)
    assert one.at(5)
    one.at(6, STATE, angry=False)
    one.at(7, STATE, angry=True)
    assert not one.at(12)
    assert not one.at(24, STATE, angry=False)
    assert one.registry.deadline(24) is None
    assert not one.at(30)


def test_enough_events_within_the_window() -> None:
    one = One(RateDetector("interrupted", 3, 10))
    assert not one.at(0, INTERRUPTED)
    assert not one.at(1, INTERRUPTED)
    assert not one.at(2, TemporalEvent("event", type="turn.completed"))
    assert not one.at(2, TURN)
    assert one.at(10, INTERRUPTED)
    assert one.said == ["3 interrupted within 10 s: 3 of 3 in 10.0 s"]


def test_events_older_than_the_window_do_not_count() -> None:
    one = One(RateDetector("interrupted", 3, 10))
    one.at(0, INTERRUPTED)
    one.at(1, INTERRUPTED)
    assert not one.at(10.5, INTERRUPTED)
    assert one.at(11, INTERRUPTED)


def test_a_rate_is_counted_anew_after_firing() -> None:
    one = One(RateDetector("interrupted", 2, 10))
    assert [one.at(now, INTERRUPTED) for now in range(6)] == [False, True, False, True, False, True]


def test_a_rate_can_be_of_anything_that_happens_but_time() -> None:
    seen: list[str] = []

    def slow(event: TemporalEvent) -> bool:
        seen.append(event.kind)
        return event.kind == "tool" and not event.ok

    one = One(RateDetector(slow, 1, 5))
    assert not one.at(0, TICK)
    assert not one.at(0, STATE)
    assert not one.at(0, TURN)
    assert one.at(1, tool("pay", False))
    assert seen == ["turn", "tool"]


def test_turns_count_turns_and_nothing_else() -> None:
    one = One(TurnCountDetector(ANGRY, 3))
    assert [one.at(n, TURN, angry=angry) for n, angry in enumerate([True, True, False, True, True, True])] == [
        False,
        False,
        False,
        False,
        False,
        True,
    ]
    assert one.said == ["app:angry is true for 3 turns: 3 of 3 turns"]
    for event in (TICK, STATE, INTERRUPTED, tool("pay", True)):
        assert not any(one.at(now, event) for now in range(10, 20))
    assert one.registry.deadline(20) is None


def test_turns_are_counted_anew_after_they_were_acted_upon() -> None:
    one = One(TurnCountDetector(ANGRY, 2))
    assert [one.at(n, TURN, angry=True) for n in range(6)] == [False, True] * 3


def test_a_count_reached_in_the_cooldown_is_acted_upon_at_the_next_turn_after_it() -> None:
    one = One(TurnCountDetector(ANGRY, 2), cooldown_s=10)
    assert [one.at(n, TURN, angry=True) for n in (0, 1, 2, 3, 4)] == [False, True, False, False, False]
    assert not one.at(11)
    assert one.at(12, TURN)


def test_failures_in_a_row_of_one_tool() -> None:
    one = One(ConsecutiveFailureDetector("pay", 3))
    outcomes = [("pay", False), ("pay", False), ("pay", True), ("pay", False), ("look", True), ("pay", False)]
    assert not any(one.at(n, tool(*outcome)) for n, outcome in enumerate(outcomes))
    assert not one.at(7, TICK)
    assert one.at(8, tool("pay", False))
    assert one.said == ["pay fails 3 times in a row: 3 of 3 failures"]
    assert not one.at(9, tool("pay", False))


def test_status_tells_how_far_each_pattern_has_come() -> None:
    registry = TemporalRegistry(
        [
            TemporalPattern("lasting", SustainedDetector(ANGRY, 30), nothing),
            TemporalPattern("often", RateDetector("interrupted", 3, 60), nothing),
            TemporalPattern("turns", TurnCountDetector(ANGRY, 3), nothing),
            TemporalPattern("failing", ConsecutiveFailureDetector("pay", 2), nothing),
        ]
    )
    state = State({"app:angry": True})
    for now, event in enumerate([STATE, INTERRUPTED, TURN, INTERRUPTED, TURN, tool("pay", False)]):
        registry.observe(event, state, now)
    assert [status.progress for status in registry.status(12.5)] == [
        "12.5 of 30 s",
        "2 of 3 in 11.5 s",
        "2 of 3 turns",
        "1 of 2 failures",
    ]
    assert registry.status(0)[0].defined_at.startswith("test_temporal.py:")
    assert registry.deadline(12.5) == 17.5


class EveryThird(PatternDetector):
    """Fires at the third thing that happens."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        self.seen.append(event.kind)
        return len(self.seen) >= 3

    def reset(self) -> None:
        self.seen.clear()


def test_a_detector_of_ones_own_needs_two_methods() -> None:
    one = One(EveryThird())
    assert [one.at(n, TURN) for n in range(6)] == [False, False, True, False, False, True]
    assert one.said == ["EveryThird"]
    assert one.registry.deadline(0) is None


def test_two_sessions_of_one_agent_do_not_share_detectors() -> None:
    for detector, event in ((EveryThird(), TURN), (TurnCountDetector(True, 3), TURN), (RateDetector("x", 3, 9), TURN)):
        pattern = TemporalPattern("p", detector, nothing)
        first, second = TemporalRegistry([pattern]), TemporalRegistry([pattern])
        for now in range(2):
            first.observe(event, State(), now)
        assert not second.observe(event, State(), 2).fired


class Restless(PatternDetector):
    """Raises, and asks for time at once."""

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        raise ValueError("no")

    def reset(self) -> None: ...

    def deadline(self, now: float) -> float | None:
        return 0.0


def test_a_detector_that_raises_is_a_fault_asks_for_no_time_and_the_others_go_on() -> None:
    registry = TemporalRegistry(
        [
            TemporalPattern("bad", Restless(), nothing),
            TemporalPattern("worse", SustainedDetector(lambda s: s["app:none"], 5), nothing),
            TemporalPattern("good", TurnCountDetector(True, 1), nothing),
        ]
    )
    result = registry.observe(TURN, State(), 0)
    assert [fault.pattern.name for fault in result.faults] == ["bad", "worse"]
    assert [firing.pattern.name for firing in result.fired] == ["good"]
    assert registry.deadline(0) is None


class Eager(EveryThird):
    """Asks for time at once, always."""

    def deadline(self, now: float) -> float | None:
        return -1.0


def test_a_detector_that_always_asks_for_time_does_not_stop_the_clock() -> None:
    assert One(Eager()).registry.deadline(0) == 0.001


class Uncopied(EveryThird):
    def __deepcopy__(self, memo: object) -> Uncopied:
        raise TypeError("it holds a socket")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: SustainedDetector(ANGRY, 0), "seconds is a number above 0"),
        (lambda: SustainedDetector(ANGRY, 10**400), "seconds is a number above 0"),
        (lambda: RateDetector("turn.completed", 1, 10**400), "within_s is a number above 0"),
        (lambda: SustainedDetector(ANGRY, True), "seconds"),
        (lambda: SustainedDetector(ANGRY, float("inf")), "seconds"),
        (lambda: RateDetector("", 1, 1), "which events"),
        (lambda: RateDetector("x", 0, 1), "count is a whole number"),
        (lambda: RateDetector("x", 10**5000, 1), "count is at most"),
        (lambda: RateDetector("x", 1, -1), "within_s"),
        (lambda: TurnCountDetector(ANGRY, 1.5), "turns"),  # type: ignore[arg-type]
        (lambda: ConsecutiveFailureDetector("", 1), "name of a tool"),
        (lambda: ConsecutiveFailureDetector("pay", 0), "failures"),
        (lambda: TemporalPattern("", EveryThird(), nothing), "cannot be named"),
        (lambda: TemporalPattern("p", ANGRY, nothing), "not a detector"),  # type: ignore[arg-type]
        (lambda: TemporalPattern("p", EveryThird(), nothing, cooldown_s=-1), "cooldown_s"),
        (lambda: TemporalPattern("p", EveryThird(), 5), "not a function"),  # type: ignore[arg-type]
        (lambda: TemporalRegistry([TemporalPattern("p", EveryThird(), nothing)] * 2), "2 patterns named p"),
        (lambda: TemporalRegistry([TemporalPattern("p", Uncopied(), nothing)]), "holds a socket"),
    ],
)
def test_what_cannot_work_is_refused(build: Any, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        build()
