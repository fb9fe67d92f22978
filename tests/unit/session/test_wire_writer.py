"""Posting to the socket: order, events, and messages that could not be sent."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError, ProtocolError
from gemini_live_runtime.session.core.effects import Send
from gemini_live_runtime.session.link.controller import RealtimeSessionController
from gemini_live_runtime.session.outbound.context_queue import MAX_NOTES
from gemini_live_runtime.session.outbound.wire_writer import WireWriter
from gemini_live_runtime.session.ports.capabilities import Capabilities, Route
from gemini_live_runtime.session.ports.provider import RealtimeProviderAdapter
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.closes import closed_error
from gemini_live_runtime.wire.codec import client_to_json
from gemini_live_runtime.wire.messages import ClientMessage


class Line:
    """A connection that takes messages, refuses them, or loses them on the way."""

    def __init__(self, refuses: GeminiLiveError | None = None) -> None:
        self.refuses = refuses
        self.closed = False
        self.posted: list[dict[str, Any]] = []
        self.futures: list[asyncio.Future[None]] = []

    def post(self, message: ClientMessage) -> asyncio.Future[None]:
        if self.refuses is not None:
            raise self.refuses
        self.posted.append(dict(client_to_json(message)))
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]

    def send_audio(self, pcm: bytes) -> None:
        self.posted.append({"audio": len(pcm)})


class Harness:
    def __init__(self, line: Line | None, *, realtime: bool = False, route: Route = "user_note") -> None:
        self.told: list[ev.Payload] = []
        self.lost: list[Send] = []
        self.prompts = 0
        capabilities = Capabilities(text_is_realtime=realtime, context_mid_session=not realtime)
        self.link = RealtimeSessionController()
        if line is not None:
            self.link.begin_opening()
            self.link.on_opened(0.0, cast("RealtimeProviderAdapter", line))
        self.writer = WireWriter(
            self.link, capabilities, route, emit=self.told.append, on_prompt=self._prompted, on_lost=self.lost.append
        )

    def _prompted(self) -> None:
        self.prompts += 1


TEXT = Send(compose.text_turn("hello"), "c1", "hello")


def test_without_a_connection_context_raises_and_nothing_is_said_to_have_been_sent() -> None:
    harness = Harness(None)
    assert not harness.writer.live
    with pytest.raises(ConnectionClosedError):
        harness.writer.send_context(["x"])
    with pytest.raises(ConnectionClosedError):
        harness.writer.prompt_model()
    with pytest.raises(ConnectionClosedError):
        harness.writer.activity_end()
    assert harness.told == []
    assert harness.prompts == 0


async def test_a_text_that_is_lost_on_the_way_or_at_the_door_is_reported_once() -> None:
    line = Line()
    harness = Harness(line)
    harness.writer.post(TEXT)
    line.futures[0].set_exception(closed_error(1006))
    await harness.writer.drain()
    await asyncio.sleep(0)
    assert harness.lost == [TEXT]
    Harness.__init__(harness, Line(closed_error(1006)))
    harness.writer.post(TEXT)
    assert harness.lost == [TEXT]
    assert harness.told == []


@pytest.mark.parametrize("send", [TEXT, Send(compose.activity_end())], ids=["text", "mark"])
def test_a_message_of_the_core_without_a_connection_is_told_and_goes_to_the_next(send: Send) -> None:
    harness = Harness(None)
    harness.writer.post(send)
    (told,) = harness.told
    assert isinstance(told, ev.Log)
    assert "There is no connection for this message: the link is closed." in told.text
    assert harness.lost == [send]


def test_a_message_that_cannot_be_written_is_an_error_that_is_told() -> None:
    harness = Harness(Line(ProtocolError("too long")))
    harness.writer.post(TEXT)
    assert harness.lost == []
    assert [notice.text for notice in harness.told if isinstance(notice, ev.Notice)] == ["Not sent: too long"]


async def test_context_and_prompts_are_posted_in_order_and_told_after_they_were_taken() -> None:
    line = Line()
    harness = Harness(line)
    harness.writer.send_context(["a", "b"], reason="why")
    harness.writer.prompt_model("now")
    harness.writer.send_context(["c"], prompt=True)
    assert [frame["clientContent"].get("turnComplete") for frame in line.posted] == [False, True, True]
    assert [payload.type for payload in harness.told] == [
        "send.intended",
        "context.sent",
        "prompt.changed",
        "send.intended",
        "context.sent",
    ]
    assert harness.prompts == 2
    for future in line.futures:
        # The connection's end is its reader's to tell: nobody is bothered with each message.
        future.set_exception(closed_error(1006))
    await harness.writer.drain()
    assert harness.lost == []


@pytest.mark.parametrize(
    ("route", "kind"),
    [("context_update", "contextUpdate"), ("system_content", "clientContent"), ("user_note", "clientContent")],
)
async def test_an_instruction_travels_by_its_route_and_says_which(route: Route, kind: str) -> None:
    line = Line()
    harness = Harness(line, route=route)
    harness.writer.update_instruction("Be kind.", "phase changed")
    assert kind in str(line.posted[0])
    told = ev.InstructionUpdated(text="Be kind.", via=route, reasons=("phase changed",), ref="instruction-1")
    assert harness.told[1:] == [told]


async def test_what_is_sent_is_intended_before_under_a_name_of_its_own_that_its_result_has_too() -> None:
    line = Line()
    harness = Harness(line)
    harness.writer.send_context(["a"])
    harness.writer.update_instruction("Be kind.")
    harness.writer.send_context(["b"])
    assert [(payload.type, getattr(payload, "ref", "")) for payload in harness.told] == [
        ("send.intended", "context-1"),
        ("context.sent", "context-1"),
        ("send.intended", "instruction-2"),
        ("instruction.updated", "instruction-2"),
        ("send.intended", "context-3"),
        ("context.sent", "context-3"),
    ]


def test_an_intent_that_the_connection_did_not_take_ends_as_failed() -> None:
    harness = Harness(Line(closed_error(1006)))
    with pytest.raises(ConnectionClosedError):
        harness.writer.send_context(["a"])
    assert harness.told == [
        ev.SendIntended(kind="context", ref="context-1"),
        ev.SendSettled(kind="context", outcome="failed", ref="context-1"),
    ]


async def test_context_that_a_text_carries_is_intended_before_the_text_goes_out() -> None:
    line = Line()
    harness = Harness(line, realtime=True)
    harness.writer.send_context(["a"])
    harness.writer.post(TEXT)
    assert [(payload.type, getattr(payload, "ref", "")) for payload in harness.told] == [
        ("context.sent", ""),
        ("send.intended", "context-1"),
        ("context.sent", "context-1"),
    ]


def test_a_model_that_takes_instructions_only_at_the_beginning_gets_none_in_between() -> None:
    line = Line()
    with pytest.raises(GeminiLiveError, match="new connection"):
        Harness(line, route="reconnect").writer.update_instruction("Be kind.")
    assert line.posted == []


async def test_typed_text_travels_as_the_model_wants_it() -> None:
    turn, realtime = Line(), Line()
    Harness(turn).writer.send_text("hello")
    Harness(realtime, realtime=True).writer.send_text("hello")
    assert "clientContent" in turn.posted[0]
    assert "realtimeInput" in realtime.posted[0]


def said(line: Line) -> list[str]:
    return [frame["realtimeInput"]["text"] for frame in line.posted]


async def test_where_context_does_not_travel_it_waits_for_a_text_and_goes_once() -> None:
    line = Line()
    harness = Harness(line, realtime=True)
    harness.writer.send_context(["a"], reason="why")
    assert line.posted == []
    harness.writer.post(TEXT)
    harness.writer.send_context(["b", "c"], "user")
    harness.writer.prompt_model("now")
    harness.writer.send_text("typed")
    harness.writer.send_context(["d"], prompt=True)
    assert said(line) == [
        "[Context] a\n\nhello",
        "[Context] b\n[Context] c\n[Please go on]",
        "typed",
        "[Context] d\n[Please go on]",
    ]
    sent = [payload for payload in harness.told if isinstance(payload, ev.ContextSent)]
    assert [(context.texts, context.queued) for context in sent] == [
        (("a",), True),
        (("a",), False),
        (("b", "c"), True),
        (("b", "c"), False),
        (("d",), True),
        (("d",), False),
    ]
    assert harness.prompts == 2


def test_context_that_could_not_go_along_waits_on() -> None:
    harness = Harness(Line(closed_error(1006)), realtime=True)
    harness.writer.send_context(["a"])
    harness.writer.post(TEXT)
    with pytest.raises(ConnectionClosedError):
        harness.writer.prompt_model()
    assert harness.lost == [TEXT]
    assert harness.writer.deferred is not None
    assert list(harness.writer.deferred.waiting) == ["a"]


def test_context_that_asks_for_an_answer_does_not_wait_where_nobody_can_be_asked() -> None:
    harness = Harness(None, realtime=True)
    with pytest.raises(ConnectionClosedError):
        harness.writer.send_context(["a"], prompt=True)
    assert harness.told == []
    assert harness.writer.deferred is not None
    assert not harness.writer.deferred.waiting


def test_more_context_than_can_wait_is_told_of() -> None:
    harness = Harness(Line(), realtime=True)
    harness.writer.send_context([str(number) for number in range(MAX_NOTES + 2)])
    (notice,) = [payload for payload in harness.told if isinstance(payload, ev.Notice)]
    assert "2 notes" in notice.text
    assert harness.writer.deferred is not None
    assert harness.writer.deferred.waiting[0] == "2"
