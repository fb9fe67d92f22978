"""The handle, the writer and background agents may be used from any thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import LiveHandle, State
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.ports.loop_calls import LoopCalls


async def on_a_thread(t: Talk, use: Callable[[LiveHandle], object]) -> object:
    """Call `use` on a thread while the session's loop runs."""
    return await asyncio.to_thread(use, t.handle)


async def test_the_handle_may_be_used_from_any_thread() -> None:
    async with talk(agent(), mode="text") as t:
        await on_a_thread(t, lambda handle: handle.send_context("It rains."))
        await on_a_thread(t, lambda handle: handle.prompt())
        await t.rests()
        assert t.wire == [("model context", "It rains."), ("prompt",)]


async def test_the_writer_may_be_used_from_any_thread() -> None:
    async with talk(agent(), mode="text") as t:
        await on_a_thread(t, lambda handle: handle.writer().send_text("hello"))
        await on_a_thread(t, lambda handle: handle.writer().send_video(b"picture"))
        await on_a_thread(t, lambda handle: handle.writer().prompt_model())
        await t.rests()
        assert [kind for kind, *_ in t.wire] == ["text", "video", "prompt"]


async def test_an_error_on_another_thread_is_that_of_the_method() -> None:
    async with talk(agent()) as t:
        with pytest.raises(AgentError, match="no phases"):
            await on_a_thread(t, lambda handle: handle.transition_to("moon"))


class Reader:
    """Background agent that reads for a second."""

    async def run(self, state: State) -> str:
        await asyncio.sleep(1)
        return "read"


@pytest.mark.parametrize("own_loop", [False, True])
async def test_background_agents_may_be_used_from_any_thread(own_loop: bool) -> None:
    async with talk(agent()) as t:

        def dispatch(handle: LiveHandle) -> None:
            handle.agents.dispatch("reader", Reader(), handle.state)

        async def dispatch_in_a_loop(handle: LiveHandle) -> None:
            dispatch(handle)

        await on_a_thread(t, lambda handle: asyncio.run(dispatch_in_a_loop(handle)) if own_loop else dispatch(handle))
        await t.passes(2)
        assert t.state["bg:reader:result"] == "read"
        assert await on_a_thread(t, lambda handle: handle.agents.cancel("reader")) is False
        assert await on_a_thread(t, lambda handle: handle.agents.cancel_all()) == []


async def test_another_threads_own_loop_may_await_the_handle() -> None:
    async with talk(agent(), mode="text") as t:
        await on_a_thread(t, lambda handle: asyncio.run(handle.send_text("hello")))
        await t.rests()
        assert t.wire == [("text", "hello")]


@pytest.mark.parametrize(
    "wait",
    [
        lambda session: anext(aiter(session.handle.events())),
        lambda session: anext(aiter(session.events("conversation_item_added"))),
        lambda session: session.generate_reply(instructions="Go on.").wait_for_playout(),
    ],
    ids=["events", "views", "speech"],
)
async def test_another_threads_own_loop_may_wait_for_what_a_session_gives(wait: Callable[[Any], Any]) -> None:
    waits, ended = Event(), []

    async def wait_for_it() -> None:
        waiting = asyncio.ensure_future(wait(t.stage.session.agent_session))
        await asyncio.sleep(0)
        waits.set()
        ended.append(await waiting)

    async with talk(agent()) as t:
        thread = Thread(target=lambda: asyncio.run(wait_for_it()), daemon=True)
        thread.start()
        await asyncio.to_thread(waits.wait)
        await t.turn()
        await t.turn()
        await asyncio.to_thread(thread.join, 5)
        assert len(ended) == 1


def test_a_handle_whose_session_is_over_says_so_on_other_threads() -> None:
    calls = asyncio.new_event_loop()
    of_thread = LoopCalls(calls)
    calls.close()
    with pytest.raises(GeminiLiveError, match="has ended"):
        of_thread.call(lambda: None)


async def test_another_loop_that_waits_for_a_session_learns_of_its_end_and_is_not_cancelled() -> None:
    calls = LoopCalls(asyncio.get_running_loop())
    begun: list[asyncio.Task[Any]] = []

    async def waits() -> None:
        task = asyncio.current_task()
        assert task is not None
        begun.append(task)
        # As the end of the session's loop does to all of its tasks.
        task.cancel()
        await asyncio.Event().wait()

    with pytest.raises(GeminiLiveError, match="has ended"):
        await asyncio.to_thread(lambda: asyncio.run(calls.run(waits())))
    assert begun


async def test_a_tool_on_a_thread_may_prompt_the_model() -> None:
    held: list[LiveHandle] = []

    def remind(minutes: int) -> str:
        """Remind the user.

        Args:
            minutes: Minutes from now.
        """
        held[0].send_context("A reminder is set.")
        return "done"

    async with talk(agent().tools(remind)) as t:
        held.append(t.handle)
        await t.calls("remind", minutes=5)
        await t.stage.sink.until(ev.ToolFinished)
        await t.rests()
        assert t.sent("answer")[0][2] == {"output": "done"}
        await t.says("fine")
        await t.ends()
        assert t.wire[-1] == ("model context", "A reminder is set.")
