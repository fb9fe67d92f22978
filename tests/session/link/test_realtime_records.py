"""A session's events give the records of a realtime controller, in their order."""

from __future__ import annotations

import asyncio
import base64
import json
from itertools import pairwise

from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime import tool
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.journal.realtime import RealtimeProjection, RealtimeRecord


@tool(background=True)
async def later() -> str:
    """Look something up in the background."""
    await asyncio.sleep(1)
    return "done"


@tool
async def waits() -> str:
    """Look something up for a while."""
    await asyncio.sleep(1)
    return "done"


SECOND = b"\x01\x00" * 16_000


def records(t: Talk) -> list[RealtimeRecord]:
    projection = RealtimeProjection()
    return [record for event in t.stage.sink.events for record in projection.feed(event)]


def kinds(t: Talk) -> list[str]:
    return [record.kind for record in records(t)]


async def test_connect_send_receive_interrupt_and_restart_have_the_original_sequence() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        t.handle.send_audio(SECOND)
        await t.rests()
        await t.server.says(serverContent={"modelTurn": {"parts": [_sound()]}})
        await t.rests()
        assert await t.commands(cmd.Interrupt()) == ""
        found = kinds(t)
        assert found[: found.index("interrupted") + 1] == [
            "connect_requested",
            "connected",
            "input_send_requested",
            "input_sent",
            "output_receive_requested",
            "output_received",
            "interrupt_requested",
            "interrupted",
        ]
        before = len(found)
        t.stage.refuses_until(1.0)
        await t.server.closes(1011)
        await t.rests()
        await t.types("are you there?")
        await t.connects_again()
        again = [kind for kind in kinds(t)[before:] if not kind.startswith(("input", "output"))]
        assert again[:2] == ["restart_requested", "restart_started"]
        assert "backpressure_applied" in again
        assert again[-1] == "restart_completed"
        assert set(again[2:-1]) <= {"restart_failed", "restart_started", "backpressure_applied"}
    assert kinds(t)[-2:] == ["close_requested", "closed"]


async def test_a_text_is_requested_once_and_sent_once_though_it_waits() -> None:
    async with talk(agent(), mode="text") as t:
        t.stage.refuses_until(1.0)
        await t.server.closes(1006)
        await t.types("hello")
        await t.connects_again()
        texts = [record.kind for record in records(t) if record.media == "text" and record.ref == "c"]
        assert texts == ["input_send_requested", "input_sent"]


def sending(t: Talk, *names: str) -> list[tuple[str, str]]:
    """Return the kinds and names of the records of what was sent, of these names."""
    found = [(record.kind, record.ref) for record in records(t) if record.kind.startswith("input")]
    return [(kind, name) for kind, name in found if not names or name in names]


def both(name: str) -> list[tuple[str, str]]:
    """Return a request and its result."""
    return [("input_send_requested", name), ("input_sent", name)]


async def test_answers_context_and_instructions_are_requested_before_they_are_sent() -> None:
    async with talk(agent().tools(waits), mode="text") as t:
        t.handle.send_context("It rains.")
        t.handle.update_instruction("Be kind.")
        await t.calls("waits")
        await t.passes(2)
        assert sending(t) == [*both("context-1"), *both("instruction-2"), *both("c1")]


async def test_a_background_call_is_answered_twice_each_after_its_request() -> None:
    async with talk(agent().tools(later), mode="text") as t:
        await t.calls("later")
        await t.passes(2)
        assert sending(t, "c1") == both("c1") * 2


async def test_an_answer_that_waited_for_a_connection_is_sent_once_and_after_its_request() -> None:
    async with talk(agent().tools(waits), mode="text") as t:
        await t.types("go")
        await t.calls("waits")
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        t.stage.refuses_until(3)
        await t.server.closes(1006)
        await t.connects_again()
        assert [one[:2] for one in t.sent("answer")] == [("answer", "c1")]
        assert sending(t, "c1") == both("c1")


async def test_sound_is_requested_a_second_at_a_time_before_it_is_sent() -> None:
    async with talk(agent(), audio=ProgramAudio) as t:
        for _ in range(125):
            t.handle.send_audio(SECOND[: len(SECOND) // 50])
            await t.passes(0.02)
        await t.hears("hello")
        assert sending(t) == [
            *both("user:0+16000"),
            *both("user:16000+16000"),
            ("input_send_requested", "user:32000+16000"),
            ("input_sent", "user:32000+8000"),
        ]


async def test_what_says_something_goes_over_the_wire_after_its_intent() -> None:
    async with talk(agent(), mode="text") as t:
        t.handle.send_context("It rains.")
        await t.rests()
        await t.types("hello")
    told = []
    for event in t.stage.sink.events:
        match event.payload:
            case ev.SendIntended(kind=kind):
                told.append(kind)
            case ev.WireMessage(direction="sent", kinds=("clientContent",)):
                told.append("sent")
    assert told == ["context", "sent", "text", "sent"]


async def test_cursors_and_restarts_only_grow_and_count_what_succeeded() -> None:
    async with talk(agent()) as t:
        await t.turn()
        await t.server.closes(1006)
        await t.connects_again()
        await t.turn("again", "yes")
    found = records(t)
    for earlier, later in pairwise(found):
        for name in ("send_cursor", "receive_cursor", "restart_count", "connection"):
            assert getattr(later, name) >= getattr(earlier, name)
    assert (found[-1].connection, found[-1].restart_count) == (2, 1)


async def test_a_link_that_is_given_up_is_closed_with_its_reason() -> None:
    async with talk(agent()) as t:
        await t.server.closes(1008, "API key not valid")
        await t.rests()
        last = records(t)[-1]
        assert (last.kind, last.close_reason) == ("closed", "policy_denial")


def test_a_record_holds_no_sound_and_no_empty_field() -> None:
    span = ev.WireAudio(
        direction="sent", track="user", rate=16_000, first=320, count=640, frames=((320, 2),), mime_type="audio/pcm"
    )
    (_, sent) = RealtimeProjection().feed(ev.Event(7, 1.5, 0, 1, span))
    assert json.dumps(sent.to_json()) == (
        '{"kind": "input_sent", "seq": 7, "t": 1.5, "connection": 0, "response": 1, "send_cursor": 1, '
        '"receive_cursor": 0, "restart_count": 0, "media": "audio", "ref": "user:320+640"}'
    )


def _sound() -> dict[str, object]:
    data = base64.b64encode(b"\x01\x00" * 24_000).decode()
    return {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}
