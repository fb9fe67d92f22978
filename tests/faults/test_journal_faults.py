"""Fail each file-system call of the journal in turn.

A test ends when the operation no longer reaches the failing call. Data that the disk has acknowledged stays readable,
the error is reported once, and the session continues.
"""

from __future__ import annotations

import contextlib
import errno
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_disk import FaultyDisk, Killed

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.files.events_file import EventsFile
from gemini_live_runtime.journal.files.tracks import TrackFile, read_track
from gemini_live_runtime.journal.recording import writer as writer_module
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.journal.sessions.catalog import list_entries
from gemini_live_runtime.journal.sessions.retention import purge, session_folders, trim_audio

EVENTS = 12
SAMPLES = b"\x07\x00" * 200


def event(seq: int) -> ev.Event:
    return ev.Event(seq, seq / 10, 0, 0, ev.Log(source="engine", level="info", text=f"line {seq}"))


def until_it_ends(fault: int | str, **how: bool) -> Iterator[FaultyDisk]:
    """Yield disks that fail at call 1, 2, 3, … until the fault is not reached."""
    for at in range(1, 2000):
        disk = FaultyDisk(at, fault, **how)
        yield disk
        if not disk.failed:
            assert at > 5
            return
    raise AssertionError("the operation never ends")


def session(root: Path, disk: FaultyDisk, reports: list[ev.Payload]) -> JournalWriter | None:
    try:
        journal = JournalWriter(root, "s1", audio=True, report=reports.append, disk=disk)
    except JournalError:
        return None
    for seq in range(1, EVENTS + 1):
        journal.append(event(seq).to_line())
        journal.audio("user", SAMPLES)
        journal.audio("model", SAMPLES)
        if seq % 4 == 0:
            journal.flush()
    journal.close()
    return journal


@pytest.fixture(autouse=True)
def _sync_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "SYNC_S", 0.001)
    monkeypatch.setattr(writer_module, "GATHER_S", 0.0)


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("half", [False, True])
def test_one_failing_call_loses_no_event_and_is_told_once(tmp_path, fault, half):
    for disk in until_it_ends(fault, half=half):
        root = tmp_path / str(disk.at)
        reports: list[ev.Payload] = []
        journal = session(root, disk, reports)
        if journal is None:
            continue
        read = read_journal(root / "s1")
        assert list(read) == [event(seq) for seq in range(1, EVENTS + 1)]
        assert (read.problems, read.torn, journal.lost_events) == ([], False, 0)
        codes = [report.code for report in reports if isinstance(report, ev.Notice)]
        assert len(codes) == len(set(codes))
        _check_tracks(root / "s1", complete="audio-recording-stopped" not in codes)
        told = disk.failed == ["close"] or (half and disk.failed == ["write"]) or bool(reports)
        assert told or not disk.failed, f"call {disk.at} {disk.failed} failed in silence"


def _check_tracks(folder: Path, *, complete: bool) -> None:
    for name in ("user.wav", "model.wav"):
        if (folder / name).exists():
            pcm = read_track(folder / name).pcm
            assert (SAMPLES * EVENTS).startswith(pcm)
            assert not complete or pcm == SAMPLES * EVENTS
        else:
            assert not complete


def test_a_disk_that_stays_full_is_told_once_and_what_was_written_stays(tmp_path):
    for disk in until_it_ends(errno.ENOSPC, lasting=True):
        root = tmp_path / str(disk.at)
        reports: list[ev.Payload] = []
        journal = session(root, disk, reports)
        if journal is None:
            continue
        codes = [report.code for report in reports if isinstance(report, ev.Notice)]
        assert len(codes) == len(set(codes))
        assert codes or disk.failed in ([], ["close"])
        if (root / "s1" / "events.jsonl").stat().st_size:
            read = read_journal(root / "s1")
            kept = list(read)
            assert kept == [event(seq) for seq in range(1, len(kept) + 1)]
            assert journal.lost_events == EVENTS - len(kept)
            assert read.problems == []


def test_a_disk_that_gets_room_again_gets_every_event_and_it_is_told(tmp_path, monkeypatch):
    # On a busy machine a second may pass in between, after which it would also sync.
    monkeypatch.setattr(writer_module, "SYNC_S", 3600.0)
    reports: list[ev.Payload] = []
    disk = FaultyDisk(10**9, errno.ENOSPC)
    journal = JournalWriter(tmp_path, "s1", audio=False, report=reports.append, disk=disk)
    journal.append(event(1).to_line())
    journal.flush()
    disk.at, disk.lasting = disk.calls + 1, True
    journal.append(event(2).to_line())
    journal.flush()
    disk.at = 10**9
    for seq in (3, 4):
        journal.append(event(seq).to_line())
    journal.close()
    assert list(read_journal(tmp_path / "s1")) == [event(seq) for seq in (1, 2, 3, 4)]
    assert [report.code for report in reports] == ["journal-failed", "journal-recovered"]


def test_a_recording_that_goes_on_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "SYNC_S", 3600.0)
    reports: list[ev.Payload] = []
    disk = FaultyDisk(10**9, errno.ENOSPC, lasting=True)
    journal = JournalWriter(tmp_path, "s1", audio=True, report=reports.append, disk=disk)
    for seq in (1, 3):
        disk.at = 1
        journal.keep_value(f"value-{seq}.txt", b"large")
        journal.append(event(seq).to_line())
        journal.audio("user", SAMPLES)
        journal.flush()
        disk.at = 10**9
        journal.append(event(seq + 1).to_line())
        journal.flush()
    journal.close()
    assert list(read_journal(tmp_path / "s1")) == [event(seq) for seq in (1, 2, 3, 4)]
    sound = next(report for report in reports if report.code == "audio-recording-stopped")
    assert sound.remedy == f"Free some space on the disk of {tmp_path / 's1'} before the next session"
    told = [report for report in reports if report is not sound]
    assert [notice.code for notice in told] == ["value-not-kept", "journal-failed", "journal-recovered"] * 2
    assert [(told[number].level, told[number].text) for number in (2, 5)] == [
        ("warning", f"The session file is written again, without {lost}. Sound is no longer recorded.")
        for lost in ("1 large value", "2 large values")
    ]


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "Free some space on"),
        (errno.EROFS, "Mount"),
        (errno.EACCES, "Give yourself"),
        (errno.EIO, "Check"),
    ],
)
def test_the_remedy_for_a_recording_that_cannot_begin_or_go_on_fits_the_cause(tmp_path, monkeypatch, number, remedy):
    monkeypatch.setattr(writer_module, "SYNC_S", 3600.0)
    with pytest.raises(JournalError) as raised:
        JournalWriter(tmp_path, "s1", audio=False, report=print, disk=FaultyDisk(1, number))
    assert raised.value.remedy.startswith(remedy)
    reports: list[ev.Payload] = []
    disk = FaultyDisk(10**9, number, lasting=True)
    journal = JournalWriter(tmp_path, "s2", audio=False, report=reports.append, disk=disk)
    disk.at = 1
    journal.append(event(1).to_line())
    journal.flush()
    assert reports[0].remedy.startswith(remedy)
    assert journal.remedy.startswith(remedy)
    journal.close()


def test_a_session_whose_disk_took_nothing_is_not_listed_as_one_that_ended_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "SYNC_S", 3600.0)  # else its first line may be written before the disk fails
    disk = FaultyDisk(10**9, errno.ENOSPC, lasting=True)
    journal = JournalWriter(tmp_path, "s1", audio=False, report=lambda payload: None, disk=disk)
    disk.at = 1
    journal.append(event(1).to_line())
    journal.close()
    (entry,) = list_entries(tmp_path)
    assert entry.problem == "It is empty: the disk took no event, or the session ended at once."


def test_each_change_of_a_disk_that_fails_again_and_again_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "SYNC_S", 3600.0)
    reports: list[ev.Payload] = []
    disk = FaultyDisk(10**9, errno.ENOSPC, lasting=True)
    journal = JournalWriter(tmp_path, "s1", audio=False, report=reports.append, disk=disk)
    for seq in range(1, 5):
        disk.at = disk.calls + 1 if seq % 2 else 10**9
        journal.append(event(seq).to_line())
        journal.flush()
    journal.close()
    assert [report.code for report in reports] == ["journal-failed", "journal-recovered"] * 2


def test_events_that_can_never_be_written_are_counted_and_memory_stays_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "MAX_UNWRITTEN", 5000)
    monkeypatch.setattr(writer_module, "SYNC_S", 3600.0)
    reports: list[ev.Payload] = []
    disk = FaultyDisk(10**9, errno.ENOSPC, lasting=True)
    journal = JournalWriter(tmp_path, "s1", audio=False, report=reports.append, disk=disk)
    journal.append(event(1).to_line())
    journal.flush()
    disk.at = 1
    for seq in range(2, 500):
        journal.append(event(seq).to_line())
        if seq % 10 == 0:
            journal.flush()
    journal.close()
    assert list(read_journal(tmp_path / "s1")) == [event(1)]
    assert journal.lost_events == 498
    assert sorted(report.code for report in reports) == ["journal-failed", "journal-stopped"]


@pytest.mark.parametrize("half", [False, True])
def test_events_written_before_a_kill_at_any_call_are_read_back(tmp_path, half):
    for disk in until_it_ends("kill", half=half):
        folder = tmp_path / str(disk.at)
        acknowledged = 0
        try:
            disk.folder(folder)
            file = EventsFile(folder, "s1", disk)
            for seq in range(1, EVENTS + 1):
                file.append(event(seq).to_line().encode() + b"\n")
                acknowledged = seq
                file.sync()
            file.close()
        except Killed:
            pass
        if acknowledged:
            read = read_journal(folder)
            kept = list(read)
            assert kept == [event(seq) for seq in range(1, len(kept) + 1)]
            assert len(kept) >= acknowledged
            assert read.problems == []


@pytest.mark.parametrize("fault", ["kill", errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("half", [False, True])
def test_a_track_holds_every_acknowledged_sample_whatever_call_fails(tmp_path, fault, half):
    for disk in until_it_ends(fault, half=half):
        path = tmp_path / f"{disk.at}.wav"
        acknowledged = 0
        try:
            track = TrackFile(path, 16_000, disk)
            for _ in range(EVENTS):
                track.append(SAMPLES)
                acknowledged += 1
                track.checkpoint()
            track.close()
        except (Killed, OSError):
            pass
        if acknowledged:
            pcm = read_track(path).pcm
            assert pcm[: len(SAMPLES) * acknowledged] == SAMPLES * acknowledged
            assert (SAMPLES * EVENTS).startswith(pcm)
        elif path.exists() and fault != "kill":
            read_track(path)


def _three_sessions(root: Path) -> None:
    for name in ("a", "b", "c"):
        journal = JournalWriter(root, name, audio=True, report=[].append)
        journal.append(event(1).to_line())
        journal.audio("user", SAMPLES)
        journal.audio("model", SAMPLES)
        journal.close()


@pytest.mark.parametrize("fault", ["kill", errno.EIO])
def test_trimming_that_fails_at_any_call_leaves_every_session_readable_and_can_be_repeated(tmp_path, fault):
    for disk in until_it_ends(fault):
        root = tmp_path / str(disk.at)
        _three_sessions(root)
        with contextlib.suppress(Killed, OSError):
            trim_audio(root, 0, disk=disk)
        for folder in session_folders(root):
            assert list(read_journal(folder)) == [event(1)]
            for path in folder.glob("*.wav"):
                assert read_track(path).pcm == SAMPLES
        trim_audio(root, 0)
        assert [item.audio_bytes for item in list_entries(root)] == [0, 0, 0]


@pytest.mark.parametrize("fault", ["kill", errno.EIO])
def test_purging_that_fails_at_any_call_leaves_the_rest_whole_and_can_be_repeated(tmp_path, fault):
    for disk in until_it_ends(fault):
        root = tmp_path / str(disk.at)
        _three_sessions(root)
        with contextlib.suppress(Killed):
            purge(root, everything=True, disk=disk)
        for folder in session_folders(root):
            assert list(read_journal(folder)) == [event(1)]
        purge(root, everything=True)
        assert session_folders(root) == []


def test_no_thread_is_left_behind(tmp_path):
    before = threading.active_count()
    for number in range(5):
        journal = JournalWriter(tmp_path, f"s{number}", audio=True, report=[].append)
        journal.append(event(1).to_line())
        journal.close()
    assert threading.active_count() == before
