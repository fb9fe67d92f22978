"""Place recorded sound on a session's clock: the user's sent, the model's heard.

Tracks hold all samples that were sent and received, without gaps; events say when. The samples of a `wire.audio` span
had been captured `late_ms` before its event came; `playback.heard` says which samples of a generation had been heard
`late_ms` before it. Sound that an interruption cut off, or that was played while the speaker was muted, has no place. A
span that was sent with a pause in it is placed as one piece, up to its end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.journal.files.tracks import RATES, read_track
from gemini_live_runtime.records import record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_JITTER_S = 0.1
"""Seconds of a gap that is closed: the time of an event is only about right."""

_DRIFT_S = 0.005
"""Seconds of drift from which a lane is corrected, and the most sound cut at once."""

_DRIFT_PIECES = 25
"""Newest pieces whose median tells the clocks' difference from the jitter of single events."""

_DEEPEST = 20
"""Nesting of a message's frame that is searched for audio."""


@record
class Piece:
    """Samples [`first`, `first` + `count`) of a track, at sample `at` of the session."""

    at: int
    first: int
    count: int


class Lane:
    """Pieces of a track on the session's clock, in order and without overlap."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.pieces: list[Piece] = []
        self.starts: list[int] = []
        self.end = 0
        self._run = -1
        self._late: deque[int] = deque(maxlen=_DRIFT_PIECES)
        """Samples by which the newest pieces should begin later than they do."""

    def add(self, ended: float, first: int, count: int, run: int = 0) -> None:
        """Add samples that had been sent or heard at `ended` (s).

        A piece of another `run` (generation) than the last never closes a gap. Where the device's clock is off, some
        pieces begin after a little silence or lack their first samples.
        """
        if count <= 0 or first < 0:
            return
        at, skip = round(ended * self.rate) - count, 0
        # A piece begins where the last one ended unless there is a real gap; it never overlaps the last one.
        if run != self._run or at > self.end + _JITTER_S * self.rate:
            self.end = max(self.end, at)
            self._late.clear()
        else:
            self._late.append(at - self.end)
            skip = self._correct(count)
        self._run = run
        self.pieces.append(Piece(self.end, first + skip, count - skip))
        self.starts.append(self.end)
        self.end += count - skip

    def _correct(self, count: int) -> int:
        """Move the end where the pieces drift.

        Return the number of first samples to cut of the next piece, which has `count`.
        """
        if len(self._late) < _DRIFT_PIECES:
            return 0
        late, limit = median_low(self._late), round(_DRIFT_S * self.rate)
        if abs(late) <= limit:
            return 0
        # Sound cannot be cut without a loss, so that is done in small parts.
        moved = max(late, -limit, 1 - count)
        self._late = deque((each - moved for each in self._late), _DRIFT_PIECES)
        self.end += max(0, moved)
        return max(0, -moved)

    def between(self, start: int, end: int) -> Iterator[Piece]:
        """Yield the pieces that overlap [`start`, `end`)."""
        for index in range(max(0, bisect_right(self.starts, start) - 1), len(self.pieces)):
            piece = self.pieces[index]
            if piece.at >= end:
                return
            if piece.at + piece.count > start:
                yield piece


class SoundMap:
    """Lanes of both sides, built from the events of a session in order."""

    def __init__(self) -> None:
        self.user = Lane(RATES["user"])
        self.model = Lane(RATES["model"])
        self._received: dict[int, list[tuple[int, int]]] = {}

    def add(self, event: ev.Event) -> None:
        """Add the sound of the next event."""
        payload = event.payload
        if isinstance(payload, ev.PlaybackHeard):
            if not payload.muted:
                self._add_heard(event.t - payload.late_ms / 1000, payload)
            return
        for track, first, count in carried(payload):
            if track == "user":
                late = payload.late_ms / 1000 if isinstance(payload, ev.WireAudio) else 0.0
                self.user.add(event.t - late, first, count)
            else:
                self._received.setdefault(event.gen, []).append((first, count))

    def add_received(self, event: ev.Event) -> None:
        """Add the received samples of an event from before those for `add`.

        Its own sound is not placed: only its generation's samples are known then.
        """
        for track, first, count in carried(event.payload):
            if track == "model":
                self._received.setdefault(event.gen, []).append((first, count))

    def _add_heard(self, t: float, payload: ev.PlaybackHeard) -> None:
        played = list(_of_generation(self._received.get(payload.of, []), payload.first, payload.count))
        # All samples had been heard at `t`: those of the last span ended then, those of earlier ones before.
        left = sum(size for _, size in played)
        for start, size in played:
            left -= size
            self.model.add(t - left / self.model.rate, start, size, payload.of)


def carried(payload: ev.Payload) -> Iterator[tuple[ev.Side, int, int]]:
    """Yield (track, first sample, count) of the sound that an event carried."""
    if isinstance(payload, ev.WireAudio):
        if payload.count > 0 <= payload.first:
            yield payload.track, payload.first, payload.count
    elif isinstance(payload, ev.WireMessage):
        yield from _references(payload.frame)


def lane_samples(path: Path, lane: Lane, start: int, end: int) -> Samples:
    """Read samples [`start`, `end`) of a lane from its track at `path`.

    Gaps are silence, and so are samples that cannot be read.
    """
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
    """Yield the spans of a track that hold samples of a generation.

    `spans` are all of the generation, (first sample of the track, count) in order; `first` and `count` say which of its
    samples are wanted.
    """
    at = 0
    for start, size in spans:
        low, high = max(first, at), min(first + count, at + size)
        if low < high:
            yield start + low - at, high - low
        at += size


def _references(frame: Any, depth: int = 0) -> Iterator[tuple[ev.Side, int, int]]:
    """Yield the references to track samples in a message's frame."""
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
