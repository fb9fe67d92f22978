"""The sound of a session as WAV files on the session's own clock, so that all of them fit each other and the events.

`microphone` is what was sent, at 16 kHz. `model` is what was heard of the model, at 24 kHz: what was cut off by an
interruption, or played while the speaker was muted, is silence. `stereo` is both at 24 kHz, the user on the left, the
model on the right. Where a range has several stretches they follow each other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AudioFileError, JournalError, UsageError
from gemini_live_runtime.journal.tracks import FILES, RATES, read_track, wav_header

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gemini_live_runtime.journal.export import Format, Material

    Samples = NDArray[np.int16]

LONGEST_S = 12 * 3600.0
"""Seconds of one export: a WAV file of two channels holds little more."""

_LEAD_S = 1.0
"""A turn is told of when the user's voice was heard for a moment: its sound begins this much earlier."""

_JITTER_S = 0.1
"""Sound that follows a piece within this time follows it at once: the clock of its event is only about right."""

_CHUNK_S = 1


@dataclass(frozen=True, slots=True)
class Piece:
    """Samples [`first`, `first` + `count`) of a track, to be heard from sample `at` of the session on."""

    at: int
    first: int
    count: int


class _Lane:
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


def sound(material: Material, fmt: Format) -> Iterator[bytes]:
    """A WAV file: its header, then its samples. Raises `JournalError` when that sound was not recorded."""
    user, model = _lanes(material)
    folder = material.journal.folder
    have_user, have_model = ((folder / FILES[side]).is_file() for side in ("user", "model"))
    if fmt == "microphone" and not (have_user and user.pieces):
        raise _missing("The microphone was not recorded in this session")
    if fmt == "model" and have_model and not model.pieces:
        raise JournalError(
            "Nothing of the model was heard in this session",
            remedy=f"What it sent is in {folder / FILES['model']}",
            field="format",
        )
    if fmt == "model" and not have_model:
        raise _missing("The model was not recorded in this session")
    if fmt == "stereo" and not ((have_user and user.pieces) or (have_model and model.pieces)):
        raise _missing("No sound was recorded in this session")
    stretches = _stretches(material)
    rate = RATES["user"] if fmt == "microphone" else RATES["model"]
    channels = 2 if fmt == "stereo" else 1
    # Whole seconds of the clock in samples of either rate, so that both channels are of one length.
    spans = [(int(start * 100), int(end * 100) + 1) for start, end in stretches]
    frames = sum(end - start for start, end in spans) * rate // 100
    yield wav_header(rate, frames * 2 * channels, channels)
    for start, end in spans:
        if fmt == "stereo":
            yield from _both(folder, user, model, start, end)
        else:
            lane, side = (user, FILES["user"]) if fmt == "microphone" else (model, FILES["model"])
            for samples in _mono(folder / side, lane, start, end):
                yield samples.astype("<i2").tobytes()


def _missing(what: str) -> JournalError:
    return JournalError(
        what,
        remedy="Sound is recorded with: gemini-live-tui config set recording.record audio; the oldest is deleted first",
        field="format",
    )


def _stretches(material: Material) -> list[tuple[float, float]]:
    lead = _LEAD_S if material.window.turn is not None else 0.0
    stretches = [(max(0.0, start - lead), end) for start, end in material.window.stretches]
    if sum(end - start for start, end in stretches) > LONGEST_S:
        raise UsageError(
            "That is more than 12 hours of sound", remedy="Give a range, e.g. --from 0 --until 3600", field="range"
        )
    return stretches


def _lanes(material: Material) -> tuple[_Lane, _Lane]:
    """Where the microphone's samples lie, and those of the model that were heard."""
    user, model = _Lane(RATES["user"]), _Lane(RATES["model"])
    received: dict[int, list[tuple[int, int]]] = {}
    for event in material.events():
        match event.payload:
            case ev.WireAudio(track="user", first=first, count=count):
                user.add(event.t, first, count)
            case ev.WireAudio(track="model", first=first, count=count):
                received.setdefault(event.gen, []).append((first, count))
            case ev.WireMessage(frame=frame):
                for track, first, count in _references(frame):
                    if track == "user":
                        user.add(event.t, first, count)
                    else:
                        received.setdefault(event.gen, []).append((first, count))
            case ev.PlaybackHeard(of=of, first=first, count=count, muted=False):
                played = list(_of_generation(received.get(of, []), first, count))
                left = sum(size for _, size in played)
                for start, size in played:
                    left -= size
                    model.add(event.t - left / model.rate, start, size, of)
    return user, model


def _of_generation(spans: list[tuple[int, int]], first: int, count: int) -> Iterator[tuple[int, int]]:
    """Where samples [`first`, `first` + `count`) of a generation are in the track, which has it in `spans`."""
    at = 0
    for start, size in spans:
        low, high = max(first, at), min(first + count, at + size)
        if low < high:
            yield start + low - at, high - low
        at += size


def _references(frame: Any, depth: int = 0) -> Iterator[tuple[str, int, int]]:
    """What a message's frame says about audio that is kept in a track."""
    if depth > 20:
        return
    if isinstance(frame, Mapping):
        found = frame.get("$audio")
        if isinstance(found, Mapping):
            track, first, count = found.get("track"), found.get("first"), found.get("count")
            if track in ("user", "model") and type(first) is int and type(count) is int:
                yield track, first, count
            return
        for value in frame.values():
            yield from _references(value, depth + 1)
    elif isinstance(frame, list | tuple):
        for value in frame:
            yield from _references(value, depth + 1)


def _mono(path: Path, lane: _Lane, start: int, end: int) -> Iterator[Samples]:
    """A lane from `start` to `end` (hundredths of a second), a second at a time; where nothing lies is silence."""
    import numpy as np

    for low in range(start, end, 100 * _CHUNK_S):
        first, beyond = low * lane.rate // 100, min(end, low + 100 * _CHUNK_S) * lane.rate // 100
        samples = np.zeros(beyond - first, "<i2")
        for piece in lane.between(first, beyond):
            skip = max(0, first - piece.at)
            at = max(0, piece.at - first)
            count = min(piece.count - skip, len(samples) - at)
            try:
                pcm = read_track(path, first=piece.first + skip, count=count).pcm
            except AudioFileError:
                continue  # deleted or cut off: what was there is silence
            samples[at : at + len(pcm) // 2] = np.frombuffer(pcm, "<i2")
        yield samples


def _both(folder: Path, user: _Lane, model: _Lane, start: int, end: int) -> Iterator[bytes]:
    """Left and right, one sample after the other, at the model's rate."""
    import numpy as np
    import soxr

    stream = soxr.ResampleStream(user.rate, model.rate, 1, dtype="float32", quality="HQ")
    left = np.zeros(0, "<i2")
    right = np.zeros(0, "<i2")
    frames = (end - start) * model.rate // 100
    done = 0
    lanes = zip(
        _mono(folder / FILES["user"], user, start, end), _mono(folder / FILES["model"], model, start, end), strict=True
    )
    for mine, its in lanes:
        done += len(its)
        fresh = stream.resample_chunk(mine.astype(np.float32) / 32768, last=done >= frames)
        left = np.concatenate((left, np.clip(np.rint(fresh * 32768), -32768, 32767).astype("<i2")))
        right = np.concatenate((right, its))
        ready = min(len(left), len(right))
        if done >= frames:
            # The resampler may end a sample early.
            left = np.pad(left, (0, max(0, len(right) - len(left))))
            ready = len(right)
        yield np.stack((left[:ready], right[:ready]), axis=1).tobytes()
        left, right = left[ready:], right[ready:]
