"""Keep the microphone's newest sound, for the next connection.

An utterance is kept from its onset, and after it the newest second. The same is kept of what a connection took, until
the server has understood or answered it: a server that resumes an older state knows nothing of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

from gemini_live_runtime.records import record
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.wire.backlog import UnsentSound

RATE = 16_000
"""Samples a second of the microphone's sound."""

CHUNK_S = 0.02
"""Seconds of a chunk, in which losses are counted."""

ONSET_S = 0.4
"""Seconds before the mark of a voice that belong to the utterance: the mark comes late."""


class SentBefore(bytes):
    """Sound that an earlier connection has sent.

    Where the next one does not send it again, that is no loss to count.
    """


def marked_like(sound: bytes, pcm: bytes) -> bytes:
    """Return `pcm`, marked as sent before if `sound`, which it stands for, is."""
    return SentBefore(pcm) if isinstance(sound, SentBefore) else pcm


@record
class SoundChunk:
    """Piece of microphone sound (s16le mono at 16 kHz).

    `captured_at` is the clock time (s) of its last sample, None when unknown; `sent`: a connection took it; `texts` is
    the number of texts that were queued before it.
    """

    pcm: bytes
    captured_at: float | None
    sent: bool
    texts: int = 0

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return len(self.pcm) / 2 / RATE


class KeptAudio:
    """Microphone sound that waits for a connection, or that may be needed by the next."""

    def __init__(self, policy: LinkPolicy) -> None:
        self._speech = _Span(policy.speech_kept_s, self._drop)
        self._after = _Span(policy.audio_kept_s, self._drop)
        self._speaking = False
        self.texts = 0
        """Number of texts that were queued so far."""
        self.dropped_s = 0.0
        """Seconds of sound that were not sent."""
        self.counts_losses = True
        """False while what passes is not for the model: its connection is closed because nothing goes on."""

    def __len__(self) -> int:
        return sum(not chunk.sent for span in (self._speech, self._after) for chunk in span.chunks)

    @property
    def dropped(self) -> int:
        """Sound that was not sent, in chunks of 20 ms."""
        return round(self.dropped_s / CHUNK_S)

    @property
    def speaking(self) -> bool:
        """True between the marks of the user's voice."""
        return self._speaking

    @property
    def holds_speech(self) -> bool:
        """True while sound of an utterance is kept."""
        return bool(self._speech.chunks)

    @property
    def waiting_s(self) -> float:
        """Seconds of sound that no connection took yet."""
        return sum(chunk.seconds for span in (self._speech, self._after) for chunk in span.chunks if not chunk.sent)

    def add(self, pcm: bytes, captured_at: float | None, *, sent: bool = False) -> None:
        """Keep a chunk; drop the oldest beyond the limits."""
        sent = sent or isinstance(pcm, SentBefore)
        (self._speech if self._speaking else self._after).add(SoundChunk(pcm, captured_at, sent, self.texts))

    def on_voice(self, speaking: bool) -> None:
        """Note that the user's voice began or ended."""
        if speaking and not self._speaking:
            self._after.keep_newest(ONSET_S)
            self._speech.take_over(self._after)
        self._speaking = speaking

    def count_dropped(self, sound: UnsentSound) -> None:
        """Count sound that a connection was too slow for, and keep it no longer."""
        _ = self._speech.forget(sound.pcm) or self._after.forget(sound.pcm)
        if not isinstance(sound.pcm, SentBefore):
            self.dropped_s += len(sound.pcm) / 2 / RATE

    def take_back(self, sound: UnsentSound) -> None:
        """Let sound wait that a connection took and did not send.

        What is no longer kept is counted, unless an earlier connection has sent it.
        """
        if isinstance(sound.pcm, SentBefore):
            return
        if not (self._speech.unsend(sound.pcm) or self._after.unsend(sound.pcm)):
            self.dropped_s += len(sound.pcm) / 2 / RATE

    def on_heard(self) -> None:
        """Forget what was sent: the server has understood or answered it."""
        for span in (self._speech, self._after):
            span.forget_sent()

    def take(self) -> list[SoundChunk]:
        """Remove and return what is kept, oldest first."""
        return self._take(None)

    def take_before(self, texts: int) -> list[SoundChunk]:
        """Remove and return what was kept before so many texts were queued."""
        return self._take(texts)

    def _take(self, before: int | None) -> list[SoundChunk]:
        return [chunk for span in (self._speech, self._after) for chunk in span.take(before)]

    def drop(self) -> None:
        """Drop what is kept, because nothing will take it."""
        for chunk in self.take():
            self._drop(chunk)

    def _drop(self, chunk: SoundChunk) -> None:
        if not chunk.sent and self.counts_losses:
            self.dropped_s += chunk.seconds


class _Span:
    """Newest chunks up to a length in seconds; `on_drop` gets what exceeds it."""

    def __init__(self, limit_s: float, on_drop: Callable[[SoundChunk], None]) -> None:
        self.chunks: deque[SoundChunk] = deque()
        self._seconds = 0.0
        self._limit_s = limit_s
        self._on_drop = on_drop

    def add(self, chunk: SoundChunk) -> None:
        self.chunks.append(chunk)
        self._seconds += chunk.seconds
        if self._seconds > self._limit_s:
            self.keep_newest(self._limit_s)

    def keep_newest(self, seconds: float) -> None:
        while self.chunks and self._seconds > seconds + 1e-9:
            chunk = self.chunks.popleft()
            self._seconds -= chunk.seconds
            self._on_drop(chunk)

    def take_over(self, other: _Span) -> None:
        for chunk in other.chunks:
            self.add(chunk)
        other.clear()

    def take(self, before: int | None) -> list[SoundChunk]:
        taken = []
        while self.chunks and (before is None or self.chunks[0].texts < before):
            taken.append(chunk := self.chunks.popleft())
            self._seconds -= chunk.seconds
        return taken

    def forget(self, pcm: bytes) -> bool:
        """Forget the sent chunk that is this object; return False when it is not kept."""
        if (index := self._index(pcm)) is None:
            return False
        self._seconds -= self.chunks[index].seconds
        del self.chunks[index]
        return True

    def unsend(self, pcm: bytes) -> bool:
        """Let the sent chunk wait that is this object; return False when it is not kept."""
        if (index := self._index(pcm)) is None:
            return False
        self.chunks[index] = replace(self.chunks[index], sent=False)
        return True

    def _index(self, pcm: bytes) -> int | None:
        return next((index for index, chunk in enumerate(self.chunks) if chunk.sent and chunk.pcm is pcm), None)

    def forget_sent(self) -> None:
        kept = [chunk for chunk in self.chunks if not chunk.sent]
        self.chunks = deque(kept)
        self._seconds = sum(chunk.seconds for chunk in kept)

    def clear(self) -> None:
        self.chunks.clear()
        self._seconds = 0.0
