"""Number the microphone's sound, so that each piece is known again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class MicSound(bytes):
    """Microphone sound with the number of its first sample.

    It is s16le mono at 16 kHz; numbers count all that was captured. A connection that could not send it gives back the
    same object.
    """

    first: int
    """Number of its first sample."""
    sent_before: bool
    """True when an earlier connection has sent it: where the next one does not send it again, that is no loss."""

    is_speech: bool
    """True when it was kept as part of an utterance."""

    @classmethod
    def at(cls, first: int, pcm: bytes, *, sent_before: bool = False, is_speech: bool = False) -> MicSound:
        """Return `pcm` as the sound that begins with sample `first`."""
        sound = cls(pcm)
        sound.first, sound.sent_before, sound.is_speech = first, sent_before, is_speech
        return sound

    def _like(self, first: int, pcm: bytes) -> MicSound:
        return MicSound.at(first, pcm, sent_before=self.sent_before, is_speech=self.is_speech)

    @property
    def end(self) -> int:
        """Number of the first sample after it."""
        return self.first + len(self) // 2

    def part(self, first: int, end: int) -> MicSound:
        """Return its samples from number `first` until `end`, as far as it has them."""
        first = max(first, self.first)
        end = max(first, min(end, self.end))
        if (first, end) == (self.first, self.end):
            return self
        pcm = self[2 * (first - self.first) : 2 * (end - self.first)]
        return self._like(first, pcm)

    def parts(self, samples: int) -> Iterator[MicSound]:
        """Yield it in parts of so many samples; the last may be shorter."""
        for first in range(self.first, self.end, samples):
            yield self.part(first, first + samples)

    def followed_by(self, sounds: Iterable[MicSound]) -> MicSound:
        """Return it joined with sounds of its kind that follow it without a gap."""
        return self._like(self.first, b"".join((self, *sounds)))

    def silenced(self) -> MicSound:
        """Return silence in its place."""
        return self._like(self.first, bytes(len(self)))


def joined(sounds: Iterable[MicSound], *, at_most: int = 2**62) -> Iterator[MicSound]:
    """Yield sounds that follow each other without a gap as one.

    It has at most `at_most` samples. Those that an earlier connection has sent are not joined with others.
    """
    run: list[MicSound] = []
    for sound in sounds:
        if run:
            last = run[-1]
            is_alike = (last.sent_before, last.is_speech) == (sound.sent_before, sound.is_speech)
            follows = is_alike and last.end == sound.first
            if not follows or sound.end - run[0].first > at_most:
                yield _whole(run)
                run = []
        run.append(sound)
    if run:
        yield _whole(run)


def _whole(run: list[MicSound]) -> MicSound:
    first = run[0]
    return first if len(run) == 1 else first.followed_by(run[1:])
