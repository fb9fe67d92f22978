"""The sound of a recorded session as it was heard: what the microphone sent, and what of the model was played, in time.

Tracks hold everything that was sent and received, one sample after the other; events say when. A `wire.audio` span was
sent when its event came; `playback.heard` says which samples of a generation had been played by then. Where a span
came as one with a pause in it, its first part is heard late by the length of the pause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soxr

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.samples import Float32, Int16, to_float, to_int16
from gemini_live_runtime.audio.stretch import Stretcher
from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.journal.history import History
from gemini_live_runtime.journal.tracks import FILES, RATES, read_track

RATE = RATES["model"]
"""Samples a second of everything that is made here."""

LATE_S = 2.0
"""Longest time after a sound at which its event comes."""

JOIN_S = 0.1
"""Parts of a track that follow one another are heard without a gap where the clocks differ by less."""

PORTION_S = 2.0
"""Seconds of a session that are made at a time for playing back."""

MARGIN_S = 0.02
"""Seconds around a cut that a conversion of rates looks at."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Samples [`first`, `first` + `count`) of a track, heard from session time `at` (s) on."""

    track: ev.Side
    at: float
    first: int
    count: int

    @property
    def end(self) -> float:
        """When it was over."""
        return self.at + self.count / RATES[self.track]


@dataclass(frozen=True, slots=True)
class Sound:
    """What was heard from `begin` to `end` (s of session time): shape (samples, 2) at `RATE`, user left, model right.

    `missing` are the tracks that are not there or cannot be read: their side is silent.
    """

    begin: float
    end: float
    samples: Int16
    missing: tuple[ev.Side, ...]

    def mono(self) -> Int16:
        """Both sides in one."""
        wide = self.samples.astype(np.int32).sum(axis=1)
        mixed: Int16 = np.clip(wide, -32768, 32767).astype(np.int16)
        return mixed


@dataclass(frozen=True, slots=True)
class Portion:
    """Mono s16le at `RATE` that plays the session from `begin` to `end` (s) at the speed that was asked for."""

    begin: float
    end: float
    pcm: bytes
    missing: tuple[ev.Side, ...]


def sound_between(history: History, folder: Path, begin: float, end: float) -> Sound:
    """What was heard from `begin` to `end`; `folder` holds the tracks. Raises `JournalError` as `history` does."""
    begin = max(0.0, begin)
    end = max(begin, end)
    samples = np.zeros((round((end - begin) * RATE), 2), np.float32)
    found = pieces(history, begin, end)
    missing: list[ev.Side] = []
    for side, column in (("user", 0), ("model", 1)):
        track: ev.Side = "user" if side == "user" else "model"
        if not (folder / FILES[track]).is_file():
            missing.append(track)
            continue
        try:
            for run in _runs([piece for piece in found if piece.track == track]):
                _lay(samples[:, column], run, folder, begin)
        except AudioFileError:
            missing.append(track)
    return Sound(begin, end, to_int16(samples), tuple(missing))


def sound(history: History, folder: Path, first: int, last: int) -> Sound:
    """What was heard from event `first` to event `last`."""
    return sound_between(history, folder, history.view_at(first).t, history.view_at(last).t)


def playback(
    history: History, folder: Path, begin: float, end: float | None = None, *, speed: float = 1.0
) -> Iterator[Portion]:
    """The sound from `begin` on for playing back, a portion at a time, up to `end` or the end of the history.

    `speed` goes from 0.25 to 8; voices keep their pitch. After n samples have been played the session stands at
    `begin` + n / `RATE` * `speed`.
    """
    stretcher = Stretcher(RATE, speed)
    at = begin
    while True:
        limit = history.live.t if end is None else end
        if at >= limit:
            return
        until = min(limit, at + PORTION_S)
        heard = sound_between(history, folder, at, until)
        stretched = stretcher.process(to_float(heard.mono())[:, None], last=until >= limit)
        yield Portion(at, until, to_int16(stretched[:, 0]).astype("<i2").tobytes(), heard.missing)
        at = until


def pieces(history: History, begin: float, end: float) -> list[Piece]:
    """What was heard from `begin` to `end`, by track in order; nothing that was received and never played."""
    first = history.seq_at_time(max(0.0, begin - LATE_S)) + 1
    last = history.seq_at_time(end + LATE_S)
    sent: list[Piece] = []
    heard: list[tuple[float, ev.PlaybackHeard]] = []
    for event in history.events(first, last):
        payload = event.payload
        if isinstance(payload, ev.PlaybackHeard):
            if not payload.muted:
                heard.append((event.t, payload))
        else:
            for track, start, count in _carried(payload, "sent"):
                if track == "user":
                    _place(sent, Piece("user", event.t - count / RATES["user"], start, count))
    played: list[Piece] = []
    if heard:
        received = _received(history, last, min(payload.of for _, payload in heard))
        gen = -1
        for t, payload in heard:
            at = t - payload.count / RATE
            for start, count in _of_generation(received.get(payload.of, []), payload.first, payload.count):
                _place(played, Piece("model", at, start, count), joins=payload.of == gen)
                gen = payload.of
                at += count / RATE
    return [piece for piece in (*sent, *played) if piece.end > begin and piece.at < end]


def _place(placed: list[Piece], piece: Piece, *, joins: bool = True) -> None:
    """Add `piece`, not before the end of the one before it, and without a gap where it goes on and `joins`."""
    if placed:
        before = placed[-1]
        goes_on = joins and piece.first == before.first + before.count and abs(piece.at - before.end) < JOIN_S
        if goes_on or piece.at < before.end:
            piece = Piece(piece.track, before.end, piece.first, piece.count)
    placed.append(piece)


def _carried(payload: ev.Payload, direction: ev.Wire) -> Iterator[tuple[ev.Side, int, int]]:
    """(track, first sample, samples) of what an event says to have travelled in `direction`."""
    if isinstance(payload, ev.WireAudio):
        if payload.direction == direction and payload.count > 0 <= payload.first:
            yield payload.track, payload.first, payload.count
    elif isinstance(payload, ev.WireMessage) and payload.direction == direction:
        yield from _references(payload.frame)


def _references(value: Any) -> Iterator[tuple[ev.Side, int, int]]:
    if isinstance(value, Mapping):
        kept = value.get("$audio")
        if isinstance(kept, Mapping):
            track, first, count = kept.get("track"), kept.get("first"), kept.get("count")
            if track in ("user", "model") and isinstance(first, int) and isinstance(count, int) and count > 0 <= first:
                yield "user" if track == "user" else "model", first, count
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _references(item)


def _received(history: History, last: int, oldest: int) -> dict[int, list[tuple[int, int]]]:
    """(first sample, samples) of all that was received of each generation from `oldest` on, up to event `last`."""
    found: dict[int, list[tuple[int, int]]] = {}
    for event in history.events_back(last):
        payload = event.payload
        if isinstance(payload, ev.WireAudio | ev.WireMessage) and payload.direction == "received":
            if event.gen < oldest:
                break
            spans = [(start, count) for track, start, count in _carried(payload, "received") if track == "model"]
            if spans:
                found.setdefault(event.gen, [])[:0] = spans
    return found


def _of_generation(spans: list[tuple[int, int]], first: int, count: int) -> Iterator[tuple[int, int]]:
    """Where in the track samples [`first`, `first` + `count`) of a generation stand, which came in `spans`."""
    end, at = first + count, 0
    for start, length in spans:
        low, high = max(first, at), min(end, at + length)
        if low < high:
            yield start + low - at, high - low
        at += length


def _runs(placed: list[Piece]) -> Iterator[Piece]:
    """`placed`, those that follow one another without a gap in one."""
    run: Piece | None = None
    for piece in placed:
        if run is not None and piece.first == run.first + run.count and abs(piece.at - run.end) < 1e-6:
            run = Piece(run.track, run.at, run.first, run.count + piece.count)
            continue
        if run is not None:
            yield run
        run = piece
    if run is not None:
        yield run


def _lay(samples: Float32, run: Piece, folder: Path, begin: float) -> None:
    """Put what of `run` falls into `samples`, which begin at session time `begin`, into its place."""
    rate = RATES[run.track]
    end = begin + len(samples) / RATE
    low = max(0, int((begin - MARGIN_S - run.at) * rate))
    high = min(run.count, int((end + MARGIN_S - run.at) * rate) + 1)
    if low >= high:
        return
    track = read_track(folder / FILES[run.track], first=run.first + low, count=high - low)
    part = to_float(np.frombuffer(track.pcm, "<i2"))
    if rate != RATE:
        part = soxr.resample(part, rate, RATE, quality="HQ")
    at = round((run.at + low / rate - begin) * RATE)
    part = part[max(0, -at) :]
    at = max(0, at)
    part = part[: max(0, len(samples) - at)]
    samples[at : at + len(part)] += part
