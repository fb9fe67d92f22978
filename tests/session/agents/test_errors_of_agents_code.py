"""No exception of an agent's code ends its session, also a cancellation."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from tests.session.authors_code import FailingPlace, goes_everywhere, places
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    FunctionExtractor,
    InstructionModifier,
    Live,
    MemoryPersistence,
    Phase,
    TranscriptWindow,
    key,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError


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


ERRORS = (AgentError("boom"), StopIteration("boom"), TimeoutError("boom"), UnreadableError())
"""Exceptions that Python, asyncio or the session treat in their own way."""

SEVERE = (
    asyncio.CancelledError("boom"),
    KeyboardInterrupt("boom"),
    SystemExit("boom"),
    GeneratorExit("boom"),
    LeaveError("boom"),
    BaseExceptionGroup("boom", [KeyboardInterrupt()]),
)
"""Exceptions that end tasks, event loops and programs."""

TOLD = (
    ev.CodeFailed,
    ev.ExtractionFailed,
    ev.PromotionDecided,
    ev.ToolFinished,
    ev.AgentFinished,
    ev.PatternsRead,
    ev.Notice,
)
"""Events that tell of a fault in an author's code."""


def faults() -> Iterator[Any]:
    """Yield each place with one error of both kinds; with all of them for SOAK."""
    for number, place in enumerate(places()):
        two = ERRORS[number % len(ERRORS)], SEVERE[number % len(SEVERE)]
        for error in (*ERRORS, *SEVERE) if os.environ.get("SOAK") else two:
            yield pytest.param(place, error, id=f"{place.name}, {type(error).__name__}")


class Odd:
    """Object without a text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


def without_text(base: type[BaseException]) -> BaseException:
    """Return an exception of a class whose text cannot be read."""
    return type(base.__name__, (base,), {"__str__": Odd.__str__})()


class Nameless(type):
    """Class whose name cannot be read."""

    @property
    def __name__(cls) -> str:
        raise RuntimeError("no name")


TEXTLESS = [
    *map(without_text, (ValueError, KeyError, StopIteration, GeneratorExit, KeyboardInterrupt, SystemExit)),
    KeyError(Odd()),
    SystemExit(Odd()),
    Nameless("", (Exception,), {})("x"),
]


@pytest.mark.parametrize("error", TEXTLESS, ids=range(len(TEXTLESS)))
@pytest.mark.parametrize("is_async", [False, True])
async def test_an_error_whose_text_cannot_be_read_is_reported_like_any_other(
    error: BaseException, is_async: bool
) -> None:
    def fails(window: TranscriptWindow) -> None:
        raise error

    async def fails_later(window: TranscriptWindow) -> None:
        raise error

    def book() -> None:
        """Book."""
        raise error

    async def book_later() -> None:
        """Book."""
        raise error

    extractor = FunctionExtractor(fails_later if is_async else fails, name="fails")
    of = agent().tools(tool(name="book", timeout_s=5)(book_later if is_async else book)).extract(extractor)
    async with talk(of) as t:
        await t.calls("book")
        await t.turn()
        await t.passes(1)
        ((_, _, answer),) = t.sent("answer")
        assert answer["error"]
        assert [failed.extractor for failed in t.all(ev.ExtractionFailed)] == ["fails"]


@pytest.mark.parametrize(("place", "error"), faults())
async def test_an_exception_of_an_authors_code_is_told_and_costs_no_turn(
    place: FailingPlace, error: BaseException
) -> None:
    def fails(*_: Any) -> NoReturn:
        raise error.with_traceback(None)

    async def fails_later(*_: Any) -> NoReturn:
        raise error.with_traceback(None)

    async with talk(place.make(fails_later if place.is_async else fails)) as t:
        await goes_everywhere(t)
        assert t.state.get("session:turn_count") == 3
    assert t.stage.exit_code == 0
    told = [str(event.payload) for event in t.stage.sink.events if isinstance(event.payload, TOLD)]
    signs = ("boom", "cancelled", "cannot be read", type(error).__name__)
    assert [text for text in told if any(sign in text for sign in signs)], told
    assert not [text for text in told if "where='step " in text or "code='internal'" in text]


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


@pytest.mark.parametrize("read", [list, lambda s: s[0], lambda s: s.get(5), lambda s: None in s, lambda s: s[b"app:x"]])
async def test_a_guard_that_reads_what_is_no_key_is_told_so_and_explained(read: Any) -> None:
    first, second = two_phases(lambda state: read(state))
    computed = ComputedVar("n", read, "app:x")
    guarded = Phase("second", second.instruction, terminal=True, guard=read)
    async with talk(agent().computed(computed).phase(first, guarded)) as t:
        await t.turn()
        await t.writes(x=1)
        for fault in t.failures():
            assert "A state key is a text that is not empty, not" in fault.error
        assert t.handle.explain()["phase"] == "first"
        assert t.state["session:turn_count"] == 1
