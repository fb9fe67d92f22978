"""Make FLAC of recorded tracks: sample for sample, killed at any moment."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_live_runtime.errors import AudioFileError
from gemini_live_runtime.journal.files.disk import lock
from gemini_live_runtime.journal.files.tracks import has_track, read_track, wav_header
from gemini_live_runtime.journal.recording import flac
from gemini_live_runtime.journal.sessions.retention import purge, track_files, trim_audio


def session(root: Path, name: str = "s1", **tracks: np.ndarray) -> Path:
    folder = root / name
    folder.mkdir()
    (folder / "events.jsonl").write_text("{}\n")
    for side, samples in tracks.items():
        pcm = samples.astype("<i2").tobytes()
        (folder / f"{side}.wav").write_bytes(wav_header(16_000 if side == "user" else 24_000, len(pcm)) + pcm)
    return folder


def noise(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(-32768, 32768, count).astype(np.int16)


def names(folder: Path) -> set[str]:
    return set(os.listdir(folder)) - {"events.jsonl"}


def test_a_track_becomes_flac_of_the_same_samples_readable_by_its_user_alone(tmp_path: Path) -> None:
    user, model = noise(300_000), np.arange(24_000, dtype=np.int16)
    folder = session(tmp_path, user=user, model=model)
    os.utime(folder / "user.wav", (1e9, 1e9))
    before = read_track(folder / "user.wav")
    assert flac.convert_session(folder) == []
    assert names(folder) == {"user.flac", "model.flac"}
    assert read_track(folder / "user.wav") == before
    assert read_track(folder / "model.wav").pcm == model.astype("<i2").tobytes()
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.glob("*.flac")} == {0o600}
    assert (folder / "user.flac").stat().st_mtime == 1e9
    assert has_track(folder / "user.wav")


@settings(max_examples=25)
@given(st.lists(st.integers(-32768, 32767), min_size=1, max_size=500), st.integers(0, 600), st.integers(0, 600))
def test_any_part_of_a_flac_is_that_part_of_the_track(
    tmp_path_factory: pytest.TempPathFactory, samples: list[int], first: int, count: int
) -> None:
    folder = session(tmp_path_factory.mktemp("root"), user=np.array(samples, np.int16))
    part, rest = read_track(folder / "user.wav", first=first, count=count), read_track(folder / "user.wav", first=first)
    assert flac.convert_session(folder) == []
    assert read_track(folder / "user.wav", first=first, count=count) == part
    assert read_track(folder / "user.wav", first=first) == rest


def test_samples_that_the_header_of_a_crashed_session_does_not_count_are_kept(tmp_path: Path) -> None:
    folder = session(tmp_path, user=noise(1000))
    pcm = noise(1500, seed=2).tobytes()
    (folder / "user.wav").write_bytes(wav_header(16_000, 800) + pcm + b"\x01")
    flac.convert_session(folder)
    assert read_track(folder / "user.wav").pcm == pcm


@pytest.mark.parametrize("step", ["_encode", "_compare", "replace", "_sync_folder", "unlink"])
def test_a_process_killed_at_any_step_loses_nothing_and_the_next_start_ends_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    folder = session(tmp_path, user=noise(5000))
    before = read_track(folder / "user.wav")
    child = os.fork()
    if child == 0:  # the process that is killed

        def die(*_: object, **__: object) -> None:
            os.kill(os.getpid(), 9)

        def die_at_the_wav(path: Path, *, missing_ok: bool = False) -> None:
            if path.name == "user.wav":
                die()

        if step == "unlink":
            monkeypatch.setattr(Path, "unlink", die_at_the_wav)
        elif step == "replace":
            monkeypatch.setattr(os, "replace", die)
        else:
            monkeypatch.setattr(flac, step, die)
        flac.convert_session(folder)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 9
    assert read_track(folder / "user.wav") == before
    assert flac.convert_session(folder) == []
    assert names(folder) == {"user.flac"}
    assert read_track(folder / "user.wav") == before


def test_a_flac_that_differs_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = session(tmp_path, user=noise(5000))
    encode = flac._encode
    monkeypatch.setattr(flac, "_encode", lambda source, count, fd, rate: encode(source, count - 1, fd, rate))
    (problem,) = flac.convert_session(folder)
    assert "differs" in problem
    assert names(folder) == {"user.wav"}


def test_a_full_disk_leaves_the_track_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = session(tmp_path, user=noise(5000))

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    (problem,) = flac.convert_session(folder)
    assert "No space left" in problem
    assert names(folder) == {"user.wav"}


def test_a_running_session_and_a_track_under_conversion_are_left_alone(tmp_path: Path) -> None:
    folder = session(tmp_path, user=noise(5000))
    for name in ("events.jsonl", "user.wav"):
        fd = os.open(folder / name, os.O_RDONLY)
        lock(fd)
        assert flac.convert_session(folder) == []
        assert names(folder) == {"user.wav"}
        os.close(fd)
    flac.convert_session(folder)
    assert names(folder) == {"user.flac"}


@pytest.mark.parametrize("moment", ["_compare", "_sync_folder"])
def test_sound_that_is_deleted_while_it_is_converted_stays_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    folder = session(tmp_path, user=noise(5000))
    original = getattr(flac, moment)

    def after_a_deletion(*arguments: object) -> None:
        (folder / "user.wav").unlink()
        original(*arguments)

    monkeypatch.setattr(flac, moment, after_a_deletion)
    flac.convert_session(folder)
    assert names(folder) == set()


def test_a_link_in_a_sessions_folder_is_not_followed(tmp_path: Path) -> None:
    outside = session(tmp_path, "elsewhere", user=noise(100))
    folder = session(tmp_path)
    (folder / "user.wav").symlink_to(outside / "user.wav")
    flac.convert_session(folder)
    assert names(folder) == {"user.wav"}
    assert names(outside) == {"user.wav"}


def test_the_process_converts_the_named_session_and_what_earlier_ones_left(tmp_path: Path) -> None:
    folders = [session(tmp_path, name, user=noise(2000), model=noise(3000)) for name in ("s1", "s2")]
    (folders[0] / "user.flac.part").write_bytes(b"of a killed process")
    before = [read_track(folder / "model.wav") for folder in folders]
    command = [sys.executable, "-m", "gemini_live_runtime.journal.recording.flac", str(tmp_path), "s2", "../elsewhere"]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(Path(flac.__file__).parents[2])})
    assert [names(folder) for folder in folders] == [{"user.flac", "model.flac"}] * 2
    assert [read_track(folder / "model.wav") for folder in folders] == before


def test_a_start_converts_only_when_something_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Path] = []
    monkeypatch.setattr(flac, "convert_in_background", started.append)
    folder = session(tmp_path, user=noise(100))
    flac.convert_left_over(tmp_path)
    assert started == [tmp_path]
    flac.convert_session(folder)
    flac.convert_left_over(tmp_path)
    assert started == [tmp_path]


def test_flac_counts_for_the_cap_and_is_deleted_with_its_session(tmp_path: Path) -> None:
    folder = session(tmp_path, user=noise(5000))
    flac.convert_session(folder)
    (folder / "model.flac.part").write_bytes(bytes(100))
    assert sum(size for _, size in track_files(folder)) == (folder / "user.flac").stat().st_size + 100
    assert trim_audio(tmp_path, 10).session_ids == ("s1",)
    assert names(folder) == set()
    purge(tmp_path, everything=True)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("fault", "words"),
    [(ImportError("no module"), "soundfile is not installed"), (OSError("no library"), "libsndfile is not installed")],
)
def test_without_the_library_a_flac_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, words: str
) -> None:
    folder = session(tmp_path, user=noise(100))
    flac.convert_session(folder)

    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "soundfile":
                raise fault

    monkeypatch.delitem(sys.modules, "soundfile")
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(AudioFileError, match=words) as refusal:
        read_track(folder / "user.wav")
    assert "nstall" in refusal.value.remedy


@pytest.mark.parametrize("content", [b"", b"fLaC and no more", b"RIFF\x00\x00\x00\x00WAVE"])
def test_a_damaged_flac_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    folder = session(tmp_path)
    (folder / "user.flac").write_bytes(content)
    with pytest.raises(AudioFileError, match=r"user\.flac"):
        read_track(folder / "user.wav")
