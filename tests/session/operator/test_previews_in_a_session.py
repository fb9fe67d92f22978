"""A preview predicts the effects of an edit, for edits and agents of all kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as HypothesisPhase
from hypothesis import strategies as st
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import (
    ComputedVar,
    Live,
    PatternDetector,
    Phase,
    RateDetector,
    State,
    StateKey,
    SustainedDetector,
    TemporalEvent,
    TemporalPattern,
    Transition,
    TurnCountDetector,
    Watcher,
    key,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents import (
    call_screening,
    clinic,
    concierge,
    debt_collection,
    restaurant,
    tech_support,
)
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.conversation.text_model import TextRequest
from gemini_live_runtime.session.control import preview_runner
from gemini_live_runtime.session.definition.callbacks import EventCallbacks
from gemini_live_runtime.state.guards import Guard

T = TypeVar("T")

NAMES = ("app:a", "app:b", "user:c", "bare", "turn:d")
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 9), st.floats(-1, 9, width=16), st.sampled_from(["", "x", "y"])
)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    # The limit is in real seconds, which a busy machine may keep from the thread; it has a test of its own.
    monkeypatch.setattr(preview_runner, "TIMEOUT_S", 60.0)


WITHOUT_SHRINKING = (HypothesisPhase.explicit, HypothesisPhase.reuse, HypothesisPhase.generate)
"""A smaller agent is found in minutes only."""


def pick(draw: st.DrawFn, items: Sequence[T]) -> T:
    """Draw one of items that other ones were drawn for.

    `sampled_from` would check such a new strategy each time, which takes longer than drawing.
    """
    return items[draw(st.integers(0, len(items) - 1))]


def nothing() -> None:
    """Do nothing, as an action."""


def fill(state: State) -> None:
    """Fill what phases may require."""
    for name in ("app:a", "app:b", "user:c"):
        state.set(name, 1)


# -- agents ----------------------------------------------------------------------------------------------------------


@st.composite
def guards(draw: st.DrawFn, names: tuple[str, ...] = (*NAMES, "derived:one", "two", "session:phase")) -> Guard:
    term = key(pick(draw, names))
    number = draw(st.integers(0, 8))
    guard: Guard = pick(
        draw, [term > number, term <= number, term == "x", term.is_set(), term.is_true(), term.is_missing()]
    )
    match draw(st.integers(0, 5)):
        case 0:
            return guard & draw(guards(names))
        case 1:
            return guard | draw(guards(names))
        case 2:
            return ~guard
        case _:
            return guard


@st.composite
def watchers(draw: st.DrawFn) -> Watcher:
    term = key(pick(draw, (*NAMES, "derived:one", "derived:two", "session:phase", "session:presented:it")))
    number = draw(st.integers(0, 8))
    guard = draw(guards())
    predicates = (
        [
            term.changed(),
            term.changed_to("x"),
            term.changed_from(True),
            term.crossed_above(number),
            term.crossed_below(number),
        ]
        if draw(st.booleans())
        else [guard.became_true(), guard.became_false()]
    )
    predicate = pick(draw, predicates)
    return Watcher(predicate, nothing, blocking=draw(st.booleans()))


class Reached(PatternDetector):
    """Detector of an author that fires when a guard held at `times` changes in a row."""

    def __init__(self, guard: Guard, times: int) -> None:
        self.guard, self.times, self.seen = guard, times, [0]

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Count in a list, which a copy must not share."""
        if event.kind == "state":
            self.seen[0] = self.seen[0] + 1 if self.guard.holds(state) else 0
        return self.seen[0] >= self.times

    def reset(self) -> None:
        """Begin to count anew."""
        self.seen[0] = 0

    def progress(self, now: float) -> str:
        """So many of so many."""
        return f"{self.seen[0]} of {self.times}"


DECIDED_BY_EDITS = ("edit.applied", "watcher.fired", "watchers.missed", "phase.entered", "phase.blocked")


@st.composite
def patterns(draw: st.DrawFn, number: int) -> TemporalPattern:
    """Patterns that an edit starts, stops or completes."""
    count = draw(st.integers(1, 3))
    # An author's own detector is asked in a thread, which takes its time.
    kinds = [
        *[SustainedDetector(draw(guards()), pick(draw, [1.505, 30.0]))] * 3,
        *[RateDetector(pick(draw, DECIDED_BY_EDITS), count, 60.0)] * 3,
        TurnCountDetector(draw(guards()), count),
        Reached(draw(guards()), count),
    ]
    cooldown = pick(draw, [0.0, 0.0, 1.0])
    return TemporalPattern(f"pattern {number}", pick(draw, kinds), nothing, cooldown_s=cooldown)


def both(state: State) -> Any:
    return [state.get("app:a"), state.get("one")]


@st.composite
def agents(draw: st.DrawFn) -> Live:
    of = agent().tools(fill).computed(ComputedVar("one", draw(guards(NAMES))))
    # One agent in four has code that decides: it is asked in a thread.
    of = of.computed(
        ComputedVar("two", both, ("app:a", "one"))
        if draw(st.integers(0, 3)) == 0
        else ComputedVar("two", draw(guards(("app:a", "derived:one"))))
    )
    of = of.watch(*draw(st.lists(watchers(), max_size=5)))
    of = of.pattern(*(draw(patterns(number)) for number in range(draw(st.integers(0, 5)))))
    of = of.state(values={name: draw(VALUES) for name in draw(st.sets(st.sampled_from(NAMES)))})
    if draw(st.booleans()):
        of = of.state(StateKey("app:typed", int))
    if draw(st.integers(0, 3)):
        names = ("first", "second", "third")
        of = of.phase(
            *(
                Phase(
                    name,
                    f"This is {name}.",
                    transitions=[
                        Transition(to, draw(guards()))
                        for to in names
                        if to != name and (to, name) != ("third", "third")
                    ],
                    guard=draw(guards()) if draw(st.booleans()) else None,
                    requires=draw(st.sets(st.sampled_from(NAMES[:3]), max_size=1)),
                    clear_on_enter=draw(st.sets(st.sampled_from(NAMES), max_size=2)),
                    presents=pick(draw, [(), ("it",)]),
                    tools=pick(draw, [None, ()]),
                )
                for name in names
            )
        )
        if draw(st.booleans()):
            of = of.repair()
    return of


@cache
def _some_of(names: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)


@st.composite
def edits(draw: st.DrawFn, names: tuple[str, ...] = (*NAMES, "app:typed")) -> tuple[dict[str, Any], ...]:
    found: list[dict[str, Any]] = []
    for name in draw(_some_of(names)):
        remove = draw(st.integers(0, 4)) == 0
        found.append({"key": name, "remove": True} if remove else {"key": name, "value": draw(VALUES)})
    return tuple(found)


# -- what was said and what happened ---------------------------------------------------------------------------------


HOW: Counter[str] = Counter()
"""Number of pattern outcomes over all edits."""


async def agrees(t: Talk, wanted: tuple[dict[str, Any], ...], number: int, *, actions: bool = False) -> int:
    """Preview an edit, apply it, and compare; return 1 when it was applied.

    With `actions` compare only the effects before the first action.
    """
    session, machine = t.stage.session, t.stage.session.orchestrator.agent.phases
    state = t.state
    before = {name: state.own(name) for name in state.keys("derived")}
    outcomes = [] if machine is None else [way.outcome for way in machine.machine.consider_transitions(state)]
    previews = len(t.all(ev.EditPreviewed))
    await session.command(cmd.Command(f"p{number}", cmd.PreviewEdit(edits=wanted)))
    await t.rests()
    (said,) = t.all(ev.EditPreviewed)[previews:]
    assert {name: state.own(name) for name in state.keys("derived")} == before
    seen = len(t.stage.sink.events)
    phase = t.handle.phase
    noticing = session.orchestrator.settle.temporal
    standing = {
        item.name: item.in_progress for item in noticing.forecast(state, session.orchestrator.agent.clock.now())
    }
    await session.command(cmd.Command(f"e{number}", cmd.EditState(edits=wanted)))
    await t.rests()
    happened = [event.payload for event in t.stage.sink.events[seen:]]
    refused = [event.reason for event in happened if isinstance(event, ev.CommandRefused)]
    assert said.problem == "".join(refused)
    if refused:
        return 0
    (applied,) = (event for event in happened if isinstance(event, ev.EditsApplied))
    at = next(event.t for event in t.stage.sink.events[seen:] if event.payload is applied)
    assert said.values == applied.values
    fired = [
        {
            "name": event.watcher,
            "key": event.key,
            "old": event.old,
            "new": event.new,
            "explanation": event.explanation,
            "muted": event.muted,
        }
        for event in happened
        if isinstance(event, ev.WatcherFired)
    ]
    if actions and any(not firing["muted"] for firing in fired):
        first = next(place for place, firing in enumerate(fired) if not firing["muted"])
        assert list(said.watchers)[: first + 1] == fired[: first + 1]
        return 1
    assert list(said.watchers) == fired
    # What happens later, time alone has brought about.
    noticed = Counter(
        event.payload.pattern
        for event in t.stage.sink.events[seen:]
        if isinstance(event.payload, ev.PatternFired) and event.t < at + 0.0005
    )
    assert {item["name"]: item["times"] for item in said.patterns if item["how"] == "fires"} == noticed
    turned = {
        item.name: "begins" if item.in_progress else "ends"
        for item in noticing.forecast(state, session.orchestrator.agent.clock.now())
        if item.in_progress != standing[item.name] and item.name not in noticed
    }
    assert {item["name"]: item["how"] for item in said.patterns if item["how"] in ("begins", "ends")} == turned
    HOW.update(item["how"] for item in said.patterns)
    entered = [event.phase for event in happened if isinstance(event, ev.PhaseEntered)]
    assert [said.phase] if said.phase else entered == []
    changed = [event for event in happened if isinstance(event, ev.StateChanged) and event.key.startswith("derived:")]
    if not actions or not entered:
        after = {name: state.own(name) for name in state.keys("derived")}
        turned = {name for name in {*before, *after} if repr(before.get(name)) != repr(after.get(name))}
        assert {item["key"] for item in said.derived} == turned
        assert {item["key"]: item["new"] for item in said.derived} == {name: after.get(name) for name in turned}
        assert turned <= {change.key for change in changed}
    if machine is not None and not entered and t.handle.phase == phase:
        now = [way.outcome for way in machine.machine.consider_transitions(state)]
        differing = [(old, new) for old, new in zip(outcomes, now, strict=True) if old != new]
        assert [(way["before"], way["after"]) for way in said.guards] == differing
    return 1


def test_over_a_thousand_edits_what_a_preview_says_is_what_then_happens() -> None:
    made: list[int] = []

    @settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), phases=WITHOUT_SHRINKING)
    @given(agents(), st.lists(edits(), min_size=5, max_size=5), st.data())
    def tried(of: Live, wanted: list[tuple[dict[str, Any], ...]], data: st.DataObject) -> None:
        async def main() -> None:
            async with talk(of) as t:
                names = [status.name for status in t.stage.session.orchestrator.settle.watchers.status]
                if names:
                    t.handle.mute_watcher(data.draw(st.sampled_from(names)))
                for number, edit in enumerate(wanted):
                    await t.passes(data.draw(st.sampled_from([0.0, 0.5, 2.0])))
                    made.append(await agrees(t, edit, number))
                assert t.failures() == []

        run_virtual(main())

    HOW.clear()
    tried()
    assert len(made) >= 1000
    # All of it came about because of edits, more than once.
    assert all(HOW[how] >= 2 for how in ("fires", "begins", "ends", "moves")), HOW
    # Most of them could be made.
    assert sum(made) > len(made) // 2


BUNDLED = {
    "call_screening": call_screening.call_screening,
    "clinic": clinic.clinic,
    "concierge": concierge.concierge,
    "debt_collection": debt_collection.debt_collection,
    "restaurant": restaurant.restaurant,
    "tech_support": tech_support.tech_support,
}


class Silent:
    """A text model that finds nothing."""

    async def generate(self, request: TextRequest) -> str:
        """Return an empty reply."""
        return "{}"


def without_actions(of: Live) -> Live:
    """Return the agent with its actions replaced by nothing."""
    definition = of.definition
    phases = tuple(
        Phase(
            phase.name,
            phase.instruction,
            transitions=phase.transitions,
            needs=phase.needs,
            tools=phase.tools,
            guard=phase.guard,
            requires=phase.requires,
            presents=phase.presents,
            clear_on_enter=phase.clear_on_enter,
            terminal=phase.terminal,
        )
        for phase in definition.phases
    )
    watchers = tuple(replace(watcher, then=nothing) for watcher in definition.watchers)
    noticing = tuple(replace(pattern, then=nothing) for pattern in definition.patterns)
    quiet = replace(
        definition, phases=phases, watchers=watchers, patterns=noticing, callbacks=EventCallbacks(), rules=()
    )
    return Live(quiet)


def known_keys(of: Live) -> tuple[str, ...]:
    """Return the keys that the agent's decisions depend on."""
    definition = of.definition
    keys = {name for item in definition.computed for name in item.inputs}
    keys |= {name for watcher in definition.watchers for name in watcher.predicate.keys}
    for phase in definition.phases:
        keys |= {need.key for need in (*phase.needs, *phase.requires)}
        keys |= {name for way in phase.transitions for name in way.when.keys}
    keys |= {*definition.initial_state, *(item.key for item in definition.state_keys), "app:other"}
    return tuple(sorted(name for name in keys if not name.startswith(("session:", "derived:"))))


@pytest.mark.parametrize("name", BUNDLED)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
async def test_it_is_so_for_the_bundled_agents_with_and_up_to_their_actions(name: str, data: st.DataObject) -> None:
    whole = BUNDLED[name]()
    wanted = data.draw(st.lists(edits(known_keys(whole)), min_size=1, max_size=4))

    async with talk(without_actions(whole), text_model=Silent()) as t:
        for number, edit in enumerate(wanted):
            await agrees(t, edit, number)
    async with talk(whole, text_model=Silent()) as t:
        await agrees(t, wanted[0], 0, actions=True)
