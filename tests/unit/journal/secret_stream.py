"""A session's texts in pieces, through the hub that redacts them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.engine import hub as hub_module
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.link import decode
from gemini_live_runtime.journal.recording.wire_recorder import WireRecorder
from gemini_live_runtime.redactor import Redactor
from gemini_live_runtime.wire.codec import decode_server_message

STARTED = ev.SessionStarted(
    session_id="s1", agent="a", model="m", backend="local", wall=0.0, record="off", mode="voice", program="p"
)
KNOWN = "hunter2-Größe"
KEY = "AIzaSyD3adBeefD3adBeef"
LONG_TOKEN = "ghp_kV9ZbTnWxLrJmHsP4GfCyReAuNofTiB7aQzMw81yT"


class Session:
    """A hub and the events that its console has got so far."""

    def __init__(self) -> None:
        self.hub = Hub("s1", LoopClock(), program="p", pid=1)
        self.outbox = self.hub.attach()
        self.events: list[ev.Event] = []
        self.hub.emit(STARTED, turn=0, gen=0)

    def says(self, text: str, *, turn: int = 1, side: ev.Side = "model", **fields: Any) -> str:
        """Return the text that the session's own handlers get."""
        event = self.hub.emit(ev.TranscriptDelta(side=side, text=text, **fields), turn=turn, gen=turn)
        assert isinstance(event.payload, ev.TranscriptDelta)
        return event.payload.text

    def receives(self, text: str) -> None:
        recorder = WireRecorder(lambda payload: self.hub.emit(payload, turn=1, gen=1), self.hub, lambda: 0.0)
        raw = json.dumps({"serverContent": {"outputTranscription": {"text": text}}})
        recorder.on_received(decode_server_message(raw), len(raw))

    async def shown(self) -> list[ev.Event]:
        self.outbox.push_sample("{}")
        lines = [line for line in await self.outbox.take() if line.startswith('{"seq"')]
        self.events += [event for line in lines if isinstance(event := decode(line), ev.Event)]
        return self.events

    async def text(self) -> str:
        deltas = [event.payload for event in await self.shown() if event.type == "transcript.delta"]
        return "".join(delta.text for delta in deltas)

    async def wire_text(self) -> str:
        frames = [event.payload.frame for event in await self.shown() if event.type == "wire.message"]
        return "".join(frame["serverContent"]["outputTranscription"]["text"] for frame in frames)


def with_session(body: Callable[[Session], Awaitable[None]]) -> None:
    """Run `body` in virtual time, with `KNOWN` as a secret in use."""
    found = Redactor()
    found.add(KNOWN)

    async def main() -> None:
        session = Session()
        await body(session)
        session.hub.bye("over", 0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hub_module, "redactor", found)
        run_virtual(main())


def splits(text: str) -> Iterator[list[str]]:
    """Return `text` letter by letter, and in two and three pieces at every place."""
    yield list(text)
    for at in range(len(text) + 1):
        yield [text[:at], text[at:]]
        yield [text[:at], text[at : at + 3], text[at + 3 :]]


def parts(secret: str) -> list[str]:
    """Return every six letters of a secret in a row."""
    return [secret[at : at + 6] for at in range(len(secret) - 5)]
