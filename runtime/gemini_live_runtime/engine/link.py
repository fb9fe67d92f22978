"""Encode the messages between an engine and a console, over a socket or a queue.

Engine to console, one JSON object a line: first `{"hello": ...}`, then `{"snapshot": ...}` (the view so far), then
events in their wire form with `{"sample": ...}` in between, last `{"bye": ...}` when the session is over or
`{"closed": ...}` when only this link is. Console to engine: first `{"hello": ...}` (over TCP with the server's token),
then commands in their wire form.

Events are complete and in order; a sample may be dropped for a newer one. A sample is sent at least every `beat_s` of
the hello: silence means that the engine hangs. The snapshot's `seq` is that of the last
event folded into it, so the console knows which event comes next.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Protocol

from gemini_live_runtime.commands import Command
from gemini_live_runtime.errors import JournalError, NewerFormatError, ProtocolError
from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.completion.missing_parts import MissingPart
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.json_values import encode_line
from gemini_live_runtime.records import record
from gemini_live_runtime.samples import MeterSample

MAX_COMMAND_BYTES = 1024 * 1024
"""Longest line accepted from a console, in bytes: twice the longest typed text, fully escaped."""

MAX_LINE_BYTES = 32 * 1024 * 1024
"""Longest line sent by an engine, in bytes; a console skips a longer one.

Events are far below it, see `large_values`; a snapshot that would be longer leaves out large values of state.
"""


_MAX_TEXT = 100_000
"""Characters of the longest text of an agent's view, its `MAX_JSON`."""


_HEAD_CHARS = 200
"""Characters of an event's line in which its type stands."""


@record
class Hello:
    """Identity of the engine."""

    session_id: str
    pid: int
    program: str
    folder: str = ""
    """Folder of the recording on this machine; "" for none."""
    beat_s: float = 0.0
    """Seconds between samples at most, after which the engine hangs; 0 when it need not send any."""
    harness_root: str = ""
    """Folder of the tasks, notifications and memories on this machine; "" where they end with the session."""


@record
class Snapshot:
    """View at the moment of attaching; events continue at `view.seq` + 1."""

    view: SessionView


@record
class Bye:
    """End of the session, with its exit code, and what its run lacks to be complete."""

    reason: str
    exit_code: int
    missing: tuple[MissingPart, ...] = ()


@record
class Closed:
    """End of this link, but not of the session.

    A console's `receive` turns it into `LinkClosed`.
    """

    reason: str


LinkMessage = Hello | Snapshot | Event | MeterSample | Bye


class LinkClosed(Exception):  # noqa: N818 - an end, not always an error
    """End of a link; `reason` is a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Link(Protocol):
    """Console's end of a link."""

    async def receive(self) -> LinkMessage:
        """Wait for the next message; raises `LinkClosed` when the engine is gone."""
        ...

    async def send(self, command: Command) -> None:
        """Send a command to the engine; raises `LinkClosed`."""
        ...

    async def close(self) -> None:
        """Detach from the engine, which keeps running."""
        ...

    async def reattach(self) -> Link:
        """Return a new link to the same engine.

        Raises `ConnectionRefusedError` or `FileNotFoundError` when the engine is gone, another `OSError` when it cannot
        be reached now.
        """
        ...


def encode(message: LinkMessage | Closed) -> str:
    """Return the line of a message, without the newline."""
    if isinstance(message, Event):
        return message.to_line()
    if isinstance(message, MeterSample):
        return encode_line({"sample": asdict(message)})
    if isinstance(message, Snapshot):
        return encode_snapshot(message.view)
    if isinstance(message, Bye):
        return encode_line({"bye": asdict(message)})
    if isinstance(message, Closed):
        return encode_line({"closed": asdict(message)})
    from gemini_live_runtime import vocabulary

    return encode_line({"hello": {**vocabulary.header(), **asdict(message)}})


def encode_snapshot(view: SessionView) -> str:
    """Return the line of a snapshot.

    If it is too long, large values of the agent are left out.
    """
    value = view.to_json()
    line = encode_line({"snapshot": value})
    longest = _MAX_TEXT
    while _is_too_long(line) and longest:
        longest //= 10
        line = encode_line({"snapshot": {**value, "mind": _without_long_texts(value["mind"], longest)}})
    return line


def _is_too_long(line: str) -> bool:
    # UTF-8 takes at most four bytes for a character.
    return len(line) * 4 > MAX_LINE_BYTES and len(line.encode()) > MAX_LINE_BYTES


def _without_long_texts(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        # Some texts are JSON themselves: the note is JSON as well as text.
        return value if len(value) <= max(longest, 60) else f'"(too long to show: {len(value):,} characters)"'
    if isinstance(value, dict):
        return {name: _without_long_texts(item, longest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_long_texts(item, longest) for item in value]
    return value


def decode(line: str | bytes) -> LinkMessage:
    """Return the message of a line.

    Raises `ProtocolError`, `NewerFormatError` for a newer engine's hello, and `LinkClosed` for a `Closed`.
    """
    # Imported here: the vocabulary brings pydantic, and a console paints before it loads that.
    from gemini_live_runtime import vocabulary

    try:
        value: Any = json.loads(line)
        if "seq" in value:
            return vocabulary.event_from_json(value)
        if "sample" in value:
            return vocabulary.checked(MeterSample, value["sample"])
        if "snapshot" in value:
            return Snapshot(SessionView.from_json(value["snapshot"]))
        if "bye" in value:
            return vocabulary.checked(Bye, value["bye"])
        if "closed" in value:
            raise LinkClosed(str(value["closed"]["reason"]))
        hello = value["hello"]
        check_hello(hello, "The engine")
        return Hello(
            str(hello["session_id"]),
            int(hello["pid"]),
            str(hello["program"]),
            str(hello.get("folder", "")),
            float(hello.get("beat_s", 0.0)),
            str(hello.get("harness_root", "")),
        )
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ProtocolError(f"The engine sent a malformed line: {str(error)[:100]}") from None


def is_about_the_end(line: str) -> bool:
    """Return True for a line that a console needs which has hung up.

    That is no event, the session's end, or a notice: it may say that events are missing in the recording.
    """
    head = line[:_HEAD_CHARS]
    return not head.startswith('{"seq":') or '"type":"session.ended"' in head or '"type":"notice"' in head


def check_hello(value: object, sender: str) -> None:
    """Raise `ProtocolError` unless `value` is a hello that this program reads.

    `NewerFormatError` for a newer version's. `sender` begins the sentence.
    """
    from gemini_live_runtime import vocabulary

    try:
        vocabulary.check_header(value, where=sender)
    except NewerFormatError:
        raise
    except JournalError:
        raise ProtocolError(f"{sender} sent something else than a hello of gemini-live-tui: {value!r:.100}") from None
