"""Start, drain and close of an `AgentSession`."""

from __future__ import annotations

import asyncio
from threading import Thread
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import (
    Agent,
    AgentHandoff,
    AgentSession,
    ChatMessage,
    CloseReason,
    RunContext,
    RunResult,
    run_virtual,
    tool,
)
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.errors import AgentError, EngineError, GeminiLiveError


class Weather(Agent):
    """Tell the weather."""

    def __init__(self) -> None:
        super().__init__(instructions="Tell the weather.")

    @tool
    def get_weather(self, city: str) -> str:
        """Get the weather in a city."""
        return f"Sunny in {city}."


def session_of(t: Talk) -> Any:
    """Return the session of a talk."""
    return t.stage.session.agent_session


def is_told(item: Any) -> bool:
    """Return True for items that listeners get one by one."""
    return isinstance(item, AgentHandoff | ChatMessage)


def local() -> AgentSession:
    """Return a session on the embedded server, not started."""
    return AgentSession(backend="local", fast=True)


def test_a_session_is_started_closed_and_started_again() -> None:
    async def main() -> None:
        closed: list[Any] = []
        added: list[Any] = []
        first: tuple[Any, ...] = ()
        session = local()
        session.on("close", closed.append)
        session.on("conversation_item_added", added.append)
        assert (session.agent_state, session.is_running) == ("initializing", False)
        for _ in range(2):
            weather = Weather()
            assert await session.start(weather) is session
            assert session.current_agent is weather
            assert (session.agent_state, session.is_running) == ("listening", True)
            result = await session.run("get weather in Rome")
            assert len(result.tool_calls) == 1
            assert len(session.history.messages()) == 2
            if not first:
                first = tuple(filter(is_told, session.history))
            assert await session.aclose() == 0
            assert await session.aclose() == 0
            assert not session.is_running
        assert [event.item for event in added] == [*first, *filter(is_told, session.history)]
        assert first[0] == AgentHandoff("", "weather")
        assert [event.reason for event in closed] == [CloseReason.USER_INITIATED] * 2

    run_virtual(main())


def test_a_session_that_runs_is_not_started_again() -> None:
    async def main() -> None:
        async with local() as session:
            await session.start(Weather())
            with pytest.raises(AgentError, match="The session runs already"):
                await session.start(Weather())
        assert not session.is_running

    run_virtual(main())


def test_a_session_that_was_not_started_says_so() -> None:
    async def main() -> None:
        session = local()
        assert await session.aclose() == 0
        with pytest.raises(AgentError, match="The session has not been started"):
            session.generate_reply()
        with pytest.raises(AgentError, match="42 is no agent"):
            await session.start(42)
        with pytest.raises(EngineError, match="no option 'bakend'"):
            AgentSession(bakend="local")

    run_virtual(main())


def test_a_start_that_fails_leaves_a_session_that_can_be_started() -> None:
    async def main() -> None:
        session = local()
        with pytest.raises(GeminiLiveError):
            await session.start(Weather(), model="local-nobody")
        await session.start(Weather())
        await session.aclose()

    run_virtual(main())


def test_tools_and_hooks_get_the_session_that_was_started() -> None:
    seen: list[Any] = []

    class Asking(Agent):
        """Ask."""

        def __init__(self) -> None:
            super().__init__(instructions="Ask.")

        async def on_enter(self) -> None:
            seen.append(self.session)

        @tool
        async def get_weather(self, context: RunContext) -> str:
            """Get the weather."""
            seen.append(context.session)
            return "sunny"

    async def main() -> None:
        async with local() as session:
            await session.start(Asking())
            await session.run("get weather")
            assert AgentSession.of(session.handle) is session
            assert seen == [session, session]

    run_virtual(main())


@pytest.mark.parametrize("end", ["drain", "aclose"])
def test_a_loop_of_another_thread_may_run_and_end_a_session(end: str) -> None:
    async def main() -> None:
        session = local()
        await session.start(Weather())
        said: list[RunResult] = []
        thread = Thread(target=lambda: said.append(asyncio.run(session.run("hello"))), daemon=True)
        thread.start()
        # Virtual time stands still while the loop waits for a thread, which here waits for time to pass.
        while thread.is_alive():
            await asyncio.to_thread(thread.join, 0.01)
            await asyncio.sleep(0.3)
        (result,) = said
        result.expect.contains_message(role="assistant")
        assert await asyncio.to_thread(lambda: asyncio.run(getattr(session, end)())) == 0
        assert not session.is_running

    run_virtual(main())


def test_options_are_those_given_and_those_in_force() -> None:
    async def main() -> None:
        async with local() as session:
            assert dict(session.options) == {"backend": "local", "fast": True}
            await session.start(Agent(name="plain", instructions="Be brief.", turn_detection="client"))
            assert session.options["turn_detection"] == "client"
            assert session.options["user_away_timeout"] == 15.0
            with pytest.raises(TypeError):
                session.options["fast"] = False  # type: ignore[index]
            await session.update_options(min_endpointing_delay=0.7)
            assert session.options["min_endpointing_delay"] == 0.7

    run_virtual(main())


async def test_a_drain_finishes_the_answer_the_speeches_that_wait_and_the_tools_and_closes_then() -> None:
    went_on = asyncio.Event()

    @tool
    async def look() -> str:
        """Look."""
        await went_on.wait()
        return "seen"

    async with talk(agent().tools(look)) as t:
        session = session_of(t)
        closed: list[Any] = []
        session.on("close", closed.append)
        await t.types("look")
        await t.calls("look")
        waiting = session.generate_reply(instructions="Say goodbye.")
        draining = asyncio.create_task(session.drain())
        await t.passes(10.0)
        assert not draining.done()
        went_on.set()
        await t.rests()
        assert t.sent("answer") == [("answer", "c1", {"output": "seen"})]
        await t.says("I saw it.")
        await t.ends()
        assert waiting.status == "asked"
        await t.says("Goodbye.")
        assert not draining.done()
        await t.ends()
        assert await draining == 0
        assert waiting.status == "done"
    assert [event.reason for event in closed] == [CloseReason.TASK_COMPLETED]
    assert t.all(ev.SessionEnded)[-1].by == "drain"


async def test_nothing_more_is_accepted_while_a_session_drains() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        await t.types("hello")
        await t.says("Well,")
        session.shutdown()
        for attempt in (
            session.generate_reply,
            lambda: session.update_agent(Weather()),
            lambda: session.update_tools([]),
            lambda: session.update_chat_ctx([]),
        ):
            with pytest.raises(GeminiLiveError, match="nothing more is accepted"):
                attempt()
        assert "the session ends once" in await t.commands(cmd.SendText(text="one more"))
        await t.ends()
        await t.stage.session.done


async def test_a_quiet_session_drains_at_once_and_again_does_nothing() -> None:
    async with talk(agent()) as t:
        session = session_of(t)
        assert await session.drain() == 0
        assert await session.drain() == 0
        session.shutdown()
        assert len(t.all(ev.SessionEnded)) == 1


async def test_the_microphone_is_closed_while_a_session_drains() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        await t.types("hello")
        await t.says("Well,")
        t.handle.send_audio(bytes(640))
        session_of(t).shutdown()
        await t.rests()
        assert t.wire[-1] == ("audioStreamEnd",)
        with pytest.raises(GeminiLiveError, match="takes no microphone audio now"):
            t.handle.send_audio(bytes(640))
        await t.ends()
        await t.stage.session.done


async def test_a_tool_ends_the_session_after_its_answer_and_cannot_wait_for_that() -> None:
    refused: list[str] = []

    @tool
    async def hang_up(context: RunContext) -> str:
        """Hang up."""
        try:
            await context.session.drain()
        except AgentError as error:
            refused.append(error.message)
        context.session.shutdown()
        return "goodbye"

    async with talk(agent().tools(hang_up)) as t:
        await t.types("bye")
        await t.calls("hang_up")
        assert t.sent("answer") == [("answer", "c1", {"output": "goodbye"})]
        await t.says("Goodbye.")
        assert t.all(ev.SessionEnded) == []
        await t.ends()
        await t.stage.session.done
    assert refused == ["A tool, a hook or a listener cannot wait for the end of the session, which waits for it"]
