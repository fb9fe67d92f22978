"""Give agents code that decides, at every place where an author can."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any

from tests.session.talking import agent

from gemini_live_runtime import (
    EVERY_TURN,
    ComputedVar,
    InstructionModifier,
    Live,
    Origin,
    PatternDetector,
    Phase,
    RateDetector,
    ReactorRule,
    State,
    SustainedDetector,
    TemporalEvent,
    TemporalPattern,
    TextModel,
    TranscriptWindow,
    Transition,
    Watcher,
    WatchPredicate,
    key,
)
from gemini_live_runtime.conversation.extraction import ExtractedFields


def count(state: State) -> Any:
    """Write to the state, which code that decides may not."""
    return state.modify("app:n", 0, lambda n: n + 1)


CLOSED = key("app:x") == 1


def phases(when: Any = CLOSED, first: Any = "One.", **of_second: Any) -> tuple[Phase, Phase]:
    return Phase("one", first, transitions=Transition("two", when)), Phase("two", "Two.", terminal=True, **of_second)


class Counts(PatternDetector):
    """Detector that calls a function at every event."""

    def __init__(self, write: Callable[[], Any]) -> None:
        self.write = write

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        return bool(self.write()) and False

    def reset(self) -> None:
        pass

    def fresh(self) -> Counts:
        return self


def pattern(detector: PatternDetector) -> Live:
    return agent().pattern(TemporalPattern("counts", detector, lambda: None))


Write = Callable[[], Any]


class Truth:
    """Result whose truth is code of an author."""

    def __init__(self, truth: Write) -> None:
        self._truth = truth

    def __bool__(self) -> bool:
        return bool(self._truth() > 10**9)


WRITERS: dict[str, Live] = {
    "a guard": agent().phase(*phases(lambda s: count(s) > 10**9)),
    "the guard of a target": agent().phase(*phases(lambda s: True, guard=lambda s: count(s) > 10**9)),
    "an instruction": agent().phase(*phases(first=lambda s: f"Count {count(s)}.")),
    "a modifier": agent().in_every_phase(InstructionModifier.custom(lambda s: f"Count {count(s)}.")),
    "a guard of a modifier": agent().in_every_phase(InstructionModifier.when(lambda s: count(s) > 0, "Often.")),
    "an amendment": agent().on("instruction_amendment", lambda state: f"Count {count(state)}."),
    "a template": agent().on("instruction_template", lambda state: f"Count {count(state)}."),
    "a computed value": agent().computed(ComputedVar("n", lambda s: count(s), "app:x")),
    "a rule": agent().rule(ReactorRule("counts", lambda event, voice, state: count(state) and ())),
}
"""Agents in which code at one place writes to the state that it is given."""

CLOSURES: dict[str, Callable[[Write], Live]] = {
    "a guard": lambda w: agent().phase(*phases(lambda s: w() > 10**9)),
    "the truth of a guard's result": lambda w: agent().phase(*phases(lambda s: Truth(w))),
    "the guard of a target": lambda w: agent().phase(*phases(lambda s: True, guard=lambda s: w() > 10**9)),
    "an instruction": lambda w: agent().phase(*phases(first=lambda s: f"Count {w()}.")),
    "a modifier": lambda w: agent().in_every_phase(InstructionModifier.custom(lambda s: f"Count {w()}.")),
    "an amendment": lambda w: agent().on("instruction_amendment", lambda state: f"Count {w()}."),
    "a template": lambda w: agent().on("instruction_template", lambda state: f"Count {w()}."),
    "a computed value": lambda w: agent().computed(ComputedVar("n", lambda s: w(), "app:other")),
    "a rule": lambda w: agent().rule(ReactorRule("counts", lambda event, voice, state: w() and ())),
    "a predicate": lambda w: agent().watch(Watcher(WatchPredicate.custom("app:other", lambda o, n: w()), print)),
    "a watched guard": lambda w: agent().watch(Watcher(WatchPredicate.became_true(lambda s: w() > 10**9), print)),
    "a guard of a detector": lambda w: pattern(SustainedDetector(lambda s: w() > 10**9, 1)),
    "an event of a detector": lambda w: pattern(RateDetector(lambda event: w() > 10**9, 3, 1)),
    "a detector": lambda w: pattern(Counts(w)),
}
"""Agents in which an author's code at one place calls a given function."""


def in_this_context(work: Callable[[State], Any], state: State) -> Any:
    return work(state)


def in_a_context_of_its_own(work: Callable[[State], Any], state: State) -> Any:
    return Context().run(work, state)


def as_another_writer(work: Callable[[State], Any], state: State) -> Any:
    def write() -> Any:
        with state.writing_as(Origin("tool", "mine")):
            return work(state)

    return Context().run(write)


class Asks:
    """Extractor that decides by a function if it runs."""

    name, window, trigger, deadline_s = "asks", 1, EVERY_TURN, 5.0
    promotions = ()

    def __init__(self, should_extract: Callable[[TranscriptWindow], Any]) -> None:
        self.should_extract = should_extract

    async def extract(self, window: TranscriptWindow, model: TextModel | None) -> ExtractedFields:
        return ExtractedFields({"a": 1}, ())
