"""Listeners are isolated from each other and from the session, and watched."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest
from tests.support.manual_clock import ManualClock

from gemini_live_runtime.clock import LoopClock, VirtualTimeLoop
from gemini_live_runtime.session.agent.listeners.callback_runner import (
    MAX_RUNNING,
    CallbackFault,
    CallbackRunner,
    SlowCallback,
)
from gemini_live_runtime.session.definition.callbacks import CallbackMode, EventCallbacks
from gemini_live_runtime.wire.messages import FunctionCall

CALLS = (FunctionCall(id="1", name="pay"), FunctionCall(id="2", name="look"))


class Bench:
    """Runner with listeners given as (callback, function) pairs, and its reports."""

    def __init__(self, *listening: tuple[str, Callable[..., Any]], concurrent: bool = False, **options: Any) -> None:
        self.reports: list[CallbackFault | SlowCallback] = []
        callbacks = EventCallbacks()
        for callback, function in listening:
            mode = CallbackMode.CONCURRENT if concurrent else None
            callbacks = callbacks.add(callback, function, mode=mode)
        options.setdefault("clock", LoopClock())
        self.runner = CallbackRunner(callbacks, report=self.reports.append, **options)

    @property
    def faults(self) -> list[CallbackFault]:
        return [report for report in self.reports if isinstance(report, CallbackFault)]

    @property
    def slow(self) -> list[SlowCallback]:
        return [report for report in self.reports if isinstance(report, SlowCallback)]


def pass_time(seconds: float) -> None:
    """Advance the loop's time, as a plain function that computes for so long would."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    loop.jump(seconds)


def raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


async def for_ever(*_: Any) -> None:
    await asyncio.Event().wait()


# -- the fast lane ------------------------------------------------------------------------------------------------


async def test_fast_listeners_are_called_in_order_with_the_arguments() -> None:
    heard: list[Any] = []
    bench = Bench(
        ("on_input_transcript", lambda text, is_final: heard.append(("a", text, is_final))),
        ("on_input_transcript", lambda text, is_final: heard.append(("b", text, is_final))),
    )

    bench.runner.fast("on_input_transcript", "hello", True)

    assert heard == [("a", "hello", True), ("b", "hello", True)]


async def test_a_session_can_see_that_nobody_listens() -> None:
    runner = Bench(("on_text", print)).runner

    assert runner.listeners("on_audio") is None
    assert runner.inline_listeners("on_audio") == ()
    assert runner.listeners("on_text") == (print,)
    runner.fast("on_audio", b"pcm")


@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(3)])
async def test_a_fast_listener_that_raises_is_named_and_the_others_are_called(error: BaseException) -> None:
    heard: list[str] = []
    bench = Bench(("on_text", raising(error)), ("on_text", heard.append))

    bench.runner.fast("on_text", "hello")

    assert heard == ["hello"]
    fault = bench.faults[0]
    assert (fault.callback, fault.error) == ("on_text", f"{type(error).__name__}: {error}")
    assert fault.listener.endswith("fail")
    assert "in fail" in fault.trace
    assert fault.defined_at.startswith("test_callback_runner.py:")


async def test_a_listener_that_fails_with_every_frame_is_reported_ever_more_rarely() -> None:
    bench = Bench(("on_audio", raising(ValueError("boom"))))

    for _ in range(100):
        bench.runner.fast("on_audio", b"pcm")

    assert [fault.times for fault in bench.faults] == [1, 2, 4, 8, 16, 32, 64]


async def test_a_fast_listener_that_takes_more_than_a_millisecond_is_named() -> None:
    bench = Bench(("on_text", lambda text: pass_time(0.0009)), ("on_text", lambda text: pass_time(0.005)))

    bench.runner.fast("on_text", "hello")

    assert [(slow.callback, slow.ms) for slow in bench.slow] == [("on_text", 5.0)]
    assert bench.slow[0].listener.endswith("<lambda>")


async def test_time_is_that_of_the_clock_given() -> None:
    clock = ManualClock()
    bench = Bench(("on_text", lambda text: clock.advance(0.25)), clock=clock)

    bench.runner.fast("on_text", "hello")

    assert bench.slow[0].ms == 250.0


async def test_a_coroutine_from_a_plain_fast_listener_is_named_and_not_left_behind() -> None:
    async def save(text: str) -> None: ...

    bench = Bench(("on_text", lambda text: save(text)))

    bench.runner.fast("on_text", "hello")

    assert "returned a coroutine" in bench.faults[0].error


async def test_a_fast_listener_may_start_a_task() -> None:
    saved: list[str] = []

    async def save(text: str) -> None:
        saved.append(text)

    bench = Bench(("on_text", lambda text: asyncio.create_task(save(text))))
    bench.runner.fast("on_text", "hello")
    await asyncio.sleep(0)

    assert (saved, bench.reports) == (["hello"], [])


# -- the control lane ---------------------------------------------------------------------------------------------


async def test_blocking_listeners_are_done_one_after_the_other_before_the_lane_goes_on() -> None:
    done: list[str] = []

    async def slowly() -> None:
        await asyncio.sleep(0.05)
        done.append("slow")

    bench = Bench(("on_interrupted", slowly), ("on_interrupted", lambda: done.append("plain")))
    await bench.runner.control("on_interrupted")

    assert done == ["slow", "plain"]
    assert bench.reports == []


async def test_concurrent_listeners_are_done_in_the_end() -> None:
    done: list[str] = []

    async def slowly() -> None:
        await asyncio.sleep(50)
        done.append("slow")

    bench = Bench(("on_interrupted", slowly), ("on_interrupted", lambda: done.append("plain")), concurrent=True)
    await bench.runner.control("on_interrupted")

    assert (done, bench.runner.running) == ([], 2)
    await asyncio.sleep(51)
    assert (done, bench.runner.running, bench.reports) == (["plain", "slow"], 0, [])


async def test_what_blocking_listeners_return_is_given_without_none() -> None:
    async def two(turn: int) -> int:
        return 2

    bench = Bench(
        ("on_turn_complete", lambda turn: 1), ("on_turn_complete", lambda turn: None), ("on_turn_complete", two)
    )

    assert await bench.runner.control("on_turn_complete", 7) == [1, 2]


async def test_a_control_listener_that_raises_is_named_and_the_others_are_called() -> None:
    heard: list[str] = []

    async def fail(text: str) -> None:
        raise RuntimeError("async")

    async def leave(text: str) -> None:
        sys.exit(1)

    bench = Bench(
        ("on_error", raising(ValueError("plain"))), ("on_error", fail), ("on_error", leave), ("on_error", heard.append)
    )
    await bench.runner.control("on_error", "oh")

    assert heard == ["oh"]
    assert [fault.error for fault in bench.faults] == ["ValueError: plain", "RuntimeError: async", "SystemExit: 1"]
    assert "in fail" in bench.faults[1].trace


async def test_every_fault_of_a_control_listener_is_reported() -> None:
    bench = Bench(("on_error", raising(ValueError("boom"))))

    for _ in range(3):
        await bench.runner.control("on_error", "oh")

    assert [fault.times for fault in bench.faults] == [1, 2, 3]


async def test_a_concurrent_listener_that_raises_is_named() -> None:
    async def fail(text: str) -> None:
        raise RuntimeError("async")

    bench = Bench(("on_error", fail), ("on_error", raising(ValueError("plain"))), concurrent=True)
    await bench.runner.control("on_error", "oh")
    await asyncio.sleep(0.01)

    assert sorted(fault.error for fault in bench.faults) == ["RuntimeError: async", "ValueError: plain"]


async def test_a_listener_that_holds_the_lane_for_long_is_named() -> None:
    async def slowly() -> None:
        await asyncio.sleep(0.15)

    bench = Bench(("on_resumed", slowly), ("on_resumed", lambda: pass_time(0.2)), ("on_resumed", lambda: None))
    await bench.runner.control("on_resumed")

    assert [slow.ms for slow in bench.slow] == [150.0, 200.0]


async def test_a_concurrent_listener_may_wait_but_not_hold_the_loop() -> None:
    async def slowly() -> None:
        await asyncio.sleep(10)

    bench = Bench(("on_resumed", slowly), ("on_resumed", lambda: pass_time(0.2)), concurrent=True)
    await bench.runner.control("on_resumed")
    await asyncio.sleep(20)

    assert [slow.ms for slow in bench.slow] == [200.0]


async def test_the_lane_goes_on_without_a_listener_that_outstays_its_deadline() -> None:
    heard: list[str] = []
    bench = Bench(("on_error", for_ever), ("on_error", heard.append))

    await bench.runner.control("on_error", "oh")

    assert asyncio.get_running_loop().time() == 5.0
    assert heard == ["oh"]
    fault = bench.faults[0]
    assert (fault.listener, fault.error) == ("for_ever", "took longer than 5 s and was cancelled")
    assert "in for_ever" in fault.trace
    assert "in wait" in fault.trace
    await asyncio.sleep(0.01)
    assert bench.runner.running == 0


async def test_a_listener_that_will_not_be_cancelled_does_not_hold_the_lane_either() -> None:
    ended: list[str] = []

    async def stubborn() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(60)
        ended.append("late")
        raise RuntimeError("late")

    bench = Bench(("on_resumed", stubborn), deadline_s=1.0)
    await bench.runner.control("on_resumed")
    assert (asyncio.get_running_loop().time(), bench.runner.running) == (1.0, 1)

    await asyncio.sleep(100)
    assert [fault.error for fault in bench.faults] == ["took longer than 1 s and was cancelled", "RuntimeError: late"]
    assert bench.runner.running == 0


async def test_a_listener_whose_own_work_was_cancelled_is_named() -> None:
    async def waits() -> None:
        work: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        work.cancel()
        await work

    bench = Bench(("on_resumed", waits))
    await bench.runner.control("on_resumed")

    assert bench.faults[0].error.startswith("CancelledError")


async def test_cancelling_the_lane_cancels_the_listener_it_waits_for() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await for_ever()
        finally:
            ended.append("cancelled")

    bench = Bench(("on_resumed", waits))
    lane = asyncio.create_task(bench.runner.control("on_resumed"))
    await asyncio.sleep(0.1)
    lane.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await lane
    await asyncio.sleep(0.1)

    assert (lane.cancelled(), ended, bench.reports) == (True, ["cancelled"], [])


async def test_too_many_concurrent_listeners_are_not_called_but_reported() -> None:
    bench = Bench(("on_error", for_ever), concurrent=True)

    for _ in range(MAX_RUNNING + 1):
        await bench.runner.control("on_error", "oh")

    assert [fault.error for fault in bench.faults] == [f"not called: {MAX_RUNNING} listeners are running"]
    await bench.runner.close()


async def test_closing_cancels_what_is_under_way_after_a_grace() -> None:
    done: list[str] = []

    async def soon(text: str) -> None:
        await asyncio.sleep(0.5)
        done.append("soon")

    bench = Bench(("on_error", soon), ("on_error", for_ever), concurrent=True)
    await bench.runner.control("on_error", "oh")
    await bench.runner.close(grace_s=1.0)

    assert (done, bench.runner.running, bench.reports) == (["soon"], 0, [])
    assert asyncio.get_running_loop().time() == 1.0


async def test_a_concurrent_listener_started_just_before_the_end_is_still_called() -> None:
    heard: list[str] = []
    bench = Bench(("on_disconnected", heard.append), concurrent=True)

    await bench.runner.control("on_disconnected", "bye")
    await bench.runner.close()

    assert heard == ["bye"]


async def test_closing_names_what_will_not_end() -> None:
    async def stubborn(text: str) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await asyncio.sleep(60)

    bench = Bench(("on_error", stubborn), concurrent=True)
    await bench.runner.control("on_error", "oh")
    await asyncio.sleep(0)
    await bench.runner.close()

    assert [fault.error for fault in bench.faults] == ["did not end when it was cancelled"]


async def test_a_listener_may_close_the_session_that_calls_it() -> None:
    runner: list[CallbackRunner] = []

    async def hang_up(text: str) -> None:
        await runner[0].close()

    bench = Bench(("on_error", hang_up))
    runner.append(bench.runner)
    await bench.runner.control("on_error", "oh")

    assert bench.reports == []


@pytest.mark.parametrize("concurrent", [False, True])
async def test_a_listener_runs_inside_what_the_session_puts_around_it(concurrent: bool) -> None:
    writing = ContextVar("writing", default="nobody")
    seen: list[str] = []

    @contextlib.contextmanager
    def around(callback: str, listener: str) -> Iterator[None]:
        token = writing.set(f"{callback} {listener}")
        yield
        writing.reset(token)

    async def later(text: str) -> None:
        await asyncio.sleep(1)
        seen.append(writing.get())

    bench = Bench(("on_error", later), concurrent=concurrent, around=around)
    await bench.runner.control("on_error", "oh")
    seen.append(writing.get())
    await asyncio.sleep(2)

    assert sorted(seen)[0] == "nobody"
    assert sorted(seen)[1].startswith("on_error ")


# -- callbacks whose answers count --------------------------------------------------------------------------------


async def test_calls_run_normally_unless_a_listener_gives_their_result() -> None:
    def some(calls: Any, state: Any) -> dict[str, Any]:
        assert [call.name for call in calls] == ["pay", "look"]
        return {"1": {"paid": state}, "2": None}

    bench = Bench(("on_tool_call", lambda calls, state: None), ("on_tool_call", some))

    assert await bench.runner.tool_overrides(CALLS, "the state") == {"1": {"paid": "the state"}}
    assert bench.reports == []


async def test_the_first_result_for_a_call_wins_and_the_second_is_reported() -> None:
    bench = Bench(
        ("on_tool_call", lambda calls, state: {"1": "first"}),
        ("on_tool_call", lambda calls, state: {"1": "second", "2": "other"}),
    )

    assert await bench.runner.tool_overrides(CALLS, None) == {"1": "first", "2": "other"}
    assert [fault.error for fault in bench.faults] == ["answered '1', which had a result already"]


async def test_results_for_calls_that_were_not_made_are_reported_and_left_out() -> None:
    bench = Bench(("on_tool_call", lambda calls, state: {"9": 1}), ("on_tool_call", lambda calls, state: ["no"]))

    assert await bench.runner.tool_overrides(CALLS, None) == {}
    assert [fault.error for fault in bench.faults] == [
        "answered '9', which is not one of the calls",
        "returned list, not a dict by call id",
    ]


async def test_responses_pass_from_listener_to_listener_and_a_failing_one_changes_nothing() -> None:
    def spoil(responses: list[str], state: Any) -> list[str]:
        responses.clear()
        raise ValueError("boom")

    async def add(responses: list[str], state: Any) -> list[str]:
        return [*responses, "b"]

    bench = Bench(
        ("before_tool_response", spoil),
        ("before_tool_response", add),
        ("before_tool_response", lambda responses, state: None),
        ("before_tool_response", lambda responses, state: "nonsense"),
        ("before_tool_response", lambda responses, state: (*responses, "c")),
    )

    assert await bench.runner.tool_responses(["a"], None) == ["a", "b", "c"]
    assert [fault.error for fault in bench.faults] == ["ValueError: boom", "returned str, not a list"]


async def test_the_first_template_that_gives_text_is_the_instruction() -> None:
    asked: list[str] = []
    bench = Bench(
        ("instruction_template", lambda state: None),
        ("instruction_template", lambda state: 7),
        ("instruction_template", lambda state: f"Be {state}."),
        ("instruction_template", lambda state: asked.append("late")),
    )

    assert await bench.runner.instruction_template("brief") == "Be brief."
    assert asked == []
    assert [fault.error for fault in bench.faults] == ["returned int, not text"]


async def test_all_amendments_count() -> None:
    async def two(state: Any) -> str:
        return "Two."

    bench = Bench(
        ("instruction_amendment", lambda state: "One."),
        ("instruction_amendment", lambda state: None),
        ("instruction_amendment", two),
    )

    assert await bench.runner.instruction_amendment(None) == "One.\n\nTwo."
    assert await Bench().runner.instruction_amendment(None) is None
