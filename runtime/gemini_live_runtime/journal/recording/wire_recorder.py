"""Record the wire's traffic as events and track samples.

Messages are recorded verbatim but for audio bytes and secrets, runs of audio as spans. Audio goes to the tracks; a span
says which samples of a track a frame, or a run of frames, carried. So the traffic of a session can be reconstructed,
while fifty microphone frames a second make one event a second.

Order: a pending span is always emitted before the next message in either direction, so that events keep the order of
the wire to within one span. Its samples go to the track right before, in one piece: an engine that goes on with the
session of a killed one keeps no samples beyond those that events speak of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, Protocol

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.events import Payload, Side, Wire, WireAudio, WireMessage
from gemini_live_runtime.journal.files.tracks import RATES
from gemini_live_runtime.journal.privacy.split_secrets import streamed_texts
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.wire import b64
from gemini_live_runtime.wire.codec import audio_message, pcm_rate, to_json
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, ServerMessage

SPAN_MS = 1000
"""Longest span of audio, in ms of that audio."""

SENT_MIME = "audio/pcm;rate=16000"


class Tracks(Protocol):
    """Sink for samples."""

    def audio(self, track: Side, pcm: bytes) -> None:
        """Append samples (s16le) to `track`."""
        ...


class _Span:
    """Run of frames of one track that has no event yet."""

    __slots__ = ("captured_at", "count", "direction", "first", "mime_type", "pieces", "track")

    def __init__(self, direction: Wire, track: Side) -> None:
        self.direction: Wire = direction
        self.track: Side = track
        self.first = 0
        self.count = 0
        self.pieces: list[bytes] = []
        self.mime_type = ""
        self.captured_at: float | None = None

    def take(self, now: float) -> WireAudio:
        late = 0.0 if self.captured_at is None else now - self.captured_at
        event = WireAudio(
            direction=self.direction,
            track=self.track,
            rate=RATES[self.track],
            first=self.first,
            count=self.count,
            frames=tuple((size // 2, len(list(run))) for size, run in groupby(map(len, self.pieces))),
            mime_type=self.mime_type,
            late_ms=round(late * 1000, 2),
        )
        self.first += self.count
        self.count, self.pieces = 0, []
        return event


class WireRecorder:
    """Recorder of one session's traffic, as a `wire.connection.WireObserver`.

    `now` returns the clock's time in seconds; `first` are the samples of each track that were recorded before.
    """

    def __init__(
        self,
        emit: Callable[[Payload], object],
        tracks: Tracks,
        now: Callable[[], float],
        *,
        first: tuple[int, int] = (0, 0),
    ) -> None:
        self._emit = emit
        self._now = now
        self._tracks = tracks
        self._spans: dict[Wire, _Span] = {"sent": _Span("sent", "user"), "received": _Span("received", "model")}
        self._spans["sent"].first, self._spans["received"].first = first

    def on_sent(self, message: ClientMessage, raw: Mapping[str, Any], size: int) -> None:
        """Record a sent message."""
        resumption = message.setup.session_resumption if message.setup is not None else None
        # A resumption handle is a secret: register it before the message that carries it is recorded.
        if resumption is not None and resumption.handle:
            redactor.add_temporary(resumption.handle)
        self._message("sent", raw, size)

    def on_audio_sent(self, pcm: bytes, size: int, captured_at: float | None = None) -> None:
        """Record a sent chunk of microphone audio."""
        self._spans["sent"].captured_at = captured_at
        self._audio("sent", pcm, SENT_MIME)

    def on_received(self, message: ServerMessage, size: int) -> None:
        """Record a received message."""
        update = message.session_resumption_update
        if update is not None and update.new_handle:
            redactor.add_temporary(update.new_handle)
        self._message("received", message.raw, size, message.problems)

    def on_audio_received(self, frame: AudioFrame, size: int) -> None:
        """Record a received chunk of the model's audio.

        At another rate than the track's it is recorded as a message, with its bytes.
        """
        if frame.rate == RATES["model"]:
            self._audio("received", frame.data, frame.mime_type)
        else:
            self._message("received", to_json(audio_message(frame.data, frame.mime_type)), size)

    def on_unreadable(self, error: ProtocolError, size: int) -> None:
        """Record a received frame that could not be decoded."""
        self._message("received", {}, size, (error.message,))

    def _audio(self, direction: Wire, pcm: bytes, mime_type: str) -> None:
        span = self._spans[direction]
        if span.mime_type != mime_type:
            self._end(span)
            span.mime_type = mime_type
        span.pieces.append(pcm)
        span.count += len(pcm) // 2
        if span.count * 1000 >= SPAN_MS * RATES[span.track]:
            self._end(span)

    def _end(self, span: _Span) -> None:
        if span.count:
            self._tracks.audio(span.track, b"".join(span.pieces))
            self._emit(span.take(self._now()))

    def _message(self, direction: Wire, frame: Mapping[str, Any], size: int, problems: tuple[str, ...] = ()) -> None:
        self.flush()
        copy, pieces = self._without_audio(frame, direction), []
        if direction == "received":
            # A secret may be split over messages: the hub redacts the pieces of texts, when they are joined.
            for _, holder, key in streamed_texts(copy):
                pieces.append(holder[key])
                holder[key] = ""
        safe_frame = redactor.value(copy)
        for piece, (_, holder, key) in zip(pieces, streamed_texts(safe_frame), strict=False):
            holder[key] = piece
        safe = tuple(redactor.text(problem) for problem in problems)
        self._emit(
            WireMessage(direction=direction, kinds=tuple(safe_frame), frame=safe_frame, size=size, problems=safe)
        )

    def flush(self) -> None:
        """Emit the pending spans."""
        for span in self._spans.values():
            self._end(span)

    def _without_audio(self, value: Any, direction: Wire) -> Any:
        if isinstance(value, dict | Mapping):
            mime_type = value.get("mimeType", value.get("mime_type"))
            data = value.get("data")
            rate = RATES[self._spans[direction].track]
            if isinstance(mime_type, str) and isinstance(data, str) and pcm_rate(mime_type) == rate:
                return {**value, "data": self._record_audio(data, direction)}
            return {key: self._without_audio(item, direction) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._without_audio(item, direction) for item in value]
        return value

    def _record_audio(self, data: str, direction: Wire) -> Any:
        span = self._spans[direction]
        try:
            pcm = b64.decode(data)
        except ValueError:
            return data
        self._tracks.audio(span.track, pcm)
        # `_message` has flushed the span, so `first` is the number of samples recorded so far.
        reference = {"track": span.track, "first": span.first, "count": len(pcm) // 2}
        span.first += len(pcm) // 2
        return {"$audio": reference}
