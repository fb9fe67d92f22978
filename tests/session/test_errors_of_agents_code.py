"""No exception of an agent's code ends its session, also a cancellation."""

from __future__ import annotations

import asyncio
from typing import Any, NoReturn

import pytest
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    MemoryPersistence,
    Phase,
    ReactorRule,
    TemporalPattern,
    TurnCountDetector,
    Watcher,
    WatchPredicate,
    key,
)
from gemini_live_runtime import events as ev


def cancel(*_: Any) -> NoReturn:
    """Raise what `task.result()` of a cancelled task raises."""
    raise asyncio.CancelledError


class UnreadableError(Exception):
    """An exception whose text cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError


def fail(*_: Any) -> NoReturn:
    raise UnreadableError


class LeaveError(BaseException):
    """An exception that is not an `Exception`, like that of `pytest.fail`."""


def leave(*_: Any) -> NoReturn:
    raise LeaveError


def agents(raises: Any) -> dict[str, Live]:
    turns = "session:turn_count"
    one_field = FieldPromotion.overwrite("a").when(lambda value, state: raises())
    return {
        "a guard": agent().phase(*two_phases(lambda s: raises())),
        "an instruction": agent().phase(Phase("first", lambda s: raises(), terminal=True)),
        "a hook": agent().phase(Phase("first", "One.", on_enter=lambda s: raises(), terminal=True)),
        "a modifier": agent().in_every_phase(InstructionModifier.custom(lambda s: raises())),
        "a guard of a modifier": agent().in_every_phase(InstructionModifier.when(lambda s: raises(), "Often.")),
        "a format": agent().in_every_phase(ContextBuilder().format(turns, lambda v: raises()).as_modifier()),
        "an amendment": agent().on("instruction_amendment", lambda state: raises()),
        "a template": agent().on("instruction_template", lambda state: raises()),
        "a computed value": agent().computed(ComputedVar("c", lambda s: raises(), depends_on=turns)),
        "a computed guard": agent().computed(ComputedVar("c", key(turns).is_set() & raises, depends_on=turns)),
        "a rule": agent().rule(ReactorRule("r", lambda e, v, s: raises())),
        "a watched guard": agent().watch(Watcher(WatchPredicate.became_true(lambda s: raises()), lambda s: None)),
        "a test of a change": agent().watch(Watcher(WatchPredicate.custom(turns, raises), lambda s: None)),
        "a detector": agent().pattern(TemporalPattern("p", TurnCountDetector(lambda s: raises(), 2), lambda: None)),
        "an extractor": agent().extract(FunctionExtractor(lambda w: raises(), name="e")),
        "a condition": agent().extract(FunctionExtractor(lambda w: {"a": 1}, name="e", promotions=[one_field])),
        "an inline callback": agent().on("output_transcript", lambda *_: raises()),
        "a callback": agent().on("turn_complete", lambda turn: raises()),
    }


WHAT = list(agents(cancel))


@pytest.mark.parametrize("raises", [cancel, fail, leave])
@pytest.mark.parametrize("what", WHAT)
async def test_an_exception_of_an_agents_code_is_told_and_costs_no_turn(what: str, raises: Any) -> None:
    async with talk(agents(raises)[what]) as t:
        await t.turn()
        await t.turn()
        assert t.state.get("session:turn_count") == 2
        faults = [fault.error for fault in t.failures()]
        faults += [fault.reason for fault in (*t.all(ev.ExtractionFailed), *t.all(ev.PromotionDecided))]
        told = {cancel: "cancelled", fail: "UnreadableError", leave: "LeaveError"}[raises]
        assert [text for text in faults if told in text.lower() or told in text], faults
        assert not [text for text in faults if text.startswith("step ")]


class Unwritable:
    """A value whose serializer raises."""

    def __init__(self, raises: Any) -> None:
        self._raises = raises

    def model_dump(self, mode: str) -> Any:
        return self._raises()


@pytest.mark.parametrize("raises", [cancel, fail, leave])
async def test_a_value_whose_serializer_raises_is_refused(raises: Any) -> None:
    of = agent().extract(FunctionExtractor(lambda window: {"a": Unwritable(raises), "b": 2}, name="e"))
    async with talk(of) as t:
        await t.turn()
        (found,) = t.all(ev.ExtractionFinished)
        assert (found.value, list(found.refused)) == ({"b": 2}, ["a"])


class Store(MemoryPersistence):
    def __init__(self, fails_at: str) -> None:
        super().__init__()
        self._fails_at = fails_at

    async def load(self, session_id: str) -> Any:
        return cancel() if self._fails_at == "load" else None

    async def save(self, snapshot: Any) -> None:
        if self._fails_at == "save":
            cancel()


@pytest.mark.parametrize("fails_at", ["load", "save"])
async def test_a_store_that_cancels_itself_is_told_and_costs_no_turn(fails_at: str) -> None:
    async with talk(agent().persistence(Store(fails_at), "x")) as t:
        await t.turn()
        await t.turn()
        assert t.state.get("session:turn_count") == 2
        assert [notice for notice in t.all(ev.Notice) if "CancelledError" in notice.text]


class OddText(str):
    """A text with methods that raise."""

    __slots__ = ()

    def __str__(self) -> NoReturn:
        raise RuntimeError

    def strip(self, *_: Any) -> NoReturn:
        raise RuntimeError

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> NoReturn:
        raise RuntimeError


@pytest.mark.parametrize(
    "of",
    [
        agent().in_every_phase(InstructionModifier.custom(lambda s: OddText("Odd."))),
        agent().in_every_phase(ContextBuilder().format("session:turn_count", lambda v: OddText("Odd.")).as_modifier()),
        agent().phase(*two_phases(key("session:turn_count") == 1, lambda s: OddText("Odd."))),
        agent().phase(*two_phases(key("session:turn_count") == 1, on_enter_context=lambda s: [OddText("Odd.")])),
        agent().on("instruction_amendment", lambda state: OddText("Odd.")),
        agent().on("instruction_template", lambda state: OddText("Odd.")),
    ],
    ids=["modifier", "format", "instruction", "context", "amendment", "template"],
)
async def test_a_text_of_a_class_of_its_own_is_read_as_the_text_it_is(of: Live) -> None:
    async with talk(of) as t:
        await t.turn()
        await t.turn()
        assert t.state.get("session:turn_count") == 2
        assert "Odd." in str(t.setup) + str(t.wire)
        assert not t.failures()
