"""Connections of a session: what carries over to the next, and when it is made."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.unit.session.session_support import ScriptedServer, Stage, stage

from gemini_live_runtime import events as ev
from gemini_live_runtime.api import Live
from gemini_live_runtime.session.io.connections import MAX_AT_ONCE
from gemini_live_runtime.session.io.message_parts import MAX_CALLS_AT_ONCE, MAX_PARTS_AT_ONCE, in_parts
from gemini_live_runtime.tools.declaration import ToolContext, tool
from gemini_live_runtime.wire.content import Content, FunctionCall, Part
from gemini_live_runtime.wire.server import (
    GoAway,
    ServerContent,
    ServerMessage,
    ToolCall,
    ToolCallCancellation,
    Transcription,
)

HANDLE = "handle-that-is-secret"


def agent() -> Live:
    return Live.builder("test").instruction("Test.")


async def begins(s: Stage, handle: str = "") -> None:
    await s.begins()
    if handle:
        await gives(s, s.server, handle)


async def gives(s: Stage, server: ScriptedServer, handle: str) -> None:
    count = len(s.sink.all(ev.ConnectionResumable))
    await server.says(sessionResumptionUpdate={"newHandle": handle, "resumable": True})
    await s.sink.until(ev.ConnectionResumable, count + 1)


async def turn(s: Stage, server: ScriptedServer, text: str, answer: str) -> None:
    count = len(s.sink.all(ev.TurnCompleted))
    await s.types(text)
    await server.says(serverContent={"outputTranscription": {"text": answer}})
    await server.says(serverContent={"generationComplete": True})
    await server.says(serverContent={"turnComplete": True})
    await s.sink.until(ev.TurnCompleted, count + 1)
    await s.settled()


@pytest.mark.parametrize("left", ["nans", "infs", "1e400s", "-5s", "soon", ""])
async def test_a_go_away_with_an_impossible_time_changes_nothing(left: str) -> None:
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        await s.server.says(goAway={"timeLeft": left})
        await s.server.says(serverContent={"outputTranscription": {"text": "fine"}})
        await s.server.says(serverContent={"turnComplete": True})
        await s.sink.until(ev.TurnCompleted)
        await asyncio.sleep(60)
    assert s.exit_code == 0
    assert not [closed for closed in s.sink.all(ev.ConnectionClosed) if not closed.requested]


async def test_a_go_away_is_followed_in_the_next_pause_with_the_handle() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await begins(s, HANDLE)
        await s.server.says(goAway={"timeLeft": "50s"})
        other = await s.next_server()
        assert (await other.accepts())["sessionResumption"] == {"handle": HANDLE}
        ready = await s.sink.until(ev.ConnectionReady, 2)
        assert ready.resumed
        assert asyncio.get_running_loop().time() < 2
    assert HANDLE not in "".join(event.to_line() for event in s.sink.events)


async def test_a_go_away_waits_for_the_end_of_the_answer_but_not_longer_than_the_server() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await begins(s, HANDLE)
        await s.server.says(goAway={"timeLeft": "20s"})
        await s.server.says(serverContent={"outputTranscription": {"text": "I am still"}})
        await asyncio.sleep(17)
        assert len(s.sink.all(ev.ConnectionOpening)) == 1
        await (await s.next_server()).accepts()
        assert asyncio.get_running_loop().time() == pytest.approx(18, abs=0.1)


async def test_a_go_away_without_a_handle_waits_for_one() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        await s.server.says(goAway={"timeLeft": "20s"})
        await asyncio.sleep(10)
        await gives(s, s.server, HANDLE)
        other = await s.next_server()
        assert (await other.accepts())["sessionResumption"] == {"handle": HANDLE}


async def test_a_server_that_leaves_as_it_said_is_followed_even_without_a_handle() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        await turn(s, s.server, "my name is Ann", "Hello Ann")
        await s.server.says(goAway={"timeLeft": "20s"})
        await asyncio.sleep(1)
        await s.server.closes(1000)
        other = await s.next_server()
        assert (await other.accepts()).get("sessionResumption", {}) == {}
        told = (await other.hears_a("clientContent"))["turns"][0]["parts"][0]["text"]
        assert "my name is Ann" in told
        assert "Hello Ann" in told


async def test_a_handle_that_the_server_refuses_is_dropped_and_one_that_it_was_too_busy_for_is_not() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await begins(s, HANDLE)
        await s.server.closes(1011)
        busy = await s.next_server()
        await busy.hears_a("setup")
        await busy.closes(1011, "The service is currently unavailable.")
        refusing = await s.next_server()
        assert (await refusing.hears_a("setup"))["sessionResumption"] == {"handle": HANDLE}
        await refusing.closes(1008, "session not found")
        fresh = await s.next_server()
        assert (await fresh.accepts()).get("sessionResumption", {}) == {}


async def test_the_handle_of_a_session_that_was_begun_anew_since_is_not_brought() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await begins(s, HANDLE)
        server = s.server
        for _ in range(3):
            await server.closes(1011)
            server = await s.next_server()
            setup = await server.accepts()
            await s.settled()
        # The third attempt in a row began a fresh session; the old handle is of no use after that.
        assert setup.get("sessionResumption", {}) == {}
        await asyncio.sleep(60)
        assert s.session.handle.resume_handle() == ""
        await server.closes(1011)
        server = await s.next_server()
        assert (await server.accepts()).get("sessionResumption", {}) == {}


async def test_a_model_that_takes_instructions_only_at_the_beginning_is_connected_to_again() -> None:
    async with stage(agent=agent().instruction_route("reconnect"), mode="text") as s:
        await s.begins()
        server = s.server
        for number in range(8):
            s.session.handle.update_instruction(f"Rule {number}.")
            server = await s.next_server()
            setup = await server.accepts()
            assert setup["systemInstruction"]["parts"][0]["text"] == f"Rule {number}."
            await s.sink.until(ev.ConnectionReady, number + 2)
            await s.settled()
            await gives(s, server, f"{HANDLE}-{number}")
            if number:
                assert setup["sessionResumption"] == {"handle": f"{HANDLE}-{number - 1}"}
    assert s.exit_code == 0
    assert not s.sink.all(ev.CodeFailed)


async def test_an_instruction_that_never_stays_the_same_does_not_make_a_storm_of_connections() -> None:
    asked = 0

    def amendment(state: object) -> str:
        nonlocal asked
        asked += 1
        return f"It is {asked}."

    async with stage(
        agent=agent().instruction_route("reconnect").on("instruction_amendment", amendment), mode="text"
    ) as s:
        await s.begins()

        async def serves() -> None:
            while True:
                await (await s.next_server()).accepts()

        serving = asyncio.create_task(serves())
        await asyncio.sleep(60)
        serving.cancel()
    assert len(s.sink.all(ev.ConnectionOpening)) < 15


async def test_a_prompt_that_was_wanted_while_there_was_no_connection_goes_out_with_the_next() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        await s.server.closes(1011)
        await s.sink.until(ev.ConnectionClosed)
        s.session.handle.prompt()
        other = await s.next_server()
        await other.accepts()
        assert (await other.hears_a("clientContent"))["turnComplete"]
    assert not s.sink.all(ev.CodeFailed)


async def test_a_session_that_is_given_up_is_quiet_whatever_was_to_be_said() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        await s.server.closes(1008, "API key expired.")
        await s.sink.until(ev.ConnectionClosed)
        s.session.handle.prompt()
        async with asyncio.timeout(30):
            await s.session.handle.until_quiet()


def _slow_tool() -> tuple[asyncio.Event, Live]:
    done = asyncio.Event()

    @tool(background=True)
    async def search(ctx: ToolContext) -> str:
        """Search."""
        await done.wait()
        return "found"

    return done, agent().tools(search)


@pytest.mark.parametrize("handle", [HANDLE, ""])
@pytest.mark.parametrize("in_the_gap", [True, False])
async def test_a_background_result_reaches_the_model_over_a_lost_connection(handle: str, in_the_gap: bool) -> None:
    done, live = _slow_tool()

    async with stage(agent=live, mode="text") as s:
        await begins(s)
        await s.server.says(toolCall={"functionCalls": [{"id": "c1", "name": "search", "args": {}}]})
        await s.server.hears_a("toolResponse")
        if handle:
            await gives(s, s.server, handle)
        await s.server.closes(1011)
        await s.sink.until(ev.ConnectionClosed)
        other = await s.next_server()
        if in_the_gap:
            done.set()
            await s.sink.until(ev.ToolFinished)
        await other.accepts()
        await s.sink.until(ev.ConnectionReady, 2)
        await s.settled()
        done.set()
        if handle:
            answers = (await other.hears_a("toolResponse"))["functionResponses"]
            assert [(answer["id"], answer["response"]["result"]) for answer in answers] == [("c1", {"output": "found"})]
        else:
            # The new session has not made this call: its answer would be refused.
            while "[Result of search]" not in str(await other.hears_a("clientContent")):
                pass
            assert (await other.hears_a("clientContent"))["turnComplete"]
        await asyncio.sleep(1)
    assert len(s.sink.all(ev.ToolFinished)) == 1


async def most_at_once(s: Stage, kind: type[ev.Payload], count: int) -> int:
    """Return the most of `count` events that came between two turns of a task."""
    most = seen = 0
    while seen < count:
        now = len(s.sink.all(kind))
        most, seen = max(most, now - seen), now
        await asyncio.sleep(0)
    return most


async def test_other_tasks_run_while_a_flood_of_messages_is_read() -> None:
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        # A socket has many frames at once; each `says` would let the session run in between.
        frames = [f'{{"serverContent": {{"outputTranscription": {{"text": "{number} "}}}}}}' for number in range(300)]
        s.server._transport._peer._inbox.extend(frames[1:])
        looking = asyncio.create_task(most_at_once(s, ev.TranscriptDelta, 300))
        await s.server.sends(frames[0])
        assert await looking <= MAX_AT_ONCE


async def test_other_tasks_run_while_the_calls_of_one_message_are_read() -> None:
    calls = [{"id": f"c{number}", "name": "no_tool", "args": {}} for number in range(1000)]
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        looking = asyncio.create_task(most_at_once(s, ev.ToolCalled, 1000))
        await s.server.sends(json.dumps({"toolCall": {"functionCalls": calls}}))
        assert await looking <= MAX_CALLS_AT_ONCE


async def test_other_tasks_run_while_the_parts_of_one_message_are_read() -> None:
    parts = [{"text": f"{number} "} for number in range(1000)]
    async with stage(agent=agent(), mode="text") as s:
        await s.begins()
        looking = asyncio.create_task(most_at_once(s, ev.TranscriptDelta, 1000))
        await s.server.sends(json.dumps({"serverContent": {"modelTurn": {"parts": parts}}}))
        assert await looking <= MAX_PARTS_AT_ONCE


def test_a_message_with_many_parts_is_divided_and_what_ends_the_turn_comes_last() -> None:
    message = ServerMessage(
        server_content=ServerContent(
            input_transcription=Transcription(text="said"),
            model_turn=Content(role="model", parts=tuple(Part(text=f"{n} ") for n in range(250))),
            output_transcription=Transcription(text="spoken"),
            turn_complete=True,
        ),
        tool_call=ToolCall(function_calls=tuple(FunctionCall(id=f"c{n}", name="f") for n in range(150))),
        go_away=GoAway(),
        problems=("p",),
    )

    parts = list(in_parts(message))
    contents = [part.server_content for part in parts if part.server_content is not None]
    texts = [part.text for content in contents if content.model_turn for part in content.model_turn.parts]

    assert texts == [f"{n} " for n in range(250)]
    assert [content.input_transcription is not None for content in contents] == [True, False, False]
    assert [content.output_transcription is not None for content in contents] == [False, False, True]
    assert [content.turn_complete for content in contents] == [None, None, True]
    assert [part.tool_call is not None for part in parts] == [False, False, True, True]
    assert [part.go_away is not None for part in parts] == [False, False, False, True]
    assert [part.problems for part in parts] == [("p",), (), (), ()]


def test_the_parts_of_a_message_with_many_calls_hold_everything_once_and_in_order() -> None:
    message = ServerMessage(
        server_content=ServerContent(turn_complete=True),
        tool_call=ToolCall(function_calls=tuple(FunctionCall(id=f"c{n}", name="f") for n in range(250))),
        tool_call_cancellation=ToolCallCancellation(ids=("c1",)),
        go_away=GoAway(),
        problems=("p",),
    )

    parts = list(in_parts(message))

    assert [call.id for part in parts for call in part.tool_call.function_calls] == [f"c{n}" for n in range(250)]
    assert [part.server_content is not None for part in parts] == [True, False, False]
    assert [part.problems for part in parts] == [("p",), (), ()]
    assert [part.tool_call_cancellation is not None for part in parts] == [False, False, True]
    assert [part.go_away is not None for part in parts] == [False, False, True]


def test_a_message_with_few_calls_stays_whole() -> None:
    message = ServerMessage(tool_call=ToolCall(function_calls=(FunctionCall(id="c1", name="f"),)))
    assert list(in_parts(message)) == [message]
