"""Project a session's events onto the records of a realtime controller.

A controller of the older kind journals a request before each operation and its result after it. Our journal has both as
events of its own; this gives their 15 kinds, in their order, and no second journal. Sound appears as samples of its
track, never as bytes: a request for each second, and a record for each span that was sent. In journals without such
requests each span stands for both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.records import keyword_record

RecordKind = Literal[
    "connect_requested",
    "connected",
    "input_send_requested",
    "input_sent",
    "output_receive_requested",
    "output_received",
    "interrupt_requested",
    "interrupted",
    "restart_requested",
    "restart_started",
    "restart_completed",
    "restart_failed",
    "close_requested",
    "closed",
    "backpressure_applied",
]

MediaKind = Literal["", "audio", "text", "transcript"]

CloseReason = Literal["", "normal", "provider_failure", "policy_denial"]


@keyword_record
class RealtimeRecord:
    """Record of one operation, or of its result.

    `seq` and `t` are those of the event that it stands for. `connection` counts connections, `response` answers of the
    model; the cursors count what was sent and received, restarts those that succeeded. `ref` names a command, a call
    or samples of a track; `reason` is that of a restart.
    """

    kind: RecordKind
    seq: int
    t: float
    connection: int
    response: int
    send_cursor: int
    receive_cursor: int
    restart_count: int
    media: MediaKind = ""
    close_reason: CloseReason = ""
    reason: str = ""
    ref: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object without the fields that say nothing."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value != ""}


_SPAN = re.compile(r".*:([0-9]{1,18})\+([0-9]{1,18})", re.DOTALL)
"""Name of samples of a track: the first one, and how many; in a damaged journal it may be anything."""


class RealtimeProjection:
    """Records of one session; give it the session's events in order."""

    def __init__(self) -> None:
        self._connection = self._restarts = self._sent = self._received = 0
        self._is_connected = False
        self._is_restarting = False
        self._is_closed = True
        self._response = -1
        """Number of the answer whose first piece has come."""
        self._requested: set[tuple[str, str]] = set()
        """Kinds and names of messages whose requests have their records."""
        self._requested_to = 0
        """Sample of the microphone's track before which all sound was requested."""
        self._gated: dict[str, float] = {}

    def feed(self, event: ev.Event) -> Iterator[RealtimeRecord]:
        """Yield the records of the next event."""
        match event.payload:
            case ev.ConnectionOpening() | ev.ConnectionReady() | ev.ConnectionClosed():
                yield from self._connection_records(event)
            case ev.LinkRestarting(reason=reason) if not self._is_restarting:
                self._is_connected, self._is_restarting = False, True
                yield self._record(event, "restart_requested", reason=reason)
            case ev.SessionResumed(after="crash"):
                self._is_connected, self._is_restarting = False, True
                yield self._record(event, "restart_requested", reason="engine")
            case ev.LinkGivenUp(reason=reason):
                if self._is_restarting:
                    yield self._record(event, "restart_failed", reason=reason)
                yield self._closed(event, "policy_denial" if reason == "refused" else "provider_failure")
            case ev.SessionEnded() if not self._is_closed:
                yield self._closed(event, "normal")
            case ev.TurnInterrupted(by=by):
                if by != "server":
                    yield self._record(event, "interrupt_requested")
                yield self._record(event, "interrupted")
            case ev.OutboxChanged(kind=kind, gated=gated) if kind != "video":
                if gated > self._gated.get(kind, 0.0):
                    yield self._record(event, "backpressure_applied", media="audio" if kind == "audio" else "text")
                self._gated[kind] = gated
            case _:
                yield from self._input(event)
                yield from self._output(event)

    def _connection_records(self, event: ev.Event) -> Iterator[RealtimeRecord]:
        match event.payload:
            case ev.ConnectionOpening():
                self._is_closed = False
                yield self._record(event, "restart_started" if self._is_restarting else "connect_requested")
            case ev.ConnectionReady():
                self._connection += 1
                self._restarts += self._is_restarting
                yield self._record(event, "restart_completed" if self._is_restarting else "connected")
                self._is_connected, self._is_restarting = True, False
            case ev.ConnectionClosed(requested=True):
                yield self._record(event, "close_requested")
                yield self._closed(event, "normal")
            case _ if self._is_restarting and not self._is_connected:
                yield self._record(event, "restart_failed")

    def _closed(self, event: ev.Event, why: CloseReason) -> RealtimeRecord:
        self._is_connected, self._is_restarting, self._is_closed = False, False, True
        return self._record(event, "closed", close_reason=why)

    def _input(self, event: ev.Event) -> Iterator[RealtimeRecord]:
        match event.payload:
            case ev.SendIntended(kind="audio", ref=ref):
                if span := _SPAN.fullmatch(ref):
                    self._requested_to = int(span[1]) + int(span[2])
                yield self._record(event, "input_send_requested", media="audio", ref=ref)
            case ev.SendIntended(kind=kind, ref=ref):
                self._requested.add((kind, ref))
                yield self._record(event, "input_send_requested", media="text", ref=ref)
            case ev.SendSettled(outcome="failed", kind=kind, ref=ref):
                self._requested.discard((kind, ref))
            case ev.TextSent(command_id=ref):
                yield from self._sends(event, "text", "text", ref)
            case ev.ToolFinished(call_id=ref, delivered=True):
                yield from self._sends(event, "text", "answer", ref)
            case ev.ToolAcknowledged(call_id=ref) | ev.SendSettled(kind="answer", ref=ref):
                if ("answer", ref) in self._requested:
                    yield from self._sends(event, "text", "answer", ref)
            case ev.ContextSent(queued=False, ref=ref):
                yield from self._sends(event, "text", "context", ref or "context")
            case ev.InstructionUpdated(via=via, ref=ref) if via != "setup":
                yield from self._sends(event, "text", "instruction", ref or "instruction")
            case ev.WireAudio(direction="sent", track=track, first=first, count=count):
                is_requested = first + count <= self._requested_to
                yield from self._sends(event, "audio", "audio", f"{track}:{first}+{count}", is_requested=is_requested)

    def _sends(
        self, event: ev.Event, media: MediaKind, kind: str, ref: str, *, is_requested: bool = False
    ) -> Iterator[RealtimeRecord]:
        if (kind, ref) in self._requested:
            self._requested.discard((kind, ref))
        elif not is_requested:
            yield self._record(event, "input_send_requested", media=media, ref=ref)
        self._sent += 1
        yield self._record(event, "input_sent", media=media, ref=ref)

    def _output(self, event: ev.Event) -> Iterator[RealtimeRecord]:
        match event.payload:
            case ev.WireAudio(direction="received", track=track, first=first, count=count):
                yield from self._receives(event, "audio", f"{track}:{first}+{count}")
            case ev.TranscriptDelta(side="model"):
                yield from self._receives(event, "transcript", "")
            case ev.ToolCalled(call_id=ref):
                yield from self._receives(event, "text", ref)

    def _receives(self, event: ev.Event, media: MediaKind, ref: str) -> Iterator[RealtimeRecord]:
        # The stream comes unasked: a request stands for the wait that each answer's first piece has ended.
        if event.gen != self._response:
            self._response = event.gen
            yield self._record(event, "output_receive_requested", media=media)
        self._received += 1
        yield self._record(event, "output_received", media=media, ref=ref)

    def _record(self, event: ev.Event, kind: RecordKind, **more: Any) -> RealtimeRecord:
        return RealtimeRecord(
            kind=kind,
            seq=event.seq,
            t=event.t,
            connection=self._connection,
            response=event.gen,
            send_cursor=self._sent,
            receive_cursor=self._received,
            restart_count=self._restarts,
            **more,
        )
