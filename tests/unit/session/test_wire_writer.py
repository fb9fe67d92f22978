"""Posting to the socket: order, events, and messages that could not be sent."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError, ProtocolError
from gemini_live_runtime.session.core.effects import Send
from gemini_live_runtime.session.io.wire_writer import WireWriter
from gemini_live_runtime.session.outbound.capabilities import Capabilities, Route
from gemini_live_runtime.session.outbound.context_queue import MAX_NOTES
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.closes import closed_error
from gemini_live_runtime.wire.codec import client_to_json
from gemini_live_runtime.wire.connection import Connection
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


class Desk:
    def __init__(self, line: Line | None, *, realtime: bool = False, route: Route = "user_note") -> None:
        self.told: list[ev.Payload] = []
        self.lost: list[Send] = []
        self.prompts = 0
        capabilities = Capabilities(text_is_realtime=realtime, context_mid_session=not realtime)
        self.writer = WireWriter(
            capabilities, route, emit=self.told.append, on_prompt=self._prompted, on_lost=self.lost.append
        )
        self.writer.connection = cast("Connection | None", line)

    def _prompted(self) -> None:
        self.prompts += 1


TEXT = Send(compose.text_turn("hello"), "c1", "hello")


def test_without_a_connection_context_raises_and_nothing_is_said_to_have_been_sent() -> None:
    desk = Desk(None)
    assert not desk.writer.live
    with pytest.raises(ConnectionClosedError):
        desk.writer.send_context(["x"])
    with pytest.raises(ConnectionClosedError):
        desk.writer.prompt_model()
    with pytest.raises(ConnectionClosedError):
        desk.writer.activity_end()
    assert desk.told == []
    assert desk.prompts == 0


async def test_a_text_that_is_lost_on_the_way_or_at_the_door_is_reported_once() -> None:
    line = Line()
    desk = Desk(line)
    desk.writer.post(TEXT)
    line.futures[0].set_exception(closed_error(1006))
    await desk.writer.settled()
    await asyncio.sleep(0)
    assert desk.lost == [TEXT]
    Desk.__init__(desk, Line(closed_error(1006)))
    desk.writer.post(TEXT)
    assert desk.lost == [TEXT]
    assert desk.told == []


def test_a_message_that_cannot_be_written_is_an_error_that_is_told() -> None:
    desk = Desk(Line(ProtocolError("too long")))
    desk.writer.post(TEXT)
    assert desk.lost == []
    assert [notice.text for notice in desk.told if isinstance(notice, ev.Notice)] == ["Not sent: too long"]


async def test_context_and_prompts_are_posted_in_order_and_told_after_they_were_taken() -> None:
    line = Line()
    desk = Desk(line)
    desk.writer.send_context(["a", "b"], reason="why")
    desk.writer.prompt_model("now")
    desk.writer.send_context(["c"], prompt=True)
    assert [frame["clientContent"].get("turnComplete") for frame in line.posted] == [False, True, True]
    assert [type(payload) for payload in desk.told] == [ev.ContextSent, ev.PromptChanged, ev.ContextSent]
    assert desk.prompts == 2
    for future in line.futures:
        # The connection's end is its reader's to tell: nobody is bothered with each message.
        future.set_exception(closed_error(1006))
    await desk.writer.settled()
    assert desk.lost == []


@pytest.mark.parametrize(
    ("route", "kind"),
    [("context_update", "contextUpdate"), ("system_content", "clientContent"), ("user_note", "clientContent")],
)
async def test_an_instruction_travels_by_its_route_and_says_which(route: Route, kind: str) -> None:
    line = Line()
    desk = Desk(line, route=route)
    desk.writer.update_instruction("Be kind.", "phase changed")
    assert kind in str(line.posted[0])
    assert desk.told == [ev.InstructionUpdated(text="Be kind.", via=route, reasons=("phase changed",))]


def test_a_model_that_takes_instructions_only_at_the_beginning_gets_none_in_between() -> None:
    line = Line()
    with pytest.raises(GeminiLiveError, match="new connection"):
        Desk(line, route="reconnect").writer.update_instruction("Be kind.")
    assert line.posted == []


async def test_typed_text_travels_as_the_model_wants_it() -> None:
    turn, realtime = Line(), Line()
    Desk(turn).writer.send_text("hello")
    Desk(realtime, realtime=True).writer.send_text("hello")
    assert "clientContent" in turn.posted[0]
    assert "realtimeInput" in realtime.posted[0]


def said(line: Line) -> list[str]:
    return [frame["realtimeInput"]["text"] for frame in line.posted]


async def test_where_context_does_not_travel_it_waits_for_a_text_and_goes_once() -> None:
    line = Line()
    desk = Desk(line, realtime=True)
    desk.writer.send_context(["a"], reason="why")
    assert line.posted == []
    desk.writer.post(TEXT)
    desk.writer.send_context(["b", "c"], "user")
    desk.writer.prompt_model("now")
    desk.writer.send_text("typed")
    desk.writer.send_context(["d"], prompt=True)
    assert said(line) == [
        "[Context] a\n\nhello",
        "[Context] b\n[Context] c\n[Please go on]",
        "typed",
        "[Context] d\n[Please go on]",
    ]
    sent = [payload for payload in desk.told if isinstance(payload, ev.ContextSent)]
    assert [(context.texts, context.queued) for context in sent] == [
        (("a",), True),
        (("a",), False),
        (("b", "c"), True),
        (("b", "c"), False),
        (("d",), True),
        (("d",), False),
    ]
    assert desk.prompts == 2


def test_context_that_could_not_go_along_waits_on() -> None:
    desk = Desk(Line(closed_error(1006)), realtime=True)
    desk.writer.send_context(["a"])
    desk.writer.post(TEXT)
    with pytest.raises(ConnectionClosedError):
        desk.writer.prompt_model()
    assert desk.lost == [TEXT]
    assert desk.writer.held is not None
    assert list(desk.writer.held.waiting) == ["a"]


def test_context_that_asks_for_an_answer_does_not_wait_where_nobody_can_be_asked() -> None:
    desk = Desk(None, realtime=True)
    with pytest.raises(ConnectionClosedError):
        desk.writer.send_context(["a"], prompt=True)
    assert desk.told == []
    assert desk.writer.held is not None
    assert not desk.writer.held.waiting


def test_more_context_than_can_wait_is_told_of() -> None:
    desk = Desk(Line(), realtime=True)
    desk.writer.send_context([str(number) for number in range(MAX_NOTES + 2)])
    (notice,) = [payload for payload in desk.told if isinstance(payload, ev.Notice)]
    assert "2 notes" in notice.text
    assert desk.writer.held is not None
    assert desk.writer.held.waiting[0] == "2"
