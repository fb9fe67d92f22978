"""Background tools: acknowledgement, final answer, and running calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.background import (
    BackgroundToolTracker,
    DefaultResultFormatter,
    ToolAnswer,
    ToolExecutionMode,
    acknowledgement,
    final_answer,
)
from gemini_live_runtime.tools.declaration import BACKGROUND_TIMEOUT_S, DEFAULT_TIMEOUT_S, tool
from gemini_live_runtime.tools.results import Outcome, Status, ToolCall, outcome
from gemini_live_runtime.tools.running import GRACE_S, RunningCall

CALL = ToolCall("c1", "search", {"what": "rooms"})
SILENT = ToolExecutionMode.background(scheduling="SILENT")


def ended(status: Status = "ok", **result: Any) -> Outcome:
    return outcome(CALL, status, result)


def virtually(scenario: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await scenario()

    run_virtual(main())


# -- answers -----------------------------------------------------------------------------------------------------------


def test_the_acknowledgement_leaves_the_call_open_and_carries_no_scheduling() -> None:
    assert acknowledgement(CALL, SILENT) == ToolAnswer({"status": "running", "tool": "search"}, None, True)


def test_the_result_carries_the_scheduling_and_closes_the_call() -> None:
    expected = {"status": "completed", "tool": "search", "result": {"rooms": 3}}
    assert final_answer(ended(rooms=3), SILENT) == ToolAnswer(expected, "SILENT", False)


def test_a_model_without_async_tools_gets_one_answer_and_no_scheduling() -> None:
    assert acknowledgement(CALL, SILENT, async_tools=False) is None
    answer = final_answer(ended(rooms=3), SILENT, async_tools=False)
    assert (answer.scheduling, answer.will_continue, answer.response["status"]) == (None, None, "completed")


@pytest.mark.parametrize("status", ["error", "timeout", "refused"])
def test_failures_have_the_same_shape_as_results(status: Status) -> None:
    answer = final_answer(ended(status, error="no rooms"), SILENT)
    assert answer.response == {"status": "error", "tool": "search", "error": "no rooms"}


def test_a_call_cancelled_on_this_side_is_answered_as_cancelled() -> None:
    assert final_answer(ended("cancelled"), SILENT).response == {"status": "cancelled", "call_id": "c1"}


def test_a_standard_call_is_answered_with_its_result_alone() -> None:
    mode = ToolExecutionMode.standard()
    assert acknowledgement(CALL, mode) is None
    assert final_answer(ended(rooms=3), mode) == ToolAnswer({"rooms": 3})


def test_a_call_that_does_not_block_has_a_scheduling_but_no_acknowledgement() -> None:
    mode = ToolExecutionMode.standard("INTERRUPT")
    assert acknowledgement(CALL, mode) is None
    assert final_answer(ended(rooms=3), mode) == ToolAnswer({"rooms": 3}, "INTERRUPT")


def test_a_standard_call_that_was_cancelled_still_has_an_answer() -> None:
    assert "cancelled" in final_answer(ended("cancelled"), ToolExecutionMode.standard()).response["error"]


class Own(DefaultResultFormatter):
    def format_running(self, call: ToolCall) -> dict[str, Any]:
        return {"looking_for": call.args["what"]}

    def format_result(self, call: ToolCall, outcome: Outcome) -> Any:
        return f"{call.args['what']}: {outcome.result['rooms']}"

    def format_cancelled(self, call: ToolCall) -> dict[str, Any]:
        raise ValueError("no words")


def test_a_custom_formatter_gets_the_call_and_its_outcome() -> None:
    mode = ToolExecutionMode.background(Own())
    running = acknowledgement(CALL, mode)
    assert running is not None
    assert running.response == {"looking_for": "rooms"}
    answer = final_answer(ended(rooms=3), mode)
    assert (answer.response, answer.scheduling) == ({"output": "rooms: 3"}, "WHEN_IDLE")


def test_a_formatter_that_fails_is_named_and_the_default_one_answers() -> None:
    answer = final_answer(ended("cancelled"), ToolExecutionMode.background(Own()))
    assert answer.response == {"status": "cancelled", "call_id": "c1"}
    assert answer.problem == "Own.format_cancelled: ValueError: no words"


# -- declarations ------------------------------------------------------------------------------------------------------


def test_a_background_tool_does_not_block_and_has_more_time() -> None:
    @tool(background=True)
    def search() -> None:
        """Search."""

    assert search.mode.is_background
    assert (search.blocking, search.scheduling, search.timeout_s) == (False, "WHEN_IDLE", BACKGROUND_TIMEOUT_S)


def test_a_tools_mode_can_be_changed_and_its_default_timeout_follows() -> None:
    @tool
    def search() -> None:
        """Search."""

    changed = search.with_mode(SILENT)
    assert (changed.scheduling, changed.timeout_s) == ("SILENT", BACKGROUND_TIMEOUT_S)
    assert changed.with_mode(ToolExecutionMode.standard()).timeout_s == DEFAULT_TIMEOUT_S


def test_an_explicit_timeout_stays_with_the_tool() -> None:
    @tool(timeout_s=5)
    def search() -> None:
        """Search."""

    assert search.with_mode(SILENT).timeout_s == 5


def test_a_tool_knows_where_it_was_declared() -> None:
    @tool
    def search() -> None:
        """Search."""

    assert search.defined_at.startswith("test_background.py:")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"background": True, "blocking": True}, "cannot be blocking"),
        ({"background": True, "scheduling": "LATER"}, "search.*LATER.*WHEN_IDLE"),
        ({"background": True, "formatter": object()}, "search.*object is not a ResultFormatter"),
        ({"formatter": DefaultResultFormatter()}, "formatter needs background=True"),
        ({"blocking": False, "scheduling": "LATER"}, "search.*LATER"),
        ({"timeout_s": float("inf")}, "timeout_s"),
        ({"timeout_s": 10**400}, "timeout_s"),
    ],
)
def test_options_that_do_not_go_together_are_refused_by_name(options: dict[str, Any], words: str) -> None:
    def search() -> None:
        """Search."""

    with pytest.raises(AgentError, match=words):
        tool(**options)(search)


# -- running calls -----------------------------------------------------------------------------------------------------


class Tracked:
    def __init__(self) -> None:
        self.tracker = BackgroundToolTracker(clock=LoopClock())
        self.ended: list[Outcome] = []

    def spawn(self, call_id: str, seconds: float = 60, timeout_s: float = 600) -> str:
        async def work(running: RunningCall) -> Outcome:
            await asyncio.sleep(seconds)
            return outcome(running.call, "ok", {"slept": seconds})

        return self.spawn_work(call_id, work, timeout_s)

    def spawn_work(
        self, call_id: str, work: Callable[[RunningCall], Coroutine[Any, Any, Outcome]], timeout_s: float = 600
    ) -> str:
        call = ToolCall(call_id, "nap")
        return self.tracker.spawn(call, work, timeout_s=timeout_s, on_ended=self.ended.append)


def test_the_tracker_counts_and_cancels_by_id() -> None:
    async def scenario() -> None:
        tracked = Tracked()
        tracked.spawn("a")
        tracked.spawn("b")
        assert (tracked.tracker.active_ids, tracked.tracker.active_count) == (["a", "b"], 2)
        assert tracked.tracker.cancel(["a", "unknown", "a"]) == ["a"]
        assert tracked.tracker.cancel(["a"]) == []
        await asyncio.sleep(0.1)
        assert tracked.tracker.active_ids == ["b"]
        assert [(one.call_id, one.status) for one in tracked.ended] == [("a", "cancelled")]
        assert tracked.tracker.cancel_all() == ["b"]
        await asyncio.sleep(0.1)
        assert (tracked.tracker.active_count, len(tracked.ended)) == (0, 2)

    virtually(scenario)


def test_a_call_that_ends_at_once_leaves_nothing_behind() -> None:
    async def scenario() -> None:
        tracked = Tracked()
        tracked.spawn("a", 0)
        await asyncio.sleep(0.1)
        assert tracked.tracker.active_count == 0
        assert [one.status for one in tracked.ended] == ["ok"]
        tracked.spawn("a", 0)
        await asyncio.sleep(0.1)
        assert len(tracked.ended) == 2

    virtually(scenario)


def test_calls_without_an_id_get_one_each() -> None:
    async def scenario() -> None:
        tracked = Tracked()
        assert (tracked.spawn(""), tracked.spawn("")) == ("background-1", "background-2")
        await tracked.tracker.close()
        assert [one.call_id for one in tracked.ended] == ["background-1", "background-2"]

    virtually(scenario)


def test_one_id_cannot_run_twice_at_once() -> None:
    async def scenario() -> None:
        tracked = Tracked()
        tracked.spawn("a")
        with pytest.raises(ValueError, match="a is running already"):
            tracked.spawn("a")
        await tracked.tracker.close()

    virtually(scenario)


def test_code_that_ignores_its_cancellation_is_left_behind_after_a_moment() -> None:
    async def scenario() -> None:
        tracked = Tracked()
        begun = asyncio.get_running_loop().time()
        over = asyncio.Event()

        async def stubborn(running: RunningCall) -> Outcome:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                assert running.cancelled.is_set()
                await asyncio.sleep(50)
                over.set()
            raise ValueError("nobody wants to know")

        tracked.spawn_work("a", stubborn, timeout_s=5)
        await asyncio.sleep(5 + GRACE_S + 0.1)
        assert [(one.status, one.ms) for one in tracked.ended] == [("timeout", (5 + GRACE_S) * 1000)]
        assert tracked.tracker.active_count == 0
        await over.wait()
        assert asyncio.get_running_loop().time() - begun == 55
        await asyncio.sleep(0.1)
        assert len(tracked.ended) == 1

    virtually(scenario)


def test_closing_waits_for_tools_that_clean_up_and_abandons_others() -> None:
    async def scenario() -> None:
        tracked = Tracked()

        async def stubborn(running: RunningCall) -> Outcome:
            try:
                await asyncio.sleep(1000)
            finally:
                await asyncio.sleep(20)
            return outcome(running.call, "ok", {})

        tracked.spawn("a")
        tracked.spawn_work("b", stubborn)
        await asyncio.sleep(1)
        await tracked.tracker.close()
        assert asyncio.get_running_loop().time() == 1 + GRACE_S
        assert [(one.call_id, one.status) for one in tracked.ended] == [("a", "cancelled"), ("b", "cancelled")]

    virtually(scenario)


def test_an_error_of_the_work_itself_is_an_outcome_too() -> None:
    async def scenario() -> None:
        tracked = Tracked()

        async def broken(running: RunningCall) -> Outcome:
            raise ValueError("broken")

        tracked.spawn_work("a", broken)
        await asyncio.sleep(0.1)
        assert [(one.status, one.result) for one in tracked.ended] == [("error", {"error": "broken"})]

    virtually(scenario)
