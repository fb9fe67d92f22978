"""Format the sound of a session as WAV files on the session's clock.

All files of a session fit each other and the events. `microphone` is the sent audio, at 16 kHz. `model` is the model's
audio as heard, at 24 kHz: samples that an interruption cut off, or that were played while the speaker was muted, are
silence. `stereo` is both at 24 kHz, the user on the left, the model on the right. Several stretches of a range follow
each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime.errors import JournalError, UsageError
from gemini_live_runtime.journal.files.tracks import FILES, RATES, has_track, read_track, wav_header
from gemini_live_runtime.journal.formats.base import ExportSource, Format
from gemini_live_runtime.journal.sound.sound_map import Lane, SoundMap, lane_samples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

MAX_S = 12 * 3600.0
"""Longest export in seconds: the size fields of a stereo WAV file allow little more."""

_LEAD_S = 1.0
"""Seconds of sound before a turn: its event comes once the user's voice has been heard for a moment."""

_CHUNK_S = 1
"""Seconds read at a time."""


def sound(material: ExportSource, fmt: Format) -> Iterator[bytes]:
    """Yield a WAV file; raises `JournalError` when that sound was not recorded."""
    where = SoundMap()
    for event in material.events():
        where.add(event)
    user, model = where.user, where.model
    folder = material.journal.folder
    user_file, model_file = (has_track(folder / FILES[side]) for side in ("user", "model"))
    has_user, has_model = user_file and bool(user.pieces), model_file and bool(model.pieces)
    if fmt == "microphone" and not has_user:
        raise _not_recorded("The microphone was not recorded in this session")
    if not has_model and model_file and (fmt == "model" or not has_user):
        raise JournalError(
            "Nothing of the model was heard in this session",
            remedy=f"What it sent is in {folder / FILES['model']}",
            field="format",
        )
    if fmt == "model" and not has_model:
        raise _not_recorded("The model was not recorded in this session")
    if not (has_user or has_model):
        raise _not_recorded("No sound was recorded in this session")
    # A track that cannot be read would be exported as silence.
    if has_user and fmt != "model":
        read_track(folder / FILES["user"], count=0)
    if has_model and fmt != "microphone":
        read_track(folder / FILES["model"], count=0)
    stretches = _stretches(material)
    rate = RATES["user"] if fmt == "microphone" else RATES["model"]
    channels = 2 if fmt == "stereo" else 1
    # Hundredths of a second are whole samples at both rates, so that both channels have one length.
    spans = [(int(start * 100), int(end * 100) + 1) for start, end in stretches]
    frames = sum(end - start for start, end in spans) * rate // 100
    yield wav_header(rate, frames * 2 * channels, channels)
    for start, end in spans:
        if fmt == "stereo":
            yield from _stereo(folder, user, model, start, end)
        else:
            lane, side = (user, FILES["user"]) if fmt == "microphone" else (model, FILES["model"])
            for samples in _mono(folder / side, lane, start, end):
                yield samples.astype("<i2").tobytes()


def _not_recorded(what: str) -> JournalError:
    return JournalError(
        what,
        remedy="Sound is recorded with: gemini-live-tui config set recording.record audio; the oldest is deleted first",
        field="format",
    )


def _stretches(material: ExportSource) -> list[tuple[float, float]]:
    lead = _LEAD_S if material.window.turn is not None else 0.0
    stretches = [(max(0.0, start - lead), end) for start, end in material.window.stretches]
    if sum(end - start for start, end in stretches) > MAX_S:
        raise UsageError(
            "That is more than 12 hours of sound", remedy="Give a range, e.g. --from 0 --until 3600", field="range"
        )
    return stretches


def _mono(path: Path, lane: Lane, start: int, end: int) -> Iterator[Samples]:
    """Yield a lane from `start` to `end` (hundredths of a second) in chunks."""
    for low in range(start, end, 100 * _CHUNK_S):
        first, beyond = low * lane.rate // 100, min(end, low + 100 * _CHUNK_S) * lane.rate // 100
        yield lane_samples(path, lane, first, beyond)


def _stereo(folder: Path, user: Lane, model: Lane, start: int, end: int) -> Iterator[bytes]:
    """Yield both lanes as interleaved samples at the model's rate."""
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
    for user_samples, model_samples in lanes:
        done += len(model_samples)
        resampled = stream.resample_chunk(user_samples.astype(np.float32) / 32768, last=done >= frames)
        left = np.concatenate((left, np.clip(np.rint(resampled * 32768), -32768, 32767).astype("<i2")))
        right = np.concatenate((right, model_samples))
        ready = min(len(left), len(right))
        if done >= frames:
            # The resampler may return a sample less than expected.
            left = np.pad(left, (0, max(0, len(right) - len(left))))
            ready = len(right)
        yield np.stack((left[:ready], right[:ready]), axis=1).tobytes()
        left, right = left[ready:], right[ready:]
