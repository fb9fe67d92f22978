"""Write a journal and read it back while its session runs and afterwards."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from pathlib import Path

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import JournalError, UsageError
from gemini_live_runtime.journal.files.tracks import HEADER_BYTES, read_track, wav_header
from gemini_live_runtime.journal.recording import writer as writer_module
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.journal.sessions import retention
from gemini_live_runtime.journal.sessions.retention import is_running


def event(seq: int, text: str = "hello") -> ev.Event:
    return ev.Event(seq, seq / 10, 1, 1, ev.TranscriptDelta(side="model", text=text))


def writer(root: Path, reports: list[ev.Payload] | None = None, *, audio: bool = True, **more) -> JournalWriter:
    return JournalWriter(root, "s1", audio=audio, report=(reports if reports is not None else []).append, **more)


def test_events_come_back_as_they_were_written(tmp_path):
    journal = writer(tmp_path)
    events = [event(seq, f"wörd {seq}\n") for seq in range(1, 200)]
    for item in events:
        journal.append(item.to_line())
    journal.close()
    read = read_journal(tmp_path / "s1")
    assert list(read) == events
    assert (read.session_id, read.problems, read.torn) == ("s1", [], False)


def test_what_was_handed_over_is_on_disk_before_the_session_ends(tmp_path):
    journal = writer(tmp_path)
    journal.append(event(1).to_line())
    journal.audio("user", b"\x01\x00" * 320)
    journal.flush()
    assert list(read_journal(tmp_path / "s1" / "events.jsonl")) == [event(1)]
    assert read_track(tmp_path / "s1" / "user.wav").samples == 320
    journal.close()


def test_tracks_hold_exactly_the_samples_and_their_headers_say_so_in_the_end(tmp_path):
    journal = writer(tmp_path)
    for number in range(50):
        journal.audio("user", number.to_bytes(2, "little") * 320)
        journal.audio("model", number.to_bytes(2, "little") * 480)
    journal.close()
    for name, rate, size in (("user.wav", 16_000, 320), ("model.wav", 24_000, 480)):
        data = (tmp_path / "s1" / name).read_bytes()
        pcm = b"".join(number.to_bytes(2, "little") * size for number in range(50))
        assert data == wav_header(rate, len(pcm)) + pcm
        assert read_track(tmp_path / "s1" / name, first=size, count=2).pcm == b"\x01\x00\x01\x00"


def test_without_sound_no_track_is_made(tmp_path):
    journal = writer(tmp_path, audio=False)
    journal.audio("user", b"\0\0")
    journal.close()
    assert os.listdir(tmp_path / "s1") == ["events.jsonl"]


def test_a_session_without_samples_has_no_tracks(tmp_path):
    writer(tmp_path).close()
    assert os.listdir(tmp_path / "s1") == ["events.jsonl"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_folders_and_files_are_private_whatever_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        root = tmp_path / "a" / "b" / "sessions"
        journal = writer(root)
        journal.audio("user", b"\0\0")
        journal.close()
    finally:
        os.umask(before)
    for folder in (root.parent, root, root / "s1"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in (root / "s1").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_existing_session_is_never_written_over(tmp_path):
    journal = writer(tmp_path)
    journal.append(event(1).to_line())
    journal.close()
    with pytest.raises(JournalError, match="already recorded"):
        writer(tmp_path)
    assert list(read_journal(tmp_path / "s1")) == [event(1)]


def test_a_session_id_that_is_no_safe_name_is_refused(tmp_path):
    with pytest.raises(UsageError):
        JournalWriter(tmp_path, "../s1", audio=False, report=[].append)


def test_a_symbolic_link_in_the_place_of_the_file_is_not_followed(tmp_path):
    (tmp_path / "s1").mkdir()
    (tmp_path / "s1" / "events.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalError):
        writer(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_session_counts_as_running_until_its_journal_is_closed(tmp_path):
    journal = writer(tmp_path)
    assert is_running(tmp_path / "s1")
    journal.close()
    assert not is_running(tmp_path / "s1")


def test_what_comes_after_closing_is_counted_as_lost(tmp_path):
    journal = writer(tmp_path)
    journal.close()
    journal.append(event(1).to_line())
    journal.audio("user", b"\0\0")
    assert (journal.lost_events, journal.lost_audio_bytes) == (1, 2)


def test_a_session_that_alone_exceeds_the_cap_stops_recording_sound_and_says_so(tmp_path):
    reports: list[ev.Payload] = []
    journal = writer(tmp_path, reports, cap_bytes=10_000)
    for _ in range(20):
        journal.audio("user", b"\1\0" * 500)
    journal.append(event(1).to_line())
    journal.close()
    assert [type(report) for report in reports] == [ev.RecordingTrimmed]
    assert reports[0].session_ids == ("s1",)
    assert "no longer recorded" in reports[0].reason
    assert (tmp_path / "s1" / "user.wav").stat().st_size <= 10_000 + HEADER_BYTES
    assert read_track(tmp_path / "s1" / "user.wav").samples + journal.lost_audio_bytes // 2 == 20 * 500
    assert list(read_journal(tmp_path / "s1")) == [event(1)]


def test_the_oldest_sound_makes_room_for_the_running_session(tmp_path):
    for age, name in ((300, "old"), (200, "newer")):
        journal = JournalWriter(tmp_path, name, audio=True, report=[].append)
        journal.append(event(1).to_line())
        journal.audio("user", b"\1\0" * 3000)
        journal.close()
        os.utime(tmp_path / name / "user.wav", (1e9 - age, 1e9 - age))
    reports: list[ev.Payload] = []
    journal = writer(tmp_path, reports, cap_bytes=14_000)
    for _ in range(7):
        journal.audio("user", b"\1\0" * 500)
        journal.flush()
        journal.finish_sweep()
    journal.close()
    assert [report.session_ids for report in reports] == [("old",)]
    assert not (tmp_path / "old" / "user.wav").exists()
    assert (tmp_path / "newer" / "user.wav").exists()
    assert list(read_journal(tmp_path / "old")) == [event(1)]


def test_the_first_event_is_written_while_old_recordings_are_still_looked_at(tmp_path, monkeypatch):
    looking, go_on = threading.Event(), threading.Event()

    def session_folders(root: Path) -> list[Path]:
        looking.set()
        go_on.wait()
        return []

    monkeypatch.setattr(retention, "session_folders", session_folders)
    journal = writer(tmp_path)
    looking.wait()
    journal.append(event(1).to_line())
    journal.flush()
    assert list(read_journal(tmp_path / "s1")) == [event(1)]
    go_on.set()
    journal.close()


def test_a_session_that_ends_does_not_wait_for_the_rest_of_the_sweep(tmp_path):
    for name in ("a", "b"):
        journal = JournalWriter(tmp_path, name, audio=True, report=[].append)
        journal.audio("user", b"\1\0" * 3000)
        journal.close()
    asked: list[bool] = []

    def is_cancelled() -> bool:
        asked.append(True)
        return len(asked) > 1

    assert retention.trim_audio(tmp_path, 0, is_cancelled=is_cancelled).session_ids == ()
    assert len(asked) == 2
    assert sum(path.exists() for path in tmp_path.glob("*/user.wav")) == 2


def test_a_disk_too_slow_for_sound_stops_sound_and_not_the_session(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "MAX_QUEUED_AUDIO", 1000)
    reports: list[ev.Payload] = []
    journal = writer(tmp_path, reports)
    journal.audio("user", b"\0\0" * 501)
    journal.append(event(1).to_line())
    journal.close()
    assert [(report.code, report.remedy) for report in reports] == [
        ("audio-recording-stopped", "Record to a faster disk")
    ]
    assert list(read_journal(tmp_path / "s1")) == [event(1)]


@pytest.mark.parametrize("how", ["folder", "file", "moved", "replaced"])
def test_a_session_file_that_is_removed_while_it_is_written_is_told_once(tmp_path, monkeypatch, how):
    monkeypatch.setattr(writer_module, "SYNC_S", 0.0)
    reports: list[ev.Payload] = []
    journal = writer(tmp_path / "sessions", reports, audio=False)
    journal.append(event(1).to_line())
    journal.flush()
    assert reports == []
    if how == "folder":
        shutil.rmtree(journal.folder)
    elif how == "moved":
        journal.folder.rename(tmp_path / "elsewhere")
    else:
        (journal.folder / "events.jsonl").unlink()
    if how == "replaced":
        (journal.folder / "events.jsonl").write_text("another file")
    for seq in (2, 3):
        journal.append(event(seq).to_line())
        journal.flush()
    journal.close()
    assert [report.code for report in reports] == ["journal-removed"]


def test_the_header_names_format_version_and_session(tmp_path):
    writer(tmp_path).close()
    line = (tmp_path / "s1" / "events.jsonl").read_text().splitlines()[0]
    assert json.loads(line) == {"format": ev.FORMAT, "version": ev.VERSION, "session_id": "s1"}
