"""Turn realtime input (audio, images, activity marks) into user turns."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from gemini_live_runtime.local.protocol.activity import (
    MAX_UTTERANCE_S,
    MIN_VOICED_MS,
    RATE,
    SHORT_VOICE_MS,
    ActivityDetector,
    Ended,
    Started,
)
from gemini_live_runtime.local.protocol.context import IMAGE_TOKENS, Context, Entry, audio_tokens
from gemini_live_runtime.local.protocol.conversation import log
from gemini_live_runtime.local.protocol.live_config import LiveConfig
from gemini_live_runtime.local.protocol.refusal import Refusal, invalid
from gemini_live_runtime.local.protocol.turn import UserTurn
from gemini_live_runtime.wire.codec import pcm_rate
from gemini_live_runtime.wire.messages import (
    Blob,
    Content,
    Modality,
    RealtimeInput,
    Role,
    TurnCoverage,
    VoiceActivityType,
)
from gemini_live_runtime.wire.transport import TransportClosed

STALLED_S = 1.5
"""Seconds without audio after which open speech ends: the client stopped sending."""

MAX_MARKED_TEXT = 100_000
"""Most characters of text between two activity marks; more is refused."""

_MAX_UTTERANCE_BYTES = int(MAX_UTTERANCE_S * RATE) * 2


class RealtimeInputReader:
    """Reader of user turns, by voice activity detection or the client's marks.

    `on_start` is called when the user begins to speak, `on_end` with the turn, or None for noise. `on_activity` gets
    the starts and ends of speech with their time in the stream (s), with automatic detection only.
    """

    def __init__(
        self,
        config: LiveConfig,
        context: Callable[[], Context],
        *,
        on_start: Callable[[], Awaitable[None]],
        on_end: Callable[[UserTurn | None], Awaitable[None]],
        on_activity: Callable[[VoiceActivityType, float], Awaitable[None]],
        needed_ms: Callable[[], int] = lambda: 0,
    ) -> None:
        """`needed_ms` returns how much voice a start needs at least now."""
        self._config = config
        self._context = context
        self._on_start = on_start
        self._on_end = on_end
        self._on_activity = on_activity
        self._needed_ms = needed_ms
        self._detector: ActivityDetector | None = None
        self._resampler = Resampler()
        self._marked: bytearray | None = None
        self._marked_text: list[str] = []
        self._stalled: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._silence_s = 0.0
        self.dropped_bytes = 0
        """Bytes of marked audio dropped beyond `MAX_UTTERANCE_S`."""

    @property
    def manual(self) -> bool:
        """True when the client marks activity itself."""
        return self._config.activity is None

    @property
    def marked(self) -> bool:
        """True between the client's activity marks."""
        return self._marked is not None

    async def take(self, message: RealtimeInput) -> None:
        """Process a message, except text outside marked activity; raise `Refusal`."""
        if message.activity_start is not None:
            await self._mark_start()
        for blob in (message.audio, message.video, *message.media_chunks):
            if blob is not None:
                await self._blob(blob)
        if message.activity_end is not None:
            await self._mark_end()
        if message.audio_stream_end:
            if self.manual:
                raise invalid("audioStreamEnd needs automatic activity detection")
            await self._flush()

    def add_text(self, text: str) -> None:
        """Add text within marked activity."""
        self._marked_text.append(text)
        if sum(map(len, self._marked_text)) > MAX_MARKED_TEXT:
            raise invalid(f"more than {MAX_MARKED_TEXT} characters of text in one activity")

    def close(self) -> None:
        """Cancel the timer and tasks."""
        if self._stalled is not None:
            self._stalled.cancel()
        for task in self._tasks:
            task.cancel()

    def _insist_on_marks(self) -> None:
        if not self.manual:
            raise Refusal(
                1007, "Explicit activity control is not supported when automatic activity detection is enabled."
            )

    async def _mark_start(self) -> None:
        self._insist_on_marks()
        if self._marked is not None:
            raise invalid("activityStart came twice")
        self._marked = bytearray()
        self._marked_text.clear()
        await self._on_start()

    async def _mark_end(self) -> None:
        self._insist_on_marks()
        if self._marked is None:
            raise invalid("activityEnd came without activityStart")
        self._marked += self._resampler.flush()
        said = UserTurn(" ".join(self._marked_text), bytes(self._marked))
        self._marked = None
        await self._on_end(said if said.text or said.pcm else None)

    async def _blob(self, blob: Blob) -> None:
        mime_type = blob.mime_type or "audio/pcm"
        if is_image(mime_type):
            self._image()
            return
        rate = input_rate(mime_type)
        if rate is None:
            raise invalid(f"media of type {mime_type[:40]!r} is not supported, send audio/pcm;rate=16000 or image/jpeg")
        await self._audio(self._resampler.process(blob.data, rate))

    def _image(self) -> None:
        speaking = self._marked is not None or (self._detector is not None and self._detector.speaking)
        if speaking or self._config.coverage is not TurnCoverage.ONLY_ACTIVITY:
            self._context().add(Entry("user", Modality.IMAGE, IMAGE_TOKENS))

    async def _audio(self, pcm: bytes) -> None:
        if self._config.activity is None:
            self._marked_audio(pcm)
            return
        if self._detector is None:
            self._detector = ActivityDetector(self._config.activity)
        before = self._detector.speaking
        self._detector.require(self._needed_ms())
        edges = self._detector.add(pcm)
        if not before and not edges:
            self._count_silence(len(pcm))
        await self._edges(edges)
        self._watch()

    def _marked_audio(self, pcm: bytes) -> None:
        if self._marked is None:
            self._count_silence(len(pcm))
            return
        room = _MAX_UTTERANCE_BYTES - len(self._marked)
        self._marked += pcm[:room]
        if len(pcm) > room:
            if not self.dropped_bytes:
                log.warning("A marked activity is longer than %g s: the rest is dropped", MAX_UTTERANCE_S)
            self.dropped_bytes += len(pcm) - room

    def _count_silence(self, size: int) -> None:
        # Audio outside speech enters the context, and costs tokens, only when the client wants all input.
        if self._config.coverage is TurnCoverage.ALL_INPUT:
            self._silence_s += size / (RATE * 2)
            if self._silence_s >= 1:
                self._context().add(Entry("user", Modality.AUDIO, audio_tokens(self._silence_s)))
                self._silence_s = 0.0

    async def _flush(self) -> None:
        if self._detector is not None:
            rest = self._resampler.flush()
            await self._edges([*self._detector.add(rest), *self._detector.flush()])
            self._watch()

    def _watch(self) -> None:
        # A client that stops sending in the middle of speech would never end its turn.
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        if self._detector is not None and self._detector.speaking:
            self._stalled = asyncio.get_running_loop().call_later(STALLED_S, self._give_up)

    def _give_up(self) -> None:
        task = asyncio.ensure_future(self._flush_unread())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _flush_unread(self) -> None:
        # A connection that is gone ends the session where its messages are read.
        with contextlib.suppress(TransportClosed):
            await self._flush()

    async def _edges(self, edges: list[Started | Ended]) -> None:
        for edge in edges:
            if isinstance(edge, Started):
                await self._on_activity(VoiceActivityType.ACTIVITY_START, edge.offset_s)
                await self._on_start()
            else:
                await self._on_activity(VoiceActivityType.ACTIVITY_END, edge.offset_s)
                noise = edge.voiced_ms < MIN_VOICED_MS
                is_short = edge.voiced_ms < SHORT_VOICE_MS
                await self._on_end(None if noise else UserTurn(pcm=edge.pcm, is_short=is_short))


def user_turn_of(content: Content) -> UserTurn:
    """Return text and audio of client content; raise `Refusal` if unsupported."""
    if content.role is not None and not isinstance(content.role, Role):
        raise Refusal(1007, "Please use a valid role: user, model.")
    texts: list[str] = []
    pcm = b""
    for part in content.parts:
        if part.text and not part.thought:
            texts.append(part.text)
        blob = part.inline_data
        if blob is not None and not is_image(blob.mime_type):
            rate = input_rate(blob.mime_type or "")
            if rate is None:
                raise invalid(f"media of type {(blob.mime_type or '')[:40]!r} is not supported in client content")
            resampler = Resampler()
            pcm += resampler.process(blob.data, rate) + resampler.flush()
    return UserTurn(" ".join(texts), pcm[:_MAX_UTTERANCE_BYTES])


def is_image(mime_type: str | None) -> bool:
    """Return True for the type of an image."""
    return (mime_type or "").strip().lower().startswith("image/")


def input_rate(mime_type: str) -> int | None:
    """Return the rate (Hz) of an audio type, 16 kHz by default; None if unsupported."""
    return pcm_rate(mime_type, default=RATE, kinds=("audio/pcm", "audio/l16"))


class Resampler:
    """Converter of s16le mono streams to 16 kHz; loads soxr only for other rates."""

    def __init__(self) -> None:
        self._rate = RATE
        self._stream: Any = None

    def process(self, pcm: bytes, rate: int) -> bytes:
        """Return the 16 kHz audio ready after `pcm`; a new rate begins a new stream."""
        if rate != self._rate:
            self._rate = rate
            self._stream = None
        if rate == RATE:
            return pcm
        import numpy as np

        if self._stream is None:
            import soxr

            self._stream = soxr.ResampleStream(rate, RATE, 1, dtype="int16", quality="LQ")
        return bytes(self._stream.resample_chunk(np.frombuffer(pcm, dtype="<i2")).astype("<i2").tobytes())

    def flush(self) -> bytes:
        """Return the delayed rest and end the stream."""
        if self._stream is None:
            return b""
        import numpy as np

        stream, self._stream = self._stream, None
        return bytes(stream.resample_chunk(np.zeros(0, dtype=np.int16), last=True).astype("<i2").tobytes())
