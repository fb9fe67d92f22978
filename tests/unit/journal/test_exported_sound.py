"""The sound of an export lies where it was on the session's clock."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.recordings import debt_call, sound_call, tone

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import JournalError, UsageError
from gemini_live_runtime.journal.export import export
from gemini_live_runtime.journal.formats.base import SOUND, Range


def wav(path: Path) -> tuple[int, np.ndarray]:
    with wave.open(str(path)) as file:
        assert file.getsampwidth() == 2
        pcm = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(float)
        return file.getframerate(), pcm.reshape(-1, file.getnchannels())


def loud(pcm: np.ndarray, rate: int, start: float, end: float) -> float:
    part = pcm[int(start * rate) : int(end * rate)]
    return float(np.sqrt((part**2).mean()))


def export_sound(tmp_path: Path, formats: Any = ("microphone", "model", "stereo"), **more: Any) -> dict[str, Any]:
    recorder, tracks = sound_call()
    folder = recorder.write(tmp_path / "sessions", tracks=tracks)
    done = export(folder, formats, tmp_path / "to", redact=False, **more)
    return {path.name: wav(path) for path in done.files}


def test_each_voice_lies_where_it_was_on_the_sessions_clock(tmp_path: Path) -> None:
    files = export_sound(tmp_path)
    rate, mine = files["s1-microphone.wav"]
    assert rate == 16000
    assert loud(mine, rate, 0, 0.99) == 0
    assert loud(mine, rate, 1.01, 1.99) > 8000
    assert loud(mine, rate, 2.01, 7) == 0
    rate, its = files["s1-model.wav"]
    assert rate == 24000
    assert loud(its, rate, 0, 2.99) == 0
    assert loud(its, rate, 3.01, 3.99) > 8000
    assert loud(its, rate, 6.01, 6.99) > 8000


def test_what_was_cut_before_it_was_heard_is_left_out(tmp_path: Path) -> None:
    rate, its = export_sound(tmp_path, ["model"])["s1-model.wav"]
    assert loud(its, rate, 4.01, 5.99) == 0
    heard = its[3 * rate : 4 * rate, 0]
    expected = np.frombuffer(tone(24000, 700, 24000), "<i2")
    assert np.array_equal(heard, expected)


def test_stereo_has_the_user_left_and_the_model_right_in_step(tmp_path: Path) -> None:
    files = export_sound(tmp_path)
    rate, both = files["s1-stereo.wav"]
    assert (rate, both.shape[1]) == (24000, 2)
    left, right = both[:, :1], both[:, 1:]
    assert loud(left, rate, 1.01, 1.99) > 8000
    assert loud(left, rate, 2.05, 7) < 20
    assert loud(right, rate, 3.01, 3.99) > 8000
    assert loud(right, rate, 0, 2.99) == 0
    assert np.array_equal(right, files["s1-model.wav"][1])
    assert abs(len(both) / 24000 - len(files["s1-microphone.wav"][1]) / 16000) < 0.001
    spectrum = np.abs(np.fft.rfft(left[24000:48000, 0]))
    assert int(spectrum.argmax()) == 500


def test_both_sides_of_an_export_lie_on_the_same_sample(tmp_path: Path) -> None:
    recorder, _ = sound_call()
    user, model = np.zeros(16_000, "<i2"), np.zeros(72_000, "<i2")
    user[[0, 8_000, 15_998]] = 20_000
    model[[0, 12_000, 23_999]] = 20_000
    folder = recorder.write(tmp_path / "sessions", tracks={"user": user.tobytes(), "model": model.tobytes()})
    for start in (0.0, 0.5, 0.99):
        where = Range(start=start, end=5.0)
        (done,) = export(folder, ["stereo"], tmp_path / f"{start}", redact=False, wanted=where).files
        rate, both = wav(done)
        # The user spoke from second 1 to 2, the model was heard from 3 to 4.
        clicks = [round((t - start) * rate) for t in (1.0, 1.5)]
        assert [at - 50 + int(np.abs(both[max(0, at - 50) : at + 50, 0]).argmax()) for at in clicks] == clicks
        assert np.flatnonzero(both[:, 1]).tolist() == [round((t - start) * rate) for t in (3.0, 3.5, 4.0 - 1 / rate)]


def test_the_sound_of_a_range_and_of_a_turn(tmp_path: Path) -> None:
    rate, its = export_sound(tmp_path, ["model"], wanted=Range(start=3.0, end=4.0))["s1-3s-4s-model.wav"]
    assert len(its) == pytest.approx(rate, rel=0.02)
    assert loud(its, rate, 0.01, 0.99) > 8000
    rate, its = export_sound(tmp_path / "again", ["model"], wanted=Range(turn=2))["s1-turn2-model.wav"]
    assert loud(its, rate, 0, len(its) / rate) > 1000


def test_the_sound_around_marks_that_are_near_each_other_is_there_once(tmp_path: Path) -> None:
    recorder, tracks = sound_call()
    recorder.emit(ev.MarkSet(of=2), ev.MarkSet(of=4))
    folder = recorder.write(tmp_path, tracks=tracks)
    first, second = (recorder.events[seq - 1].t for seq in (2, 4))
    assert 0 < second - first < 2
    done = export(folder, ["model"], tmp_path / "to", redact=False, wanted=Range(around_marks=1.0))
    rate, its = wav(done.files[0])
    assert len(its) / rate == pytest.approx(second - first + 2, abs=0.05)


def test_what_was_played_while_muted_is_silence(tmp_path: Path) -> None:
    recorder, tracks = sound_call(muted=True)
    folder = recorder.write(tmp_path, tracks=tracks)
    with pytest.raises(JournalError, match=r"Nothing of the model was heard.*model\.wav"):
        export(folder, ["model"], tmp_path / "to", redact=False)
    done = export(folder, ["stereo"], tmp_path / "to", redact=False)
    rate, both = wav(done.files[0])
    assert loud(both[:, 1:], rate, 0, 7) == 0
    assert loud(both[:, :1], rate, 1.01, 1.99) > 8000
    (folder / "user.wav").unlink()
    with pytest.raises(JournalError, match=r"Nothing of the model was heard"):
        export(folder, ["stereo"], tmp_path / "again", redact=False)


@pytest.mark.parametrize("fmt", sorted(SOUND))
def test_sound_that_was_not_recorded_is_a_sentence_and_no_file(tmp_path: Path, fmt: Any) -> None:
    folder = debt_call().write(tmp_path)
    with pytest.raises(JournalError, match=r"was not recorded|No sound was recorded"):
        export(folder, ["text", fmt], tmp_path / "to", redact=False)
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("fmt", sorted(SOUND))
def test_sound_is_refused_under_redaction(tmp_path: Path, fmt: Any) -> None:
    recorder, tracks = sound_call()
    folder = recorder.write(tmp_path, tracks=tracks)
    with pytest.raises(UsageError, match="Voices cannot be redacted"):
        export(folder, ["text", fmt], tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_numbers_made_up_in_a_foreign_file_make_no_endless_sound(tmp_path: Path) -> None:
    recorder, tracks = sound_call()
    recorder.emit(ev.PlaybackHeard(of=2, first=10**15, count=10**15))
    recorder.t = 3e8
    recorder.emit(
        ev.WireAudio(
            direction="sent", track="user", rate=16000, first=10**15, count=16000, frames=(), mime_type="audio/pcm"
        )
    )
    folder = recorder.write(tmp_path, tracks=tracks)
    with pytest.raises(UsageError, match="12 hours"):
        export(folder, ["microphone"], tmp_path / "to", redact=False)
    done = export(folder, ["stereo"], tmp_path / "to", redact=False, wanted=Range(start=0, end=8))
    assert loud(wav(done.files[0])[1], 24000, 0, 8) > 100


def test_a_track_that_was_cut_off_is_silence_from_there(tmp_path: Path) -> None:
    recorder, tracks = sound_call()
    tracks["model"] = tracks["model"][:24000]
    folder = recorder.write(tmp_path, tracks=tracks)
    done = export(folder, ["model"], tmp_path / "to", redact=False)
    rate, its = wav(done.files[0])
    assert loud(its, rate, 3.01, 3.49) > 8000
    assert loud(its, rate, 3.51, 7) == 0
