"""Read and write WAV files piece by piece.

Reads PCM of 8 to 32 bits and float, of any rate and up to `MAX_CHANNELS` channels; writes 16-bit mono.
"""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gemini_live_runtime.audio.samples import AnyArray, Float32, Int16
from gemini_live_runtime.errors import AudioFileError, write_remedy

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_WIDTHS = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}
_KINDS = {2: "ADPCM", 6: "A-law", 7: "mu-law", 17: "IMA ADPCM", 80: "MPEG", 85: "MP3"}
MIN_RATE, MAX_RATE = 1_000, 768_000
MAX_CHANNELS = 64
_MAX_FORMAT = 64
_STREAMED_SIZE = 0x7FFF0000
"""Size from which (or 0) a header's size is unknown, as written by programs to a pipe, and in RF64."""
_OTHERS = {
    b"fLaC": "a FLAC file",
    b"OggS": "an Ogg file",
    b"ID3": "an MP3 file",
    b"\xff\xfb": "an MP3 file",
    b"FORM": "an AIFF file",
    b"caff": "a Core Audio file",
    b"RIFX": "a big-endian WAV file",
    b"riff": "a Wave64 file",
}
"""Kinds of other files by their first bytes."""
_SILENT_PART = 1e-4
"""Power of a channel relative to the loudest one's (-40 dB) from which it counts as silent."""
_CANCELLED_PART = 1e-2
"""Power of a mix relative to its channels' (-20 dB) below which they cancel each other."""
_SCAN_FRAMES = 1 << 16
_CONVERT = "Convert it, for example with: sox IN -r 16000 -c 1 -b 16 OUT.wav"


def _error(path: Path, what: str, remedy: str = _CONVERT) -> AudioFileError:
    return AudioFileError(f"{path} {what}", remedy=remedy, field="wav file", value=str(path))


class WavReader:
    """Reader of a WAV file as mono float32 of full scale 1.

    Several channels are mixed: the mean of those that hold sound, or the loudest one where they cancel each other.
    Raises AudioFileError, with the path and a remedy, for a file it cannot read. A file shorter than its header says is
    read to its end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rate = 0
        """Sample rate in Hz."""
        self.channels = 0
        self._kind = 0
        self._bits = 0
        self._weights: Float32 | None = None
        self.missing_s = 0.0
        """Seconds of sound that the header announces and the file does not hold."""
        if path.exists() and not path.is_file():
            # Opening a named pipe would block until it has a writer.
            raise _error(path, "cannot be opened: it is not a file", "Give the path of a readable WAV file")
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            reason = error.strerror or str(error)
            raise _error(path, f"cannot be opened: {reason}", "Give the path of a readable WAV file") from None
        try:
            self._left = self._find_data()
        except OSError as error:
            self._file.close()
            reason = error.strerror or str(error)
            raise _error(path, f"cannot be read: {reason}", "Give the path of a readable WAV file") from None
        except AudioFileError:
            self._file.close()
            raise

    @property
    def frames_left(self) -> int:
        """Number of frames not read yet."""
        return self._left // self._frame_bytes

    @property
    def _frame_bytes(self) -> int:
        return self.channels * self._bits // 8

    def read(self, frames: int) -> Float32:
        """Return up to `frames` frames mixed to mono; empty at the end.

        Raises AudioFileError when the disk fails.
        """
        if self.channels > 1 and self._weights is None:
            self._weights = self._mixing_weights()
        wanted = min(frames, self.frames_left) * self._frame_bytes
        raw = self._bytes(wanted)
        if len(raw) < wanted:
            raw = raw[: len(raw) // self._frame_bytes * self._frame_bytes]
            self._left = len(raw)
        self._left -= len(raw)
        samples = _decode(raw, self._kind, self._bits)
        if self._weights is None:
            return samples
        mixed: Float32 = np.asarray(samples.reshape(-1, self.channels) @ self._weights, np.float32)
        return mixed

    def _bytes(self, count: int) -> bytes:
        try:
            return self._file.read(count)
        except OSError as error:
            raise _error(self.path, f"cannot be read: {error.strerror or error}", "Check the disk") from None

    def _mixing_weights(self) -> Float32:
        """Read all channels once and return the share of each in the mix."""
        # A mean over all would make a voice in one of eight channels 18 dB softer, and one in opposite phases silent.
        start = self._file.tell()
        products = np.zeros((self.channels, self.channels))
        left = self.frames_left
        while left and len(raw := self._bytes(min(left, _SCAN_FRAMES) * self._frame_bytes)) >= self._frame_bytes:
            whole = len(raw) // self._frame_bytes
            frames = _decode(raw[: whole * self._frame_bytes], self._kind, self._bits).reshape(whole, self.channels)
            products += frames.T @ frames
            left -= whole
        self._file.seek(start)
        powers = products.diagonal()
        sounding = powers >= _SILENT_PART * powers.max()
        weights: Float32 = (sounding / sounding.sum()).astype(np.float32)
        if float(weights @ products @ weights) < _CANCELLED_PART * float(powers[sounding].mean()):
            weights = (np.arange(self.channels) == powers.argmax()).astype(np.float32)
        return weights

    def is_silent(self) -> bool:
        """Return True when the rest of the file is zeros; it stays unread."""
        start, left = self._file.tell(), self._left
        silent = True
        while silent and left and (raw := self._bytes(min(left, _SCAN_FRAMES * self._frame_bytes))):
            left -= len(raw)
            whole = len(raw) // self._frame_bytes * self._frame_bytes
            silent = not _decode(raw[:whole], self._kind, self._bits).any()
        self._file.seek(start)
        return silent

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._file.close()

    def _find_data(self) -> int:
        size = self.path.stat().st_size
        head = self._file.read(12)
        if len(head) < 12 or head[8:12] != b"WAVE" or head[:4] not in (b"RIFF", b"RF64"):
            if not head:
                raise _error(self.path, "is an empty file", "Record something into it first")
            found = next((f", it is {name}" for begin, name in _OTHERS.items() if head.startswith(begin)), "")
            raise _error(self.path, f"is not a WAV file{found}")
        while True:
            chunk = self._file.read(8)
            if len(chunk) < 8:
                missing = "sound" if self.rate else "format"
                raise _error(
                    self.path, f"has no {missing} chunk, it was cut off or damaged", "Record or convert it again"
                )
            name, length = struct.unpack("<4sI", chunk)
            if name == b"fmt ":
                body = self._file.read(min(length, _MAX_FORMAT))
                self._read_format(body)
                self._file.seek(length - len(body) + length % 2, 1)
            elif name == b"data":
                return self._data_length(length, size - self._file.tell())
            else:
                self._file.seek(length + length % 2, 1)

    def _data_length(self, declared: int, present: int) -> int:
        if not self.rate:
            raise _error(self.path, "has its sound before its format", "Record or convert it again")
        length = present if declared == 0 or declared >= _STREAMED_SIZE else min(declared, present)
        length -= length % self._frame_bytes
        if length < declared < _STREAMED_SIZE:
            self.missing_s = (declared - length) / self._frame_bytes / self.rate
        if length <= 0:
            raise _error(self.path, "holds no sound at all", "Record something into it first")
        return length

    def _read_format(self, body: bytes) -> None:
        if len(body) < 16:
            raise _error(self.path, "has a damaged format chunk", "Record or convert it again")
        kind, channels, rate, _, block, bits = struct.unpack("<HHIIHH", body[:16])
        if kind == _EXTENSIBLE and len(body) >= 26:
            kind = struct.unpack("<H", body[24:26])[0]
        if kind not in _WIDTHS:
            raise _error(self.path, f"is {_KINDS.get(kind, f'WAV format {kind}')}, which is not supported")
        if bits not in _WIDTHS[kind]:
            raise _error(self.path, f"has {bits} bits a sample, which is not supported")
        if not 1 <= channels <= MAX_CHANNELS:
            raise _error(self.path, f"has {channels} channels; 1 to {MAX_CHANNELS} are supported")
        if not MIN_RATE <= rate <= MAX_RATE:
            raise _error(self.path, f"has {rate} samples a second; {MIN_RATE} to {MAX_RATE} are supported")
        if block not in (0, channels * bits // 8):
            raise _error(self.path, f"has {block} bytes for {channels} samples of {bits} bits, which is not supported")
        self._kind, self.channels, self.rate, self._bits = kind, channels, rate, bits


def _decode(raw: bytes, kind: int, bits: int) -> Float32:
    if kind == _FLOAT:
        values: AnyArray = np.frombuffer(raw, "<f4" if bits == 32 else "<f8")
        floats: Float32 = np.clip(np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0).astype(np.float32)
        return floats
    if bits == 8:
        return (np.frombuffer(raw, np.uint8).astype(np.float32) - 128) / np.float32(128)
    if bits == 16:
        return np.frombuffer(raw, "<i2").astype(np.float32) / np.float32(32768)
    if bits == 32:
        return (np.frombuffer(raw, "<i4") / 2147483648.0).astype(np.float32)
    triples = np.frombuffer(raw, np.uint8).reshape(-1, 3)
    wide = np.zeros((len(triples), 4), np.uint8)
    wide[:, 1:] = triples
    return (wide.view("<i4").reshape(-1) / 2147483648.0).astype(np.float32)


_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_BINARY", 0)


class WavWriter:
    """Writer of 16-bit mono WAV.

    The header is updated every few seconds, so a killed program leaves a readable file. At 4 GiB (a day at 24 kHz) a
    WAV file is full: later samples are dropped and counted.
    """

    MAX_BYTES = 0xFFFFFFFF - 64
    _HEADER_EVERY = 1 << 18

    def __init__(self, path: Path, rate: int) -> None:
        self.path = path
        self.rate = rate
        self.dropped_samples = 0
        self._bytes = 0
        self._header_at = 0
        self._closed = False
        try:
            # Private from its creation on, as exports are; a link or a device that the user names is written to.
            self._file: BinaryIO = os.fdopen(os.open(path, _WRITE, 0o600), "wb")
            self._write_header()
        except OSError as error:
            is_full = error.errno == errno.ENOSPC
            remedy = write_remedy(error, path) if is_full else "Give a path in an existing, writable folder"
            raise _error(path, f"cannot be written: {error.strerror or error}", remedy) from None

    def write(self, samples: Int16) -> None:
        """Append `samples`; raise AudioFileError when the disk fails."""
        if self._bytes + samples.nbytes > self.MAX_BYTES:
            self.dropped_samples += len(samples)
            return
        try:
            self._file.write(samples.astype("<i2").tobytes())
            self._bytes += samples.nbytes
            if self._bytes - self._header_at >= self._HEADER_EVERY:
                self._write_header()
        except OSError as error:
            raise _error(
                self.path, f"cannot be written: {error.strerror or error}", write_remedy(error, self.path)
            ) from None

    def close(self) -> None:
        """Finish the header and close; raise AudioFileError when the disk fails.

        Idempotent.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self._write_header()
            self._file.close()
        except OSError as error:
            raise _error(
                self.path, f"cannot be finished: {error.strerror or error}", write_remedy(error, self.path)
            ) from None

    def _write_header(self) -> None:
        self._file.seek(0)
        self._file.write(
            struct.pack(
                "<4sI4s4sIHHIIHH4sI",
                b"RIFF",
                36 + self._bytes,
                b"WAVE",
                b"fmt ",
                16,
                _PCM,
                1,
                self.rate,
                self.rate * 2,
                2,
                16,
                b"data",
                self._bytes,
            )
        )
        self._file.seek(0, 2)
        self._file.flush()
        self._header_at = self._bytes
