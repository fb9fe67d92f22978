"""Write and read audio tracks: 16-bit mono WAV files that survive their writer.

`checkpoint`, called about once a second, writes the present length into the header. After a crash the file has more
sound than its header says, so a reader trusts the file's size: all bytes after the 44-byte header are samples.

When a session is over, `journal/recording/flac.py` replaces its WAV files by FLAC. A track goes by the name of its WAV
file, and `read_track` reads what is there.
"""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.events import Side
from gemini_live_runtime.journal.files.disk import Disk, write_all
from gemini_live_runtime.records import record

HEADER_BYTES = 44
SAMPLE_BYTES = 2
RATES: dict[Side, int] = {"user": 16_000, "model": 24_000}
"""Sample rate of each track in Hz, as on the wire."""

FILES: dict[Side, str] = {"user": "user.wav", "model": "model.wav"}
"""Name of each track: that of the file which a session writes."""

_MAX_RIFF_BYTES = 0xFFFFFFFF - HEADER_BYTES


def wav_header(rate: int, data_bytes: int, channels: int = 1) -> bytes:
    """Return the canonical 44-byte header of 16-bit PCM (RIFF WAVE, format tag 1)."""
    size = min(data_bytes, _MAX_RIFF_BYTES)
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        size + HEADER_BYTES - 8,
        b"WAVE",
        b"fmt ",
        16,
        1,
        channels,
        rate,
        rate * SAMPLE_BYTES * channels,
        SAMPLE_BYTES * channels,
        8 * SAMPLE_BYTES,
        b"data",
        size,
    )


def flac_file(track: Path) -> Path:
    """Return the FLAC file of a track."""
    return track.with_suffix(".flac")


def part_file(track: Path) -> Path:
    """Return the file in which the FLAC of a track is being written."""
    return track.with_suffix(".flac.part")


def has_track(track: Path) -> bool:
    """Return True when the track is recorded, as WAV or FLAC."""
    return track.is_file() or flac_file(track).is_file()


class TrackFile:
    """Growing WAV file; every method but the properties may raise `OSError`."""

    __slots__ = ("_disk", "_fd", "_rate", "_stated", "data_bytes", "path")

    def __init__(self, path: Path, rate: int, disk: Disk, *, samples: int | None = None) -> None:
        """Create the file, or go on after the first `samples`.

        Silence replaces those of them that are missing.
        """
        self.path = path
        self.data_bytes = 0
        self._rate = rate
        self._disk = disk
        self._stated = 0
        if samples is not None and path.is_file():
            self._go_on(samples * SAMPLE_BYTES)
            return
        self._fd = disk.create(path)
        try:
            write_all(disk, self._fd, wav_header(rate, 0))
        except OSError:
            # A file without a header cannot be read: remove it.
            with contextlib.suppress(OSError):
                self._close_fd()
            with contextlib.suppress(OSError):
                disk.unlink(path)
            raise
        if samples:
            self._close_fd()
            self._go_on(samples * SAMPLE_BYTES)

    def _go_on(self, data_bytes: int) -> None:
        self._fd = self._disk.open(self.path)
        try:
            self._disk.truncate(self._fd, HEADER_BYTES + data_bytes)
            self.data_bytes = data_bytes
            self._state_length()
        except OSError:
            with contextlib.suppress(OSError):
                self._close_fd()
            raise

    @property
    def dirty(self) -> bool:
        """True when samples were added since the last checkpoint."""
        return self._stated != self.data_bytes

    def append(self, pcm: bytes) -> None:
        """Add samples (s16le); after an error the file holds all that were added before."""
        view = memoryview(pcm)
        while view:
            taken = self._disk.write(self._fd, view)
            self.data_bytes += taken
            view = view[taken:]

    def checkpoint(self) -> None:
        """Write the present length into the header and flush the file to the device."""
        if self.dirty:
            self._state_length()
            self._disk.sync(self._fd)

    def close(self) -> None:
        """Write the length and close; the descriptor is closed even when that fails."""
        try:
            self._state_length()
        finally:
            self._close_fd()

    def _state_length(self) -> None:
        whole = self.data_bytes - self.data_bytes % SAMPLE_BYTES
        self._disk.seek(self._fd, 0)
        try:
            write_all(self._disk, self._fd, wav_header(self._rate, whole))
            self._stated = self.data_bytes
        finally:
            self._disk.seek(self._fd, HEADER_BYTES + self.data_bytes)

    def _close_fd(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            self._disk.close(fd)


@record
class Track:
    """Recorded sound: `pcm` is s16le mono at `rate` Hz."""

    rate: int
    pcm: bytes

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.pcm) // SAMPLE_BYTES


def read_track(path: Path, *, first: int = 0, count: int | None = None) -> Track:
    """Read samples [`first`, `first` + `count`) of a track (None: to its end).

    Reads a file of `TrackFile`, closed or not, or the FLAC made of it. Raises `AudioFileError` for any other.
    """
    try:
        with paths.open_regular(path) as file:
            rate = _rate(path, file.read(HEADER_BYTES))
            file.seek(HEADER_BYTES + first * SAMPLE_BYTES)
            pcm = file.read() if count is None else file.read(count * SAMPLE_BYTES)
    except FileNotFoundError:
        return _read_flac(flac_file(path), first, count)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    return Track(rate, pcm[: len(pcm) - len(pcm) % SAMPLE_BYTES])


def track_rate(path: Path) -> int:
    """Return the rate of a WAV track in Hz; raise `OSError` or `AudioFileError`."""
    with paths.open_regular(path, follow=False) as file:
        return _rate(path, file.read(HEADER_BYTES))


def _rate(path: Path, head: bytes) -> int:
    if len(head) < HEADER_BYTES or head[:4] != b"RIFF" or head[8:16] != b"WAVEfmt " or head[36:40] != b"data":
        raise AudioFileError(
            f"{path} is not a recorded track", remedy="Give user.wav or model.wav of a session", field="path"
        )
    return int.from_bytes(head[24:28], "little")


def _read_flac(path: Path, first: int, count: int | None) -> Track:
    try:
        with paths.open_regular(path) as file:
            # Imported here: only recordings that are over need it.
            import soundfile

            with soundfile.SoundFile(file.fileno(), closefd=False) as sound:
                if sound.format != "FLAC" or sound.channels != 1:
                    raise AudioFileError(f"{path} is not a recorded track", field="path", value=str(path))
                left = max(0, sound.frames - first)
                wanted = left if count is None else min(count, left)
                if wanted:
                    sound.seek(first)
                pcm = sound.read(wanted, dtype="int16").astype("<i2").tobytes() if wanted else b""
                return Track(sound.samplerate, pcm)
    except ImportError:
        raise _unreadable(path, "soundfile is not installed", "Install it: pip install soundfile") from None
    except OSError as error:
        # soundfile raises OSError without an errno when its library is missing.
        if error.errno is None:
            remedy = "Install it (Debian and Ubuntu: apt install libsndfile1)"
            raise _unreadable(path, "libsndfile is not installed", remedy) from None
        raise _unreadable(path, error.strerror or str(error)) from None
    except RuntimeError as error:
        raise _unreadable(path, f"it is damaged ({error!s:.100})") from None


def _unreadable(path: Path, reason: str, remedy: str = "") -> AudioFileError:
    return AudioFileError(f"{path} cannot be read: {reason}", remedy=remedy, field="path", value=str(path))
