"""Keep the microphone's newest sound, for the next connection.

An utterance is kept from its onset, and after it the newest second. The same is kept of what a connection took, until
the server has understood or answered it: a server that resumes an older state knows nothing of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

from gemini_live_runtime.records import record
from gemini_live_runtime.session.link.mic_sound import MicSound
from gemini_live_runtime.session.link.policy import LinkPolicy

RATE = 16_000
"""Samples a second of the microphone's sound."""

CHUNK_S = 0.02
"""Seconds of a chunk, in which losses are counted."""

ONSET_S = 0.4
"""Seconds before the mark of a voice that belong to the utterance: the mark comes late."""

CROSSING_S = 2.0
"""Seconds of sound that may be on their way to a server when the first of an answer comes from there."""


@record
class SoundChunk:
    """Piece of the microphone's sound.

    `captured_at` is the clock time (s) of its last sample, None when unknown; `sent`: a connection took it; `texts` is
    the number of texts that were queued before it.
    """

    sound: MicSound
    captured_at: float | None
    sent: bool
    texts: int = 0
    is_speech: bool = False
    """True when it was kept as part of an utterance."""

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return len(self.sound) / 2 / RATE

    def again(self) -> MicSound:
        """Return its sound for the next connection."""
        return MicSound.at(self.sound.first, self.sound, sent_before=self.sent, is_speech=self.is_speech)


class KeptAudio:
    """Microphone sound that waits for a connection, or that may be needed by the next."""

    def __init__(self, policy: LinkPolicy) -> None:
        self._speech = _Span(policy.speech_kept_s, self._drop)
        self._after = _Span(policy.audio_kept_s, self._drop)
        self._speaking = False
        self._captured = 0
        self._onset = 0
        """Number of the first sample of the newest utterance."""
        self._answer_at = 0
        """Number of the sample that was captured when the newest answer began."""
        self._held_from: int | None = None
        """Number of the first sample that is held until the turn before it has ended; None without any."""
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

    def number(self, pcm: bytes) -> MicSound:
        """Return sound that was captured just now with its number."""
        sound = MicSound.at(self._captured, pcm)
        self._captured = sound.end
        return sound

    def add(self, sound: MicSound, captured_at: float | None, *, sent: bool = False) -> None:
        """Keep a chunk; drop the oldest beyond the limits."""
        sent = sent or sound.sent_before
        # What is sent again of an utterance may have to be sent once more.
        span = self._speech if self._speaking or sound.is_speech else self._after
        span.add(SoundChunk(sound, captured_at, sent, self.texts))

    def on_voice(self, speaking: bool) -> None:
        """Note that the user's voice began or ended."""
        if speaking and not self._speaking:
            self._after.keep_newest(ONSET_S)
            self._onset = self._after.chunks[0].sound.first if self._after.chunks else self._captured
            self._speech.take_over(self._after)
        self._speaking = speaking

    def hold(self, first: int) -> None:
        """Note that all from sample `first` on waits until the turn before it has ended.

        It is added as sent: who holds it sends it, or gives it back.
        """
        self._held_from = first if self._held_from is None else self._held_from

    def release(self) -> None:
        """Note that nothing is held any more."""
        self._held_from = None

    def count_dropped(self, sound: MicSound) -> None:
        """Count sound that a connection was too slow for, and keep it no longer."""
        for span in (self._speech, self._after):
            span.forget(sound)
        if not sound.sent_before:
            self.dropped_s += len(sound) / 2 / RATE

    def take_back(self, sound: MicSound) -> None:
        """Let sound wait that was taken and not sent.

        What is no longer kept is counted, unless an earlier connection has sent it.
        """
        if not sound.sent_before:
            kept = sum(span.unsend(sound) for span in (self._speech, self._after))
            self.dropped_s += (len(sound) // 2 - kept) / RATE

    def on_heard(self) -> None:
        """Forget what was sent: the server has understood it, or passed over it."""
        self._forget_sent(self._held_from)

    def on_answered(self) -> None:
        """Forget what was sent before an answer that begins.

        Users who speak at that moment have begun something new, of which the answer may know nothing: both have
        crossed on the wire.
        """
        before, self._answer_at = self._held_from, self._captured
        if before is None and self._speaking:
            before = max(self._onset, self._captured - round(CROSSING_S * RATE))
        self._forget_sent(before)

    def on_answer_complete(self) -> None:
        """Forget what was sent before the answer that is complete.

        Of something new the server would have broken it off.
        """
        self._forget_sent(self._answer_at if self._held_from is None else min(self._answer_at, self._held_from))

    def _forget_sent(self, before: int | None) -> None:
        for span in (self._speech, self._after):
            span.forget_sent(before)

    def forget_turn(self) -> None:
        """Forget what is kept of a turn that was cleared, without what is held."""
        for span in (self._speech, self._after):
            span.take(lambda chunk: self._held_from is None or chunk.sound.first < self._held_from)

    def take(self) -> list[SoundChunk]:
        """Remove and return what is kept, oldest first."""
        return self._take(lambda chunk: True)

    def take_before(self, texts: int) -> list[SoundChunk]:
        """Remove and return what was kept before so many texts were queued."""
        return self._take(lambda chunk: chunk.texts < texts)

    def _take(self, is_taken: Callable[[SoundChunk], bool]) -> list[SoundChunk]:
        speech = [replace(chunk, is_speech=True) for chunk in self._speech.take(is_taken)]
        return [*speech, *self._after.take(is_taken)]

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

    def take(self, is_taken: Callable[[SoundChunk], bool]) -> list[SoundChunk]:
        """Remove and return the oldest chunks, up to one that is not to be taken."""
        taken = []
        while self.chunks and is_taken(self.chunks[0]):
            taken.append(chunk := self.chunks.popleft())
            self._seconds -= chunk.seconds
        return taken

    def forget(self, sound: MicSound) -> None:
        """Forget what was sent of a sound."""
        self._replace(lambda chunk: None if chunk.sent and _has(sound, chunk) else chunk, sound)

    def unsend(self, sound: MicSound) -> int:
        """Let wait what was sent of a sound; return the samples that were kept of it."""
        self._replace(lambda chunk: replace(chunk, sent=False) if _has(sound, chunk) else chunk, sound)
        return sum(len(chunk.sound) // 2 for chunk in self.chunks if _has(sound, chunk))

    def forget_sent(self, before: int | None) -> None:
        """Forget what was sent, of the samples before number `before`."""
        self._replace(lambda chunk: None if chunk.sent and (before is None or chunk.sound.first < before) else chunk)

    def _replace(self, new: Callable[[SoundChunk], SoundChunk | None], cut: MicSound | None = None) -> None:
        """Replace each chunk by what `new` returns of it; None removes it.

        Chunks are first cut in two where `cut` begins and ends.
        """
        parts = self.chunks if cut is None else (part for chunk in self.chunks for part in _cut(chunk, cut))
        self.chunks = deque(kept for part in parts if (kept := new(part)) is not None)
        self._seconds = sum(chunk.seconds for chunk in self.chunks)

    def clear(self) -> None:
        self.chunks.clear()
        self._seconds = 0.0


def _has(sound: MicSound, chunk: SoundChunk) -> bool:
    return sound.first <= chunk.sound.first and chunk.sound.end <= sound.end


def _cut(chunk: SoundChunk, at: MicSound) -> list[SoundChunk]:
    """Return the parts of a chunk before, in and after a sound."""
    whole = chunk.sound
    if whole.end <= at.first or at.end <= whole.first:
        return [chunk]
    parts = (whole.part(whole.first, at.first), whole.part(at.first, at.end), whole.part(at.end, whole.end))
    return [replace(chunk, sound=part) for part in parts if part]
