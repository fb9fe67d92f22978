"""Use WAV files as microphone and loudspeaker, in the event loop's time.

Everything runs on the loop, by a timer every 10 ms; on a virtual-time loop the time is virtual.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from gemini_live_runtime.audio.echo.cancellers import NoCanceller
from gemini_live_runtime.audio.interface import (
    CHUNK_SAMPLES,
    MIC_RATE,
    MODEL_RATE,
    AudioListener,
    AudioOpened,
    Direction,
    MicChunk,
    OpenDevice,
)
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline, PipelineAudio
from gemini_live_runtime.audio.resample import Resampler
from gemini_live_runtime.audio.samples import BLOCK, FRAME, FRAME_MS, Float32, to_int16
from gemini_live_runtime.audio.wav import WavReader, WavWriter
from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.samples import MeterSample

_TICK = FRAME_MS / 1000
_CHUNK_FRAMES = CHUNK_SAMPLES // FRAME
_MAX_UNDELIVERED = 50
_LEAST_PAUSE = 3.5 * _TICK
_MISSING_S = 0.05
"""Seconds missing in a file that are worth a sentence: programs that write to a pipe may be off by some samples."""
_CATCH_UP = 100
"""Most ticks (1 s of sound) processed at once after the loop was late."""


class _FileMicrophone:
    """Reader of 10 ms frames at 16 kHz from a WAV file, silence after its end."""

    def __init__(self, path: Path) -> None:
        self.reader = WavReader(path)
        self._resampler = Resampler(self.reader.rate, MIC_RATE, "VHQ")
        self._samples: Float32 = np.zeros(0, np.float32)
        self._read_all = False
        self.at_end = False

    def frame(self) -> Float32:
        """Return the next 160 samples; raise AudioFileError when the disk fails."""
        while len(self._samples) < FRAME and not self._read_all:
            piece = self.reader.read(self.reader.rate)
            self._read_all = self.reader.frames_left == 0
            self._samples = np.concatenate((self._samples, self._resampler.process(piece, last=self._read_all)))
        out, self._samples = self._samples[:FRAME], self._samples[FRAME:]
        if self._read_all and not len(self._samples):
            self.at_end = True
        return out if len(out) == FRAME else np.concatenate((out, np.zeros(FRAME - len(out), np.float32)))

    def put_back(self, frames: Sequence[Float32]) -> None:
        """Make `frames`, read last, the next ones again."""
        self._samples = np.concatenate((*frames, self._samples))
        self.at_end = False


class _ChunkCounter:
    """`AudioListener` that counts the chunks for another."""

    def __init__(self, listener: AudioListener) -> None:
        self._listener = listener
        self.chunks = 0

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        """Count and pass on `chunk`."""
        self.chunks += 1
        self._listener.on_mic_chunk(chunk)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._listener, name)


class FileAudio(PipelineAudio):
    """`AudioIO` that reads one WAV file and writes another; either may be absent.

    After the end of the microphone's file digital silence is delivered until `close`, so that the server detects the
    end of speech. While the microphone is off, reading pauses, and nothing of the file is lost. The loudspeaker's file
    holds everything from `open` to `close`, silence included.
    """

    def __init__(self, microphone: Path | None, speaker: Path | None) -> None:
        self._mic_path = microphone
        self._speaker_path = speaker
        self._mic: _FileMicrophone | None = None
        self._writer: WavWriter | None = None
        self._listener: AudioListener | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._out: Float32 = np.zeros(BLOCK, np.float32)
        self._due = 0.0
        self._microphone_on = True
        self._was_on = True
        self._off_until = 0.0
        self._lost_input = False
        self._counter: _ChunkCounter | None = None
        self._undelivered: deque[Float32] = deque(maxlen=_MAX_UNDELIVERED)

    def check(self) -> None:
        """Raise AudioFileError for an unreadable microphone or unwritable speaker file."""
        if self._mic_path is not None:
            WavReader(self._mic_path).close()
        path = self._speaker_path
        if path is None:
            return
        if self._mic_path is not None and path.exists() and path.samefile(self._mic_path):
            raise AudioFileError(
                f"{path} is the microphone's file and would be overwritten",
                remedy="Give the speaker another file",
                field="speaker",
                value=str(path),
            )
        if reason := _unwritable(path):
            raise AudioFileError(
                f"{path} cannot be written: {reason}",
                remedy="Give the path of a WAV file in an existing, writable folder",
                field="speaker",
                value=str(path),
            )

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Open the files and start; raise AudioFileError for an unusable file."""
        self.check()
        if self._mic_path is not None:
            self._mic = _FileMicrophone(self._mic_path)
        try:
            self._writer = WavWriter(self._speaker_path, MODEL_RATE) if self._speaker_path is not None else None
        except AudioFileError:
            if self._mic is not None:
                self._mic.reader.close()
            raise
        self._listener = listener
        counter = self._counter = _ChunkCounter(listener)
        self._pipeline = AudioPipeline(
            cast(AudioListener, counter),
            NoCanceller(),
            mic_rate=MIC_RATE if self._mic is not None else None,
            out_rate=MODEL_RATE,
        )
        self._pipeline.set_microphone(self._microphone_on)
        self._was_on = self._microphone_on
        loop = asyncio.get_running_loop()
        self._due = loop.time() + _TICK
        self._timer = loop.call_at(self._due, self._tick)
        return AudioOpened(
            OpenDevice("input", self._mic_path.name, self._mic.reader.rate, 0.0)
            if self._mic_path and self._mic
            else None,
            OpenDevice("output", self._speaker_path.name, MODEL_RATE, 0.0) if self._speaker_path else None,
            _oddities(self._mic.reader) if self._mic is not None else (),
            "none needed",
        )

    async def close(self) -> None:
        """Stop and close the files; raise AudioFileError if the speaker's file fails."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            if self._pipeline is not None:
                self._pipeline.playout.finish()
        if self._mic is not None:
            self._mic.reader.close()
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.close()

    def cut(self, cut_below: int) -> None:
        """Drop generations below `cut_below`, reporting what was played first."""
        super().cut(cut_below)
        if self._pipeline is not None:
            self._pipeline.playout.step(asyncio.get_running_loop().time())

    def set_microphone(self, on: bool) -> None:
        """Start or pause reading the file, from the next frame on."""
        self._microphone_on = on

    def set_speaker(self, on: bool) -> None:
        """Write the played sound, or silence."""
        if self._pipeline is not None:
            self._pipeline.set_speaker(on)

    def levels(self) -> MeterSample:
        """Return the current meter values."""
        if self._pipeline is None:
            return MeterSample()
        return self._pipeline.levels

    @property
    def finished(self) -> bool:
        """True when the microphone's file was read to its end, or is absent."""
        return self._mic_path is None or self._lost_input or (self._mic is not None and self._mic.at_end)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(_CATCH_UP):
            self._ten_milliseconds(self._due)
            self._due += _TICK
            if self._due > loop.time():
                break
        self._timer = loop.call_at(self._due, self._tick)

    def _ten_milliseconds(self, now: float) -> None:
        pipeline = self._pipeline
        assert pipeline is not None
        ring = pipeline.playout.ring
        if ring is not None and pipeline.played is not None:
            ring.read(self._out, now)
            pipeline.played.write(self._out, now)
            if self._writer is not None:
                try:
                    self._writer.write(to_int16(self._out))
                except AudioFileError as error:
                    self._lose("output", error)
        if self._microphone_on != self._was_on and now > self._off_until:
            self._switch(pipeline, now)
        if self._mic is not None and self._was_on and pipeline.microphone is not None and not self._lost_input:
            try:
                frame = self._mic.frame()
                self._undelivered.append(frame)
                pipeline.microphone.write(frame, now)
            except AudioFileError as error:
                self._lose("input", error)
        pipeline.step(now)
        self._forget_delivered()

    def _switch(self, pipeline: AudioPipeline, now: float) -> None:
        self._was_on = self._microphone_on
        pipeline.set_microphone(self._microphone_on)
        if not self._microphone_on and self._mic is not None:
            # What was read and not delivered is read again, once the pipeline has dropped it.
            self._off_until = now + _LEAST_PAUSE
            self._mic.put_back(self._undelivered)
            self._undelivered.clear()

    def _forget_delivered(self) -> None:
        assert self._counter is not None
        for _ in range(min(len(self._undelivered), self._counter.chunks * _CHUNK_FRAMES)):
            self._undelivered.popleft()
        self._counter.chunks = 0

    def _lose(self, direction: Direction, error: AudioFileError) -> None:
        assert self._pipeline is not None
        assert self._listener is not None
        if direction == "output":
            self._pipeline.lose_output()
            writer, self._writer = self._writer, None
            if writer is not None:
                with contextlib.suppress(AudioFileError):
                    writer.close()
        else:
            self._lost_input = True
            self._pipeline.lose_input()
        self._listener.on_device_lost(direction, str(error))


def _oddities(reader: WavReader) -> tuple[str, ...]:
    """Return a sentence for each reason why less is heard than one may expect."""
    found = []
    if reader.is_silent():
        found.append(f"{reader.path} holds nothing but silence: the model will hear nothing.")
    if reader.missing_s >= _MISSING_S:
        there = reader.frames_left / reader.rate
        found.append(f"{reader.path} was cut off: {there:.1f} s of {there + reader.missing_s:.1f} s are there.")
    return tuple(found)


def _unwritable(path: Path) -> str:
    """Return why `path` cannot be written, or ""; leaves it unchanged."""
    if path.is_dir():
        return "it is a folder"
    if path.is_fifo() or path.is_socket():
        # Opening a pipe would block until it has a reader.
        return "it is a pipe or a socket"
    if not path.absolute().parent.is_dir():
        return "its folder does not exist"
    existed = path.exists()
    try:
        path.open("ab").close()
        if not existed:
            path.unlink()
    except OSError as error:
        return error.strerror or str(error)
    return ""
