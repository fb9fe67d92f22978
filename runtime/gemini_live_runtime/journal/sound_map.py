"""Where recorded sound lies on a session's own clock: what the microphone sent, and what of the model was heard.

Tracks hold everything that was sent and received, one sample after the other; events say when. A `wire.audio` span had
been sent when its event came; `playback.heard` says which samples of a generation had been played by then. What was cut
off by an interruption, or played while the speaker was muted, lies nowhere. A span that was sent with a pause in it is
heard as one, up to its end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.journal.tracks import RATES, read_track

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_JITTER_S = 0.1
"""Sound that follows a piece within this time follows it at once: the clock of its event is only about right."""

_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Piece:
    """Samples [`first`, `first` + `count`) of a track, to be heard from sample `at` of the session on."""

    at: int
    first: int
    count: int


class Lane:
    """Where a track's samples lie on the session's clock: pieces in order, none over another."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.pieces: list[Piece] = []
        self.starts: list[int] = []
        self.end = 0
        self._run = -1

    def add(self, ended: float, first: int, count: int, run: int = 0) -> None:
        """Samples that had been sent or heard at `ended` (s); those of one `run` belong together."""
        if count <= 0 or first < 0:
            return
        at = round(ended * self.rate) - count
        if run != self._run or at > self.end + _JITTER_S * self.rate:
            self.end = max(self.end, at)
        self._run = run
        self.pieces.append(Piece(self.end, first, count))
        self.starts.append(self.end)
        self.end += count

    def between(self, start: int, end: int) -> Iterator[Piece]:
        """The pieces that have something in [`start`, `end`)."""
        for index in range(max(0, bisect_right(self.starts, start) - 1), len(self.pieces)):
            piece = self.pieces[index]
            if piece.at >= end:
                return
            if piece.at + piece.count > start:
                yield piece


class SoundMap:
    """Both sides' lanes, from the events of a session in order."""

    def __init__(self) -> None:
        self.user = Lane(RATES["user"])
        self.model = Lane(RATES["model"])
        self._received: dict[int, list[tuple[int, int]]] = {}

    def add(self, event: ev.Event) -> None:
        """Take in the next event."""
        payload = event.payload
        if isinstance(payload, ev.PlaybackHeard):
            if not payload.muted:
                self._heard(event.t, payload)
            return
        for track, first, count in carried(payload):
            if track == "user":
                self.user.add(event.t, first, count)
            else:
                self._received.setdefault(event.gen, []).append((first, count))

    def add_received(self, event: ev.Event) -> None:
        """Take in an event from before those that `add` is given, for what was received with it alone."""
        for track, first, count in carried(event.payload):
            if track == "model":
                self._received.setdefault(event.gen, []).append((first, count))

    def _heard(self, t: float, payload: ev.PlaybackHeard) -> None:
        played = list(_of_generation(self._received.get(payload.of, []), payload.first, payload.count))
        left = sum(size for _, size in played)
        for start, size in played:
            left -= size
            self.model.add(t - left / self.model.rate, start, size, payload.of)


def carried(payload: ev.Payload) -> Iterator[tuple[ev.Side, int, int]]:
    """(track, first sample, samples) of the sound that travelled with an event."""
    if isinstance(payload, ev.WireAudio):
        if payload.count > 0 <= payload.first:
            yield payload.track, payload.first, payload.count
    elif isinstance(payload, ev.WireMessage):
        yield from _references(payload.frame)


def lane_samples(path: Path, lane: Lane, start: int, end: int) -> Samples:
    """Samples [`start`, `end`) of a lane, whose track is at `path`; where nothing lies, or can be read, is silence."""
    import numpy as np

    samples = np.zeros(max(0, end - start), np.int16)
    for piece in lane.between(start, end):
        skip = max(0, start - piece.at)
        at = max(0, piece.at - start)
        count = min(piece.count - skip, len(samples) - at)
        try:
            pcm = read_track(path, first=piece.first + skip, count=count).pcm
        except AudioFileError:
            continue  # deleted or cut off
        samples[at : at + len(pcm) // 2] = np.frombuffer(pcm, "<i2")
    return samples


def _of_generation(spans: list[tuple[int, int]], first: int, count: int) -> Iterator[tuple[int, int]]:
    """Where samples [`first`, `first` + `count`) of a generation are in the track, which has it in `spans`."""
    at = 0
    for start, size in spans:
        low, high = max(first, at), min(first + count, at + size)
        if low < high:
            yield start + low - at, high - low
        at += size


def _references(frame: Any, depth: int = 0) -> Iterator[tuple[ev.Side, int, int]]:
    """What a message's frame says about audio that is kept in a track."""
    if depth > _DEEPEST:
        return
    if isinstance(frame, Mapping):
        found = frame.get("$audio")
        if isinstance(found, Mapping):
            track, first, count = found.get("track"), found.get("first"), found.get("count")
            if type(first) is int and type(count) is int and count > 0 <= first:
                if track == "user":
                    yield "user", first, count
                elif track == "model":
                    yield "model", first, count
            return
        for value in frame.values():
            yield from _references(value, depth + 1)
    elif isinstance(frame, list | tuple):
        for value in frame:
            yield from _references(value, depth + 1)
