"""Record the sound of a session, a track of each side, below a cap for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AudioFileError, write_remedy
from gemini_live_runtime.journal.files.disk import Disk
from gemini_live_runtime.journal.files.tracks import FILES, RATES, TrackFile
from gemini_live_runtime.journal.sessions.sweep import SoundSweep, size_text

CHECK_BYTES = 8 * 1024 * 1024
"""Bytes of sound recorded between two checks of the cap."""

Report = Callable[[ev.Payload], None]


class SoundRecorder:
    """Recorder of the sound of the session in `folder`.

    `kept_samples` of each track belong to an earlier engine's part of the session. `cap_bytes` bounds the sound of all
    sessions; a `SoundSweep` deletes the oldest. `report` may be called from the sweep's thread. `write`, `sync` and
    `close` belong to the thread that owns the files.
    """

    def __init__(
        self,
        folder: Path,
        *,
        is_wanted: bool,
        disk: Disk,
        cap_bytes: int,
        kept_samples: Mapping[ev.Side, int],
        report: Report,
    ) -> None:
        self._folder, self._disk, self._cap, self._report = folder, disk, cap_bytes, report
        self._kept_samples = kept_samples
        self._tracks: dict[ev.Side, TrackFile] = {}
        self._unchecked = 0
        self.is_wanted = self.is_on = is_wanted
        self.lost_bytes = 0
        root, session_id = folder.parent, folder.name
        self._sweep = SoundSweep(root, session_id, cap_bytes, disk, report=report, on_full=self._stop_at_cap)

    @property
    def is_unsynced(self) -> bool:
        """True when the device may not have all samples that were written."""
        return any(track.dirty for track in self._tracks.values())

    def begin(self) -> None:
        """Make room for what will be recorded."""
        if self.is_on:
            self._sweep.request()

    def lose(self, pcm: bytes) -> None:
        """Count samples that are not recorded though sound was asked for."""
        if self.is_wanted:
            self.lost_bytes += len(pcm)

    def write(self, side: ev.Side, pcm: bytes) -> None:
        """Append samples (s16le at the track's rate) to the track of a side."""
        if not self.is_on:
            self.lost_bytes += len(pcm)
            return
        own = sum(track.data_bytes for track in self._tracks.values())
        if own + len(pcm) > self._cap:
            self._stop_at_cap(own)
            self.lost_bytes += len(pcm)
            return
        try:
            track = self._tracks.get(side)
            if track is None:
                track = self._tracks[side] = self._open(side)
            track.append(pcm)
        except OSError as error:
            self._fail(error)
            return
        self._unchecked += len(pcm)
        if self._unchecked >= min(CHECK_BYTES, self._cap // 16):
            self._unchecked = 0
            self._sweep.request()

    def sync(self) -> None:
        """Flush the tracks to the device, with lengths that fit."""
        for track in self._tracks.values():
            try:
                track.checkpoint()
            except OSError as error:
                self._fail(error)
                break

    def close(self) -> None:
        """Close the tracks."""
        for track in self._tracks.values():
            try:
                track.close()
            except OSError as error:
                self._fail(error)

    def finish_sweep(self) -> None:
        """Block until old sound was deleted as far as the cap asks for it now."""
        self._sweep.wait()

    def close_sweep(self) -> None:
        """End the deletion of old sound that is under way."""
        self._sweep.close()

    def stop(self, text: str, remedy: str = "") -> None:
        """Record no more sound from now on, and report why."""
        self.is_on = False
        self._report(
            ev.Notice(
                level="error",
                code="audio-recording-stopped",
                text=f"{text}. The sound recorded so far is kept.",
                remedy=remedy,
            )
        )

    def _open(self, side: ev.Side) -> TrackFile:
        path = self._folder / FILES[side]
        if self._kept_samples:
            from gemini_live_runtime.journal.recording.flac import restore_wav

            try:
                restore_wav(path)
            except AudioFileError as error:
                raise OSError(error.message) from None
        return TrackFile(path, RATES[side], self._disk, samples=self._kept_samples.get(side))

    def _fail(self, error: OSError) -> None:
        remedy = f"{write_remedy(error, self._folder)} before the next session"
        self.stop(f"Sound can no longer be recorded: {error.strerror or error}", remedy)

    def _stop_at_cap(self, held: int) -> None:
        if not self.is_on:
            return
        self.is_on = False
        words = f"running sessions alone hold {size_text(held)} of {size_text(self._cap)}"
        reason = f"Sound is no longer recorded: {words}."
        self._report(ev.RecordingTrimmed(session_ids=(self._folder.name,), bytes_freed=0, reason=reason))
