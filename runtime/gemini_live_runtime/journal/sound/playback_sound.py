"""Read the sound of a recorded session, from any moment and at any speed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import soxr

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.playback.stretch import Stretcher
from gemini_live_runtime.audio.samples import Float32, Int16, to_float, to_int16
from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.journal.files.tracks import FILES, RATES, read_track
from gemini_live_runtime.journal.history.session_history import History
from gemini_live_runtime.journal.sound.sound_map import Lane, SoundMap, lane_samples
from gemini_live_runtime.records import record

RATE = RATES["model"]
"""Sample rate of all returned sound in Hz."""

LATE_S = 2.0
"""Longest time in seconds between a sound and its event."""

FAR_BACK = 20_000
"""Events searched at most for the arrival of a generation's first samples."""

PORTION_S = 2.0
"""Seconds of a session in one portion."""

MARGIN_S = 0.02
"""Seconds around a cut that the resampler's filter needs."""


@record
class Sound:
    """Sound from `begin` to `end` (s of session time).

    `samples` has shape (samples, 2) at `RATE`, user left, model right. `missing` are the tracks that do not exist or
    cannot be read: their side is silent.
    """

    begin: float
    end: float
    samples: Int16
    missing: tuple[ev.Side, ...]

    def mono(self) -> Int16:
        """Return both sides mixed, clipped to 16 bits."""
        wide = self.samples.astype(np.int32).sum(axis=1)
        mixed: Int16 = np.clip(wide, -32768, 32767).astype(np.int16)
        return mixed


@record
class Portion:
    """Mono s16le at `RATE` of the session from `begin` to `end` (s), at some speed."""

    begin: float
    end: float
    pcm: bytes
    missing: tuple[ev.Side, ...]


def sound_between(history: History, folder: Path, begin: float, end: float) -> Sound:
    """Return the sound from `begin` to `end`; `folder` holds the tracks.

    Raises `JournalError` as `history` does.
    """
    begin = max(0.0, begin)
    end = max(begin, end)
    first = round(begin * RATE)
    count = round(end * RATE) - first
    where = sound_map(history, begin, end)
    samples = np.zeros((count, 2), np.int16)
    missing: list[ev.Side] = []
    for column, (side, lane) in enumerate(_sides(where)):
        path = folder / FILES[side]
        if not _is_track(path):
            missing.append(side)
        elif lane.rate == RATE:
            samples[:, column] = lane_samples(path, lane, first, first + count)
        else:
            samples[:, column] = _converted(path, lane, first, count)
    return Sound(begin, end, samples, tuple(missing))


def playback(
    history: History, folder: Path, begin: float, end: float | None = None, *, speed: float = 1.0
) -> Iterator[Portion]:
    """Yield the sound from `begin` to `end` or the end of the history, in portions.

    `speed` is 0.25 to 8; voices keep their pitch. After n samples the session time is `begin` + n / `RATE` * `speed`.
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


def sound_map(history: History, begin: float, end: float) -> SoundMap:
    """Return the lanes with the sound from `begin` to `end`, and some of around it."""
    first = history.seq_at_time(max(0.0, begin - LATE_S)) + 1
    events = list(history.events(first, history.seq_at_time(end + LATE_S)))
    heard = [event.payload.of for event in events if isinstance(event.payload, ev.PlaybackHeard)]
    found = SoundMap()
    if heard:
        for event in reversed(list(_received_before(history, first, min(heard)))):
            found.add_received(event)
    for event in events:
        found.add(event)
    return found


def _received_before(history: History, seq: int, oldest: int) -> Iterator[ev.Event]:
    """Yield received messages before event `seq`, newest first.

    Ends with the first one of a generation before `oldest`.
    """
    for event in islice(history.events_back(seq - 1), FAR_BACK):
        if isinstance(event.payload, ev.WireAudio | ev.WireMessage) and event.payload.direction == "received":
            if event.gen < oldest:
                return
            yield event


def _sides(where: SoundMap) -> tuple[tuple[ev.Side, Lane], tuple[ev.Side, Lane]]:
    return ("user", where.user), ("model", where.model)


def _is_track(path: Path) -> bool:
    try:
        read_track(path, count=0)
    except AudioFileError:
        return False
    return True


def _converted(path: Path, lane: Lane, first: int, count: int) -> Int16:
    """Read `count` samples from `first`, both at `RATE`, of a lane of another rate."""
    margin = round(MARGIN_S * lane.rate)
    # From a moment at which both rates have a sample: between two of them everything would be up to one sample early.
    step = lane.rate // math.gcd(lane.rate, RATE)
    start = (first * lane.rate // RATE - margin) // step * step
    end = (first + count) * lane.rate // RATE + margin
    wide: Float32 = soxr.resample(to_float(lane_samples(path, lane, start, end)), lane.rate, RATE, quality="HQ")
    skip = first - start * RATE // lane.rate
    return to_int16(wide[skip : skip + count])
