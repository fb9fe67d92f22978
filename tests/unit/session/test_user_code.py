"""An author's code is isolated: exceptions and refusals do not stop the agent."""

from __future__ import annotations

import asyncio
import sys
import weakref
from typing import Any

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.session.agent.faults import FaultReporter
from gemini_live_runtime.session.agent.user_code import DEADLINE_S, MAX_CONCURRENT, UserCode, takes
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.state.store import State

HERE = Origin("watcher", "w")


class Heard:
    def __init__(self) -> None:
        self.events: list[ev.Payload] = []
        self.ended = 0
        self.code = UserCode(
            FaultReporter(self.events.append), LoopClock(), emit=self.events.append, on_ended=self._ended
        )

    def _ended(self) -> None:
        self.ended += 1

    def failures(self) -> list[str]:
        return [event.error for event in self.events if isinstance(event, ev.CodeFailed)]


class Holder:
    """Object with a method, and callable."""

    def on_event(self, event: Any) -> None:
        """Take an event."""

    def __call__(self) -> None:
        """Take nothing."""


def boom() -> None:
    raise ValueError("boom")


def leave() -> None:
    sys.exit(3)


def cancel() -> None:
    raise asyncio.CancelledError


async def async_boom() -> None:
    raise ValueError("boom")


async def async_leave() -> None:
    sys.exit(3)


async def waits_for_what_is_cancelled() -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


@pytest.mark.parametrize("function", [boom, leave, cancel, async_boom, async_leave, waits_for_what_is_cancelled])
async def test_whatever_it_raises_becomes_an_event_and_the_default_answer(function: Any) -> None:
    heard = Heard()
    assert await heard.code.run("here", function, origin=HERE, failed="x") == "x"
    assert len(heard.failures()) == 1
    heard.code.spawn("here", function, origin=HERE)
    await asyncio.sleep(1)
    assert len(heard.failures()) == 2
    assert heard.code.active == 0
    assert heard.ended == 1


async def test_what_takes_too_long_is_given_up_at_the_deadline_even_if_it_ignores_its_cancellation() -> None:
    over = asyncio.Event()

    async def stubborn() -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    heard = Heard()
    began = LoopClock().now()
    assert await heard.code.run("here", stubborn, origin=HERE) is None
    assert LoopClock().now() - began == pytest.approx(DEADLINE_S)
    assert "longer than 5 s" in heard.failures()[0]
    assert heard.code.active == 0
    await heard.code.close()
    over.set()


async def test_actions_that_never_end_are_bounded() -> None:
    over = asyncio.Event()

    async def stubborn() -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    heard = Heard()
    for _ in range(MAX_CONCURRENT + 1):
        await heard.code.run("here", stubborn, origin=HERE)
    assert "not started" in heard.failures()[-1]
    for _ in range(MAX_CONCURRENT + 1):
        heard.code.spawn("here", stubborn, origin=HERE)
    assert "not started" in heard.failures()[-1]
    assert heard.code.active == MAX_CONCURRENT
    over.set()
    await asyncio.sleep(1)
    assert heard.code.active == 0


async def test_a_timeout_of_its_own_is_told_in_its_own_words() -> None:
    async def gives_up() -> None:
        raise TimeoutError("the kitchen does not answer")

    heard = Heard()
    await heard.code.run("here", gives_up, origin=HERE)
    assert heard.failures() == ["TimeoutError: the kitchen does not answer"]


async def test_what_it_writes_is_written_in_its_name_also_after_waiting() -> None:
    state = State()

    async def writes(store: State) -> str:
        store.set("app:before", 1)
        await asyncio.sleep(0.2)
        store.set("app:after", 1)
        return "done"

    heard = Heard()
    assert await heard.code.run("here", writes, state, origin=HERE) == "done"
    assert state.written_by("app:before") == state.written_by("app:after") == "watcher w"
    state.set("app:mine", 1)
    assert state.written_by("app:mine") == "program"
    assert [event.ms for event in heard.events if isinstance(event, ev.CodeSlow)] == [200.0]


async def test_who_waits_for_it_can_still_be_cancelled() -> None:
    heard = Heard()
    task = asyncio.create_task(heard.code.run("here", asyncio.sleep, 100, origin=HERE))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not heard.failures()


def test_it_gets_as_many_arguments_as_it_asks_for() -> None:
    assert takes(lambda: None, 2) == 0
    assert takes(lambda state: None, 2) == 1
    assert takes(lambda state, change, extra=1: None, 2) == 2
    assert takes(lambda *args: None, 2) == 2
    assert takes(lambda a, b, c: None, 2) == 2
    assert takes(Holder().on_event, 2) == 1
    assert takes(Holder(), 2) == 0


def test_a_function_is_not_kept_alive_for_having_been_asked() -> None:
    # A method of a session's object would keep the session, for as long as the program runs.
    def asked() -> weakref.ref[Holder]:
        holder = Holder()
        assert (takes(holder.on_event, 1), takes(lambda: holder, 1), takes(holder, 1)) == (1, 0, 0)
        return weakref.ref(holder)

    assert asked()() is None
