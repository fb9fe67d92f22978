"""The link between an engine and a console: one encoding, over a socket or a queue.

Engine to console, one JSON object a line: first `{"hello": ...}`, then `{"snapshot": ...}` (the fold so far), then
events in their wire form and `{"sample": ...}` in between, last `{"bye": ...}` when the session is over or
`{"closed": ...}` when only this link is. Console to engine: first `{"hello": ...}` (with the door's token where there
is one), then commands in their wire form.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from gemini_live_runtime.commands import Command
from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.view import SessionView
from gemini_live_runtime.samples import MeterSample

MAX_COMMAND_BYTES = 1024 * 1024
"""Longest line accepted from a console; the longest typed text in its longest spelling is under half of it."""

MAX_LINE_BYTES = 32 * 1024 * 1024
"""Longest line accepted on a link; a snapshot of a full transcript stays well below."""


@dataclass(frozen=True, slots=True)
class Hello:
    """Who is at the engine's end."""

    session_id: str
    pid: int
    program: str
    folder: str = ""
    """Where the session is recorded on this machine; "" when it is not."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The fold at the moment of attaching; events continue at `view.seq` + 1."""

    view: SessionView


@dataclass(frozen=True, slots=True)
class Bye:
    """The engine's last word; `exit_code` is that of the session."""

    reason: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The engine ended this link, not the session. A console's `receive` turns it into `LinkClosed`."""

    reason: str


LinkMessage = Hello | Snapshot | Event | MeterSample | Bye


class LinkClosed(Exception):  # noqa: N818 - an end, not always an error
    """The link ended; `reason` is a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Link(Protocol):
    """A console's end of a link."""

    async def receive(self) -> LinkMessage:
        """The next message; raises `LinkClosed` when the engine is gone."""
        ...

    async def send(self, command: Command) -> None:
        """Hand a command to the engine; raises `LinkClosed`."""
        ...

    async def close(self) -> None:
        """Let go of the engine; it goes on."""
        ...


def encode(message: LinkMessage | Closed) -> str:
    """The line of a message, without the newline."""
    if isinstance(message, Event):
        return message.to_line()
    if isinstance(message, MeterSample):
        return _dumps({"sample": asdict(message)})
    if isinstance(message, Snapshot):
        return _dumps({"snapshot": message.view.to_json()})
    if isinstance(message, Bye):
        return _dumps({"bye": asdict(message)})
    if isinstance(message, Closed):
        return _dumps({"closed": asdict(message)})
    from gemini_live_runtime import vocabulary

    return _dumps({"hello": {**vocabulary.header(), **asdict(message)}})


def decode(line: str | bytes) -> LinkMessage:
    """The message of a line.

    Raises `ProtocolError`, `NewerFormatError` for a newer engine's hello, and `LinkClosed` for a `Closed`.
    """
    # pydantic comes with the vocabulary: a console must be able to paint before it is imported.
    from gemini_live_runtime import vocabulary

    try:
        value: Any = json.loads(line)
        if "seq" in value:
            return vocabulary.event_from_json(value)
        if "sample" in value:
            return MeterSample(**value["sample"])
        if "snapshot" in value:
            return Snapshot(SessionView.from_json(value["snapshot"]))
        if "bye" in value:
            return Bye(**value["bye"])
        if "closed" in value:
            raise LinkClosed(str(value["closed"]["reason"]))
        hello = value["hello"]
        vocabulary.check_header(hello, where="The engine's link")
        return Hello(str(hello["session_id"]), int(hello["pid"]), str(hello["program"]), str(hello.get("folder", "")))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ProtocolError(f"The engine sent a line that is not understood: {str(error)[:100]}") from None


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
