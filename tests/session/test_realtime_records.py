"""A session's events give the records of a realtime controller, in their order."""

from __future__ import annotations

import base64
import json
from itertools import pairwise

from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.journal.realtime import RealtimeProjection, RealtimeRecord

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
