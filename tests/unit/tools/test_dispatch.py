"""Dispatch of tools: each call ends exactly once."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.declaration import Tool, ToolContext, tool
from gemini_live_runtime.tools.dispatch import MAX_CONCURRENT, Outcome, ToolDispatcher
from gemini_live_runtime.tools.results import (
    MAX_ERROR_CHARS,
    MAX_RESULT_CHARS,
    MAX_RESULT_LEVELS,
    VALUE_CHARS,
    ToolCall,
    error_outcome,
    result_outcome,
)


class Harness:
    def __init__(self, *tools: Tool) -> None:
        self.outcomes: list[Outcome] = []
        self.notes: list[tuple[str, str]] = []
        self._arrived = asyncio.Event()
        self.dispatcher = ToolDispatcher(
            tools,
            clock=LoopClock(),
            on_finished=self._finished,
            on_notify=lambda name, text: self.notes.append((name, text)),
        )

    def _finished(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self._arrived.set()

    async def one(self) -> Outcome:
        while not self.outcomes:
            self._arrived.clear()
            await self._arrived.wait()
        return self.outcomes.pop(0)


def virtually(scenario: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await scenario()

    run_virtual(main())


@dataclass
class Pair:
    a: int
    b: Any


class NotToBeEncoded(list[Any]):
    """List that must not be walked through."""

    def __iter__(self) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("漢" * (17 * 1024 * 1024), "17,825,792"),
        ({"text": "x" * MAX_RESULT_CHARS, "more": ["y"]}, "1,000,072"),
        (NotToBeEncoded([0] * (MAX_RESULT_CHARS // VALUE_CHARS + 1)), "1,000,032"),
        ({"x" * MAX_RESULT_CHARS: 1}, "1,000,032"),
        ([[["x" * 10_000] * 10] * 10] * 2, "1,003,584"),
        (Pair(1, ["x" * MAX_RESULT_CHARS]), "1,000,098"),
    ],
    ids=["text", "fields", "items", "key", "nested", "dataclass"],
)
def test_a_result_too_large_for_a_model_is_an_error_with_size_and_limit(value: Any, size: str) -> None:
    outcome = result_outcome(ToolCall("c1", "give"), value)
    assert outcome.status == "error"
    assert outcome.result == {
        "error": f"The result has at least {size} characters, above the limit of 1,000,000. Return less at a time."
    }


def nested(levels: int) -> Any:
    """Return objects of so many levels."""
    return {} if levels == 1 else {"in": nested(levels - 1)}


def test_a_result_too_deep_for_a_message_is_an_error_with_the_limit() -> None:
    call = ToolCall("c1", "give")
    assert result_outcome(call, nested(MAX_RESULT_LEVELS)).status == "ok"
    outcome = result_outcome(call, nested(MAX_RESULT_LEVELS + 1))
    assert outcome.result == {
        "error": "The result has more than 90 levels of nesting, the limit. Return fewer levels at a time."
    }


@pytest.mark.parametrize(
    "value", [itertools.count(), {"rows": itertools.repeat("x" * 1000)}, [map(str, itertools.count())]]
)
def test_a_result_without_end_is_too_large(value: Any) -> None:
    assert result_outcome(ToolCall("c1", "give"), value).status == "error"


def test_iterators_of_a_result_become_lists() -> None:
    value = {"rows": map(str, range(2)), 1: [zip("ab", (iter([3]), 4), strict=True)], (2,): {5}}
    result = {"rows": ["0", "1"], "1": [[["a", [3]], ["b", 4]]], "2": [5]}
    assert result_outcome(ToolCall("c1", "give"), value).result == result


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_iterators_of_a_result_run_in_a_thread(is_async: bool) -> None:
    ran: list[str] = []

    def fetch(row: int) -> int:
        ran.append(threading.current_thread().name)
        return row

    def rows() -> Any:
        """Give rows."""
        return {"rows": map(fetch, [1, 2])}

    async def rows_later() -> Any:
        """Give rows."""
        return rows()

    async def scenario() -> None:
        harness = Harness(tool(name="rows")(rows_later if is_async else rows))
        harness.dispatcher.start("c1", "rows", {})
        assert (await harness.one()).result == {"rows": [1, 2]}

    virtually(scenario)
    assert ran == ["tool", "tool"]


def test_a_result_at_the_limit_is_the_tools() -> None:
    text = "x" * (MAX_RESULT_CHARS - VALUE_CHARS - 6)
    assert result_outcome(ToolCall("c1", "give"), text).result == {"output": text}


@pytest.mark.parametrize(
    ("error", "status"), [("no room", "error"), ({"code": 5}, "error"), (None, "ok"), (False, "ok"), ("", "ok")]
)
def test_an_error_that_is_null_false_or_empty_is_no_failure(error: Any, status: str) -> None:
    outcome = result_outcome(ToolCall("c1", "give"), {"error": error, "result": 1})
    assert (outcome.status, outcome.result) == (status, {"error": error, "result": 1})


def test_a_tool_whose_exception_cannot_be_read_has_an_answer() -> None:
    class UnreadableError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    outcome = error_outcome(ToolCall("c1", "give"), UnreadableError())
    assert outcome.result == {"error": "its text cannot be read"}


def test_an_exception_with_a_text_without_end_is_cut() -> None:
    outcome = error_outcome(ToolCall("c1", "give"), ValueError("x" * 1_000_000))
    assert outcome.result == {"error": "x" * MAX_ERROR_CHARS}
    assert max(len(outcome.cause), len(outcome.trace)) <= 2 * MAX_ERROR_CHARS


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ({"x": 1}, {"x": 1}),
        (3, {"output": 3}),
        (None, {"output": None}),
        ([1, 2], {"output": [1, 2]}),
        (Pair(1, "x"), {"a": 1, "b": "x"}),
        ({1: "int keys become texts"}, {"1": "int keys become texts"}),
    ],
)
def test_a_result_is_always_an_object(value: Any, result: dict[str, Any]) -> None:
    async def scenario() -> None:
        @tool
        def give() -> Any:
            """Give."""
            return value

        harness = Harness(give)
        harness.dispatcher.start("c1", "give", {})
        outcome = await harness.one()
        assert (outcome.status, outcome.result) == ("ok", result)

    virtually(scenario)


def test_a_result_that_cannot_be_written_is_an_error_that_says_so() -> None:
    async def scenario() -> None:
        @tool
        def give() -> Any:
            """Give."""
            return object()

        harness = Harness(give)
        harness.dispatcher.start("c1", "give", {})
        outcome = await harness.one()
        assert outcome.status == "error"
        assert "JSON" in outcome.result["error"]

    virtually(scenario)


def test_an_exception_becomes_an_error_result_with_its_cause() -> None:
    async def scenario() -> None:
        @tool
        async def fail() -> None:
            """Fail."""
            raise ValueError("no such room")

        harness = Harness(fail)
        harness.dispatcher.start("c1", "fail", {})
        outcome = await harness.one()
        assert (outcome.status, outcome.result) == ("error", {"error": "no such room"})
        assert outcome.cause == "ValueError: no such room"

    virtually(scenario)


def test_a_slow_tool_times_out_after_its_own_time() -> None:
    async def scenario() -> None:
        @tool(timeout_s=5)
        async def slow() -> None:
            """Slow."""
            await asyncio.sleep(60)

        harness = Harness(slow)
        harness.dispatcher.start("c1", "slow", {})
        outcome = await harness.one()
        assert (outcome.status, outcome.ms) == ("timeout", 5000)

    virtually(scenario)


def test_a_timeout_inside_the_tool_is_the_tools_own_error() -> None:
    async def scenario() -> None:
        @tool
        async def fetch() -> None:
            """Fetch."""
            raise TimeoutError("the hotel's server did not answer")

        harness = Harness(fetch)
        harness.dispatcher.start("c1", "fetch", {})
        assert (await harness.one()).status == "error"

    virtually(scenario)


def test_a_cancellation_reaches_an_async_tool() -> None:
    async def scenario() -> None:
        reached = asyncio.Event()

        @tool
        async def wait() -> None:
            """Wait."""
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                reached.set()
                raise

        harness = Harness(wait)
        harness.dispatcher.start("c1", "wait", {})
        await asyncio.sleep(1)
        assert harness.dispatcher.cancel("c1")
        assert (await harness.one()).status == "cancelled"
        assert reached.is_set()
        assert not harness.dispatcher.cancel("c1")

    virtually(scenario)


def test_a_call_cancelled_before_it_began_still_ends() -> None:
    async def scenario() -> None:
        @tool
        async def wait() -> None:
            """Wait."""

        harness = Harness(wait)
        harness.dispatcher.start("c1", "wait", {})
        harness.dispatcher.cancel("c1")
        assert (await harness.one()).status == "cancelled"
        assert harness.dispatcher.open_calls == 0

    virtually(scenario)


def test_tools_run_in_parallel() -> None:
    async def scenario() -> None:
        @tool
        async def nap() -> None:
            """Nap."""
            await asyncio.sleep(1)

        harness = Harness(nap)
        for number in range(5):
            harness.dispatcher.start(f"c{number}", "nap", {})
        assert {(await harness.one()).ms for _ in range(5)} == {1000}
        assert asyncio.get_running_loop().time() == 1

    virtually(scenario)


def test_a_plain_function_does_not_block_the_loop() -> None:
    async def scenario() -> None:
        main_thread = threading.get_ident()

        @tool
        def where() -> bool:
            """Return True in a thread."""
            return threading.get_ident() != main_thread

        harness = Harness(where)
        harness.dispatcher.start("c1", "where", {})
        assert (await harness.one()).result == {"output": True}

    virtually(scenario)


def test_an_unknown_tool_is_refused_with_the_known_ones() -> None:
    async def scenario() -> None:
        @tool
        def known() -> None:
            """Known."""

        harness = Harness(known)
        harness.dispatcher.start("c1", "unknown", {})
        outcome = await harness.one()
        assert outcome.status == "refused"
        assert "known" in outcome.result["error"]

    virtually(scenario)


def test_too_many_calls_at_once_are_refused() -> None:
    async def scenario() -> None:
        @tool
        async def nap() -> None:
            """Nap."""
            await asyncio.sleep(1)

        harness = Harness(nap)
        for number in range(MAX_CONCURRENT + 1):
            harness.dispatcher.start(f"c{number}", "nap", {})
        assert (await harness.one()).status == "refused"
        await harness.dispatcher.close()

    virtually(scenario)


def test_a_tool_can_tell_the_operator_something() -> None:
    async def scenario() -> None:
        @tool
        async def ring(ctx: ToolContext) -> None:
            """Ring."""
            ctx.notify("The bell rings.")

        harness = Harness(ring)
        harness.dispatcher.start("c1", "ring", {})
        await harness.one()
        await asyncio.sleep(0)
        assert harness.notes == [("ring", "The bell rings.")]

    virtually(scenario)


def test_a_plain_tool_can_tell_the_operator_something_from_its_thread() -> None:
    async def scenario() -> None:
        @tool
        def ring(ctx: ToolContext) -> None:
            """Ring."""
            ctx.notify("The bell rings.")

        harness = Harness(ring)
        harness.dispatcher.start("c1", "ring", {})
        assert (await harness.one()).status == "ok"
        await asyncio.sleep(0.1)
        assert harness.notes == [("ring", "The bell rings.")]

    virtually(scenario)


def test_two_tools_with_the_same_name_are_refused() -> None:
    @tool(name="same")
    def a() -> None:
        """Return nothing."""

    @tool(name="same")
    def b() -> None:
        """B."""

    with pytest.raises(AgentError, match="same"):
        ToolDispatcher([a, b], clock=LoopClock(), on_finished=print, on_notify=print)
