"""Deciding code reads state and never writes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextvars import Context
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    EVERY_TURN,
    ComputedVar,
    ContextBuilder,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    LiveHandle,
    Origin,
    PatternDetector,
    Phase,
    RateDetector,
    ReactorRule,
    State,
    StateKey,
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
from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import MAX_FRAMES
from gemini_live_runtime.conversation.extraction import ExtractedFields
from gemini_live_runtime.errors import AgentError, StateError
from gemini_live_runtime.state.guards import Guard


def count(state: State) -> Any:
    return state.modify("app:n", 0, lambda n: n + 1)


CLOSED = key("app:x") == 1


def phases(when: Any = CLOSED, first: Any = "One.", **of_second: Any) -> tuple[Phase, Phase]:
    return Phase("one", first, transitions=Transition("two", when)), Phase("two", "Two.", terminal=True, **of_second)


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


@pytest.mark.parametrize("what", WRITERS)
async def test_code_that_decides_cannot_write_and_is_reported_by_its_place(what: str) -> None:
    async with talk(WRITERS[what]) as t:
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None
        fault = t.failures()[0]
        assert "app:n cannot be written here" in fault.error
        assert "test_deciding_code" in fault.defined_at


@pytest.mark.parametrize(
    "write",
    [
        lambda s: s.set("app:n", 1),
        lambda s: s.remove("app:x"),
        lambda s: s.__setitem__("app:n", 1),
        lambda s: s.__delitem__("app:x"),
        lambda s: s.app.set("n", 1),
        lambda s: s.app.__setitem__("n", 1),
        lambda s: s.clear_scope("app"),
        lambda s: s.transaction(),
    ],
    ids=["set", "remove", "item", "del", "scope", "scope item", "clear", "transaction"],
)
async def test_no_way_to_write_is_open_to_a_guard(write: Any) -> None:
    async with talk(agent().state(values={"app:x": 5}).phase(*phases(lambda s: write(s) or True))) as t:
        await t.turn()
        assert t.phases == ["one"]
        assert "cannot be written here" in t.failures()[0].error
        assert (t.state["app:x"], t.state.get("app:n")) == (5, None)


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


def in_this_context(work: Callable[[State], Any], state: State) -> Any:
    return work(state)


def in_a_context_of_its_own(work: Callable[[State], Any], state: State) -> Any:
    return Context().run(work, state)


def as_another_writer(work: Callable[[State], Any], state: State) -> Any:
    def write() -> Any:
        with state.writing_as(Origin("tool", "mine")):
            return work(state)

    return Context().run(write)


@pytest.mark.parametrize("run", [in_this_context, in_a_context_of_its_own, as_another_writer])
@pytest.mark.parametrize("what", CLOSURES)
async def test_code_that_decides_cannot_write_through_a_state_it_got_elsewhere(what: str, run: Any) -> None:
    held: list[State] = []
    calls = []

    def write() -> Any:
        calls.append(1)
        # Without the refusal each decision would call for the next one.
        return run(count, held[0]) if held and len(calls) < 100 else 0

    async with talk(CLOSURES[what](write)) as t:
        held.append(t.state)
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None
        fault = t.failures()[0]
        assert "app:n cannot be written here" in fault.error
        assert "test_deciding_code" in fault.defined_at


@pytest.mark.parametrize(
    "write",
    [
        lambda s: s.set("app:n", 1),
        lambda s: s.remove("app:x"),
        lambda s: s.modify("app:n", 0, lambda n: n + 1),
        lambda s: s.app.set("n", 1),
        lambda s: s.clear_scope("app"),
        lambda s: write_at_once(s),
        lambda s: Context().run(write_at_once, s),
        lambda s: asyncio.get_running_loop().create_task(write_later(s)),
        lambda s: s.set_derived("n", 1),
        lambda s: s.remove_derived("five"),
        lambda s: s.provide("app:n", lambda: 1),
        lambda s: s.declare(StateKey("app:x", str)),
        lambda s: s.redeclare([StateKey("app:x", str)]),
    ],
    ids=[
        *("set", "remove", "modify", "scope", "clear", "transaction", "context", "task"),
        *("derived", "remove derived", "provide", "declare", "redeclare"),
    ],
)
async def test_no_way_to_write_is_open_to_a_guard_with_the_sessions_own_state(write: Any) -> None:
    held: list[State] = []
    of = agent().state(values={"app:x": 5}).phase(*phases(lambda s: bool(held) and write(held[0]) and False))
    async with talk(of.computed(ComputedVar("five", key("app:x") == 5))) as t:
        held.append(t.state)
        await t.turn()
        assert (t.state["app:x"], t.state.get("app:n"), t.state.get("n"), t.state["five"]) == (5, None, None, True)
        t.state.set("app:x", 6)


def write_at_once(state: State) -> None:
    with state.transaction() as transaction:
        transaction.set("app:n", 1)


async def write_later(state: State) -> None:
    with pytest.raises(StateError, match="decides"):
        state.set("app:n", 1)


async def test_who_reads_a_change_of_state_cannot_change_it() -> None:
    def spoils(event: Any, voice: Any, state: State) -> None:
        for mutation in getattr(event, "changes", ()):
            if mutation.key == "app:list":
                mutation.new.append("rule")

    of = agent().rule(ReactorRule("spoils", spoils)).phase(*phases(key("app:list").contains(9)))
    async with talk(of) as t:
        t.state.set("app:list", [1])
        await t.rests()
        change = next(event for event in t.all(ev.StateChanged) if event.key == "app:list")
        change.new.append("event")
        evidence = t.state.evidence("app:list")
        assert evidence is not None
        evidence.new.append("evidence")
        t.handle.explain()["transitions"][0]["guard"]["reads"][0]["value"].append("explanation")
        assert t.state["app:list"] == [1]


class Dumped:
    """Value whose JSON is code of an author, as that of pydantic models is."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"n": self._write()}


class Listed(list[int]):
    """List whose reading is code of an author."""

    def __init__(self, write: Write) -> None:
        super().__init__([1])
        self._write = write

    def __iter__(self) -> Any:
        self._write()
        return super().__iter__()


class Said:
    """Result that is no text, and whose description is code of an author."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def __repr__(self) -> str:
        return f"<{self._write()}>"


class Waited(float):
    """Number whose comparison is code of an author."""

    write: Write

    def __le__(self, other: float) -> bool:
        return self.write() is None

    __ge__ = __le__


def waited(write: Write) -> Waited:
    seconds = Waited(0.5)
    seconds.write = write
    return seconds


class Described(Counts):
    """Detector whose deadline and progress are of an author's classes."""

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        return False

    def deadline(self, now: float) -> float | None:
        return waited(self.write)

    def progress(self, now: float) -> Any:
        return Said(self.write)


RESULTS: dict[str, Callable[[Write], Live]] = {
    "a computed model": lambda w: agent().computed(ComputedVar("n", lambda s: Dumped(w), "app:other")),
    "a computed list": lambda w: agent().computed(ComputedVar("n", lambda s: Listed(w), "app:other")),
    "an instruction": lambda w: agent().phase(*phases(first=lambda s: Said(w))),
    "a modifier": lambda w: agent().in_every_phase(InstructionModifier.custom(lambda s: Said(w))),  # type: ignore[arg-type,return-value]
    "a detector's": lambda w: pattern(Described(w)),
}


@pytest.mark.parametrize("what", RESULTS)
async def test_the_result_of_code_that_decides_cannot_write_as_it_is_read(what: str) -> None:
    held: list[State] = []

    def write() -> Any:
        return count(held[0]) if held else 0

    async with talk(RESULTS[what](write)) as t:
        held.append(t.state)
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None


@pytest.mark.parametrize("run", [in_this_context, in_a_context_of_its_own])
@pytest.mark.parametrize("callback", ["instruction_amendment", "instruction_template"])
async def test_what_an_async_listener_decides_cannot_write_after_it_waited(callback: str, run: Any) -> None:
    held: list[State] = []

    async def told(state: State) -> str:
        await asyncio.sleep(0.1)
        for one in held:
            run(count, one)
        return "Yes."

    async with talk(agent().on(callback, told)) as t:
        held.append(t.state)
        await t.turn()
        await t.passes(1)
        assert t.state.get("app:n") is None
        assert "app:n cannot be written here" in t.failures()[0].error


async def test_an_async_listener_that_decides_gets_what_it_awaits() -> None:
    async def told(state: State) -> str:
        try:
            await asyncio.wait_for(asyncio.sleep(9), 0.1)
        except TimeoutError:
            return f"Be {await asyncio.sleep(0.1, 'brief')}."
        return ""

    async with talk(agent().on("instruction_amendment", told)) as t:
        await t.turn()
        assert t.failures() == []
        assert "Be brief." in t.setup["systemInstruction"]["parts"][0]["text"]


class OddTextError(Exception):
    """Exception whose text is code of an author."""

    write: Write

    def __str__(self) -> str:
        return f"{self.write()}"


@pytest.mark.parametrize("run", [in_this_context, in_a_context_of_its_own])
@pytest.mark.parametrize("what", CLOSURES)
async def test_the_text_of_a_fault_of_code_that_decides_cannot_write(what: str, run: Any) -> None:
    held: list[State] = []

    def fail() -> Any:
        fault = OddTextError()
        fault.write = lambda: run(count, held[0])
        raise fault if held else ValueError

    async with talk(CLOSURES[what](fail)) as t:
        held.append(t.state)
        await t.turn()
        await t.writes(other=1)
        assert t.state.get("app:n") is None
        assert "its text cannot be read" in t.failures()[-1].error


async def test_of_an_endless_recursion_the_innermost_calls_are_reported() -> None:
    def amend(state: State) -> str:
        return amend(state)

    async with talk(agent().on("instruction_amendment", amend)) as t:
        await t.turn()
        lines = [event.text for event in t.all(ev.Log)]
        assert 0 < len([line for line in lines if "in amend" in line]) <= MAX_FRAMES
        assert [line for line in lines if "RecursionError" in line]


async def test_a_fault_of_code_that_decides_is_counted() -> None:
    def amend(state: State) -> str:
        raise RuntimeError("on purpose")

    async with talk(agent().on("instruction_amendment", amend)) as t:
        await t.turn()
        assert {fault.where for fault in t.failures()} == {"instruction_amendment"}
        assert t.state.get("session:error_count") > 0


async def test_code_that_decides_cannot_write_by_another_name() -> None:
    held: list[State] = []

    def decide(state: State) -> bool:
        for one in held:
            with one.writing_as(Origin("tool", "mine")):
                count(one)
        return False

    async with talk(agent().phase(*phases(decide))) as t:
        held.append(t.state)
        await t.turn()
        assert t.state.get("app:n") is None
        assert "app:n cannot be written here" in t.failures()[0].error


def test_a_guard_of_a_class_of_its_own_is_refused() -> None:
    with pytest.raises(AgentError, match="Give a function of the state"):
        type("Weekend", (Guard,), {"__module__": __name__})


@pytest.mark.parametrize("method", ["get", "get_raw", "__getitem__"])
@pytest.mark.parametrize("is_held", [False, True], ids=["view", "state held"])
async def test_code_that_decides_gets_no_value_by_which_it_could_change_state(method: str, is_held: bool) -> None:
    held: list[State] = []

    def full(state: State) -> bool:
        reader = held[0] if is_held and held else state
        getattr(reader, method)("app:basket").append("cake")
        return False

    of = agent().state(values={"app:basket": ["soup"]}).phase(*phases(full))
    async with talk(of) as t:
        held.append(t.state)
        await t.turn()
        assert t.state["app:basket"] == ["soup"]


class Asks:
    """Extractor that decides by a function if it runs."""

    name, window, trigger, deadline_s = "asks", 1, EVERY_TURN, 5.0
    promotions = ()

    def __init__(self, should_extract: Callable[[TranscriptWindow], Any]) -> None:
        self.should_extract = should_extract

    async def extract(self, window: TranscriptWindow, model: TextModel | None) -> ExtractedFields:
        return ExtractedFields({"a": 1}, ())


async def test_an_extractor_that_decides_if_it_runs_cannot_write() -> None:
    held: list[State] = []
    async with talk(agent().extract(Asks(lambda window: count(held[0])))) as t:
        held.append(t.state)
        await t.turn()
        assert t.state.get("app:n") is None
        (failed,) = t.all(ev.ExtractionFailed)
        assert "app:n cannot be written here" in failed.reason
        assert "test_deciding_code" in failed.raised_at


async def test_a_format_of_context_gets_a_copy_of_the_value() -> None:
    shown = ContextBuilder().section("Basket").format("app:list", lambda items: items.append(9) or str(items))
    async with talk(agent().state(values={"app:list": [1]}).in_every_phase(shown.as_modifier())) as t:
        await t.turn()
        assert t.state["app:list"] == [1]


@pytest.mark.parametrize(
    "act",
    [
        lambda handle: handle.prompt(),
        lambda handle: handle.send_context("Again."),
        lambda handle: handle.update_instruction("Again."),
        lambda handle: handle.transition_to("two"),
        lambda handle: handle.writer().prompt_model("again"),
        lambda handle: handle.agents.cancel_all(),
    ],
    ids=["prompt", "context", "instruction", "phase", "writer", "agents"],
)
@pytest.mark.parametrize("run", [in_this_context, in_a_context_of_its_own])
async def test_code_that_decides_cannot_act_through_the_handle(act: Any, run: Any) -> None:
    held: list[LiveHandle] = []
    calls = []

    def amendment(state: State) -> str:
        calls.append(1)
        if held and len(calls) < 100:
            run(act, held[0])
        return "Yes."

    async with talk(agent().phase(*phases()).on("instruction_amendment", amendment)) as t:
        held.append(t.handle)
        await t.turn()
        assert (t.phases, len(calls) < 10) == (["one"], True)
        assert "Code that decides cannot" in t.failures()[0].error


class Failing:
    """A background agent that fails at once."""

    async def run(self, state: State) -> None:
        raise ConnectionError("the bureau is down")


@pytest.mark.parametrize("kept", [False, True], ids=["handle", "writer kept"])
async def test_a_guard_that_starts_work_fails_and_does_not_call_for_itself_again(kept: bool) -> None:
    held: list[Any] = []
    calls = []

    def checked(state: State) -> bool:
        calls.append(1)
        if held and len(calls) < 100:
            if kept:
                held[0].send_context(["again"])
            else:
                held[0].agents.dispatch("credit", Failing(), held[0].state)
        return False

    async with talk(agent().phase(*phases(checked))) as t:
        held.append(t.handle.writer() if kept else t.handle)
        await t.turn()
        assert len(calls) < 10
        assert "Code that decides cannot" in t.failures()[0].error


async def no(*_: Any) -> bool:
    return False


def one_field(condition: Any) -> Live:
    promotion = FieldPromotion.overwrite("agreed").when(condition)
    return agent().extract(FunctionExtractor(lambda window: {"agreed": True}, promotions=[promotion]))


def formatted(text: Any) -> Live:
    shown = ContextBuilder().format("app:shown", lambda value: text(value, State()))
    return agent().state(values={"app:shown": 1}).in_every_phase(shown.as_modifier())


ASYNC: dict[str, Live] = {
    "a format": formatted(no),
    "a guard": agent().phase(*phases(lambda s: no())),
    "a condition": one_field(lambda value, s: no()),
    "an extractor": agent().extract(Asks(no)),
    "a predicate": agent().watch(Watcher(WatchPredicate.custom("app:x", lambda o, n: no()), print)),
    "an event of a detector": pattern(RateDetector(lambda event: no(), 1, 1)),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("what", ASYNC)
async def test_a_coroutine_in_place_of_a_decision_is_not_taken_for_true(what: str) -> None:
    async with talk(ASYNC[what]) as t:
        await t.writes(x=1)
        await t.turn()
        assert t.phases in ([], ["one"])
        assert t.state.get("app:agreed") is None
        assert [*t.all(ev.WatcherFired), *t.all(ev.PatternFired)] == []
        refused = [decided.reason for decided in (*t.all(ev.PromotionDecided), *t.all(ev.ExtractionFailed))]
        assert "coroutine" in (refused or [fault.error for fault in t.failures()])[0]


async def later() -> AsyncIterator[bool]:
    yield False


@pytest.mark.parametrize("condition", [one_field, formatted, lambda of: agent().phase(*phases(lambda s: of(None, s)))])
@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (lambda value, s: (found for found in [False]), "generator"),
        (lambda value, s: later(), "async_generator"),
        (lambda value, s: asyncio.get_running_loop().create_future(), "Future"),
        (lambda value, s: lambda: False, "function"),
        (lambda value, s: s.get, "function"),
        (lambda value, s: print, "function"),
    ],
    ids=["generator", "async generator", "future", "function", "method", "builtin"],
)
async def test_what_is_always_true_is_no_decision(of: Any, kind: str, condition: Callable[[Any], Live]) -> None:
    async with talk(condition(of)) as t:
        await t.turn()
        assert t.phases in ([], ["one"])
        assert t.state.get("app:agreed") is None
        refused = [decided.reason for decided in (*t.all(ev.PromotionDecided), *t.all(ev.ExtractionFailed))]
        assert f"it returned a {kind}, which is no decision" in (refused or [fault.error for fault in t.failures()])[0]
