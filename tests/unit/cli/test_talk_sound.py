"""Record a conversation of WAV files and find each voice where it sounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soxr
from tests.support.command_line import run
from tests.support.patience import PATIENCE_S

from gemini_live_runtime import paths
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.audio.samples import to_int16
from gemini_live_runtime.audio.wav import WavReader, WavWriter
from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.journal.completion.missing_parts import EXIT_CODES
from gemini_live_runtime.journal.history.recorded_history import RecordedHistory
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.sound.playback_sound import RATE, sound_between
from gemini_live_tui.cli import headless


def lag(where: np.ndarray, what: np.ndarray) -> int:
    """Return the sample of `where` at which `what` begins."""
    size = 1 << (len(where) + len(what)).bit_length()
    likeness = np.fft.irfft(np.fft.rfft(where, size) * np.fft.rfft(what, size).conj(), size)
    return int(likeness[: len(where)].argmax())


def test_both_voices_lie_in_a_recording_where_they_were_in_the_wav_files(tmp_path: Path) -> None:
    noise = 0.05 * np.random.default_rng(1).standard_normal(2 * 16_000).astype(np.float32)
    mic = WavWriter(tmp_path / "mic.wav", 16_000)
    mic.write(to_int16(noise))
    mic.close()
    sound = ("--mic", str(tmp_path / "mic.wav"), "--speaker", str(tmp_path / "out.wav"))
    ended = run("talk", "--backend", "local", "--fast", "--text", "what time is it", *sound, "--until-idle")
    assert ended.code == 0, ended.err
    (folder,) = paths.sessions_dir().iterdir()
    history = RecordedHistory(folder)
    while history.load():
        pass
    both = sound_between(history, folder, 0.0, history.live.t)
    assert both.missing == ()
    left, right = both.samples[:, 0].astype(float), both.samples[:, 1].astype(float)
    reader = WavReader(tmp_path / "out.wav")
    written = reader.read(10_000_000).astype(float)
    reader.close()
    opened = next(event.t for event in read_journal(folder) if event.type == "audio.opened")
    assert np.abs(written).max() > 0.01
    # Both files begin when the devices open, in virtual time with the connection.
    assert lag(right, written) == round(opened * RATE)
    assert lag(left, soxr.resample(noise, 16_000, RATE)) == round(opened * RATE)


def test_a_speaker_file_that_could_not_be_written_to_its_end_fails_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: WavWriter, samples: np.ndarray) -> None:
        raise AudioFileError(f"{self.path} cannot be written: No space left on device", remedy="Free some space")

    monkeypatch.setattr(WavWriter, "write", full)
    speaker = ("--speaker", str(tmp_path / "out.wav"))
    ended = run("talk", "--backend", "local", "--fast", "--record", "off", "--text", "what time is it", *speaker)
    assert ended.code == 1
    assert "out.wav cannot be written: No space left on device" in ended.sentence
    assert "session: ended, input ended" in ended.out


def test_a_microphone_file_that_is_not_there_is_told_before_anything_is_recorded() -> None:
    ended = run("talk", "--backend", "local", "--fast", "--mic", "nope.wav")
    assert (ended.code, ended.out) == (2, "")
    assert "nope.wav cannot be opened" in ended.err
    assert not paths.sessions_dir().exists() or list(paths.sessions_dir().iterdir()) == []


class _EndlessMicrophone(NoAudio):
    finished = False  # type: ignore[assignment]


def test_a_conversation_by_devices_ends_when_nothing_is_said_though_a_microphone_has_no_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gemini_live_runtime.engine.assemble.make_audio", lambda spec: _EndlessMicrophone())
    monkeypatch.setattr(headless, "DEVICES_IDLE_S", 0.05)
    ended = run("talk", "--backend", "local", "--devices", "--until-idle", "--timeout", f"{PATIENCE_S}")
    assert ended.code == EXIT_CODES["output"], ended.err
    assert "input ended" in ended.out
