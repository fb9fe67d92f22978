"""Make FLAC of the tracks of sessions that are over, in a process of its own.

It may be killed at any time. A FLAC that is being written cannot be read after its writer's death, so sessions record
WAV. Afterwards a track is written as FLAC to `user.flac.part`, compared with the WAV sample by sample, flushed to the
device and renamed; then the WAV is deleted. What a killed process left is done again at the next start. Without
`soundfile` tracks stay WAV.

`python -m gemini_live_runtime.journal.recording.flac SESSIONS_FOLDER [SESSION...]` converts these sessions, then all
others.
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import paths
from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.journal.files.disk import lock, try_lock
from gemini_live_runtime.journal.files.tracks import (
    FILES,
    HEADER_BYTES,
    SAMPLE_BYTES,
    flac_file,
    part_file,
    read_track,
    track_rate,
    wav_header,
)
from gemini_live_runtime.journal.sessions.retention import is_running, session_folders
from gemini_live_runtime.threads import start_daemon_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_BLOCK = 1 << 18
"""Samples read at a time."""


def convert_in_background(root: Path, sessions: Sequence[str] = ()) -> None:
    """Start a process that converts all tracks under `root`.

    Those of `sessions` come first. It has the lowest priority and outlives this process. Does nothing where FLAC cannot
    be written.
    """
    if find_spec("soundfile") is None:
        return
    from gemini_live_runtime.audio.process.process_link import environment

    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gemini_live_runtime.journal.recording.flac", str(root), *sessions],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(os.environ),
            cwd=os.sep,
            start_new_session=True,
        )
    except OSError:
        return  # The next start tries again.
    start_daemon_thread(child.wait, "flac")


def convert_left_over(root: Path) -> None:
    """Convert in the background what a crash or an earlier version has left."""
    with contextlib.suppress(OSError):
        if next(unconverted(root), None) is not None:
            convert_in_background(root)


def unconverted(root: Path) -> Iterator[Path]:
    """Yield the folders under `root` of sessions that are over and have WAV tracks."""
    for folder in session_folders(root):
        if any((folder / name).is_file() for name in FILES.values()) and not is_running(folder):
            yield folder


def convert_session(folder: Path) -> list[str]:
    """Convert a session that is over; return a sentence for each track not done."""
    problems = []
    for name in FILES.values():
        try:
            _convert(folder / name)
        except FileNotFoundError:
            continue  # Not recorded, or deleted meanwhile.
        except (OSError, AudioFileError) as error:
            problems.append(f"{folder / name} stays as it is: {error}")
    return problems


def restore_wav(wav: Path) -> None:
    """Make the WAV file of a track again, for an engine that goes on with its session.

    Waits for a conversion that is under way. Does nothing for a track that was not recorded. Raises `OSError` or
    `AudioFileError`. The caller has locked the session's journal, so that no further conversion begins.
    """
    with contextlib.suppress(FileNotFoundError), paths.open_regular(wav, follow=False) as file:
        lock(file.fileno())
    if wav.is_file() or not flac_file(wav).is_file():
        return
    track = read_track(wav)
    part = wav.with_suffix(".wav.part")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()
    fd = paths.open_private(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))
    with os.fdopen(fd, "wb") as file:
        file.write(wav_header(track.rate, len(track.pcm)))
        file.write(track.pcm)
    part.replace(wav)
    flac_file(wav).unlink()


def _convert(wav: Path) -> None:
    rate = track_rate(wav)
    with paths.open_regular(wav, follow=False) as source:
        # Another process may convert the same track: the one that has the lock does.
        if not try_lock(source.fileno()) or is_running(wav.parent):
            return
        before = os.fstat(source.fileno())
        samples = (before.st_size - HEADER_BYTES) // SAMPLE_BYTES
        if samples <= 0:
            return
        part = part_file(wav)
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        fd = paths.open_private(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))
        try:
            _encode(source.fileno(), samples, fd, rate)
            os.fsync(fd)
            _compare(source.fileno(), samples, fd, rate, wav)
            os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))
            after = os.fstat(source.fileno())
            if after.st_size != before.st_size or not after.st_nlink:
                raise OSError("it was changed or deleted meanwhile")
            os.replace(part, flac_file(wav))
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
        finally:
            os.close(fd)
        _sync_folder(wav.parent)
        # Whoever deleted the WAV just now wanted its sound to be gone.
        if not os.fstat(source.fileno()).st_nlink:
            flac_file(wav).unlink(missing_ok=True)
            return
        try:
            wav.unlink()
        except OSError:
            flac_file(wav).unlink(missing_ok=True)
            raise


def _encode(source: int, samples: int, fd: int, rate: int) -> None:
    import soundfile

    try:
        with soundfile.SoundFile(fd, "w", rate, 1, "PCM_16", format="FLAC", closefd=False) as out:
            for block in _blocks(source, samples):
                out.write(block)
    except soundfile.LibsndfileError as error:
        raise OSError(f"FLAC cannot be written: {error}") from None


def _compare(source: int, samples: int, fd: int, rate: int, wav: Path) -> None:
    """Raise `AudioFileError` unless the FLAC in `fd` holds the same samples."""
    import numpy as np
    import soundfile

    os.lseek(fd, 0, os.SEEK_SET)
    same = False
    with contextlib.suppress(soundfile.LibsndfileError), soundfile.SoundFile(fd, closefd=False) as written:
        same = written.samplerate == rate and written.frames == samples
        for block in _blocks(source, samples):
            same = same and np.array_equal(written.read(len(block), dtype="int16"), block)
    if not same:
        raise AudioFileError(f"the FLAC of {wav} differs from it", field="path", value=str(wav))


def _blocks(source: int, samples: int) -> Iterator[Samples]:
    """Yield the samples of a track, whose header may state fewer of them."""
    import numpy as np

    os.lseek(source, HEADER_BYTES, os.SEEK_SET)
    left = samples * SAMPLE_BYTES
    while left:
        data = b""
        wanted = min(left, _BLOCK * SAMPLE_BYTES)
        while len(data) < wanted:
            piece = os.read(source, wanted - len(data))
            if not piece:
                raise OSError("it became shorter")
            data += piece
        left -= wanted
        yield np.frombuffer(data, "<i2")


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _yield_to_others() -> None:
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        os.nice(19)
    if sys.platform == "linux":
        idle: Any = getattr(os, "SCHED_IDLE", None)
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, idle, os.sched_param(0))


def main() -> None:
    """Convert the sessions of the command line, then all others."""
    _yield_to_others()
    root, *names = sys.argv[1:]
    first = [Path(root) / name for name in names if paths.is_safe_name(name)]
    for folder in (*first, *unconverted(Path(root))):
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(folder.lstat().st_mode) and not is_running(folder):
                for problem in convert_session(folder):
                    print(problem, file=sys.stderr)


if __name__ == "__main__":
    main()
