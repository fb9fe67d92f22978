"""List, trim and purge sessions, and touch no other file."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.journal.files.disk import Disk, lock
from gemini_live_runtime.journal.files.lines import EVENTS_FILE
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.journal.sessions import retention
from gemini_live_runtime.journal.sessions.catalog import list_entries
from gemini_live_runtime.journal.sessions.retention import purge, trim_audio


def record(root: Path, name: str, *, wall: float = 1e9, samples: int = 0, ended: bool = True) -> JournalWriter:
    journal = JournalWriter(root, name, audio=True, report=[].append)
    started = ev.SessionStarted(
        session_id=name,
        agent="concierge",
        model="m",
        backend="local",
        wall=wall,
        record="audio",
        mode="voice",
        program="p",
    )
    payloads: list[tuple[int, ev.Payload]] = [(0, started), (2, ev.TranscriptDelta(side="model", text="hello"))]
    if ended:
        payloads.append((2, ev.SessionEnded(reason="hung up", exit_code=0)))
    for seq, (turn, payload) in enumerate(payloads, 1):
        journal.append(ev.Event(seq, seq * 10.0, turn, 0, payload).to_line())
    if samples:
        journal.audio("user", b"\1\0" * samples)
        journal.flush()
        os.utime(root / name / "user.wav", (wall, wall))
    return journal


def test_sessions_are_listed_newest_first_with_what_one_wants_to_know(tmp_path):
    record(tmp_path, "first", wall=1e9, samples=100).close()
    record(tmp_path, "second", wall=2e9, ended=False).close()
    running = record(tmp_path, "third", wall=3e9)
    running.flush()
    listed = list_entries(tmp_path)
    assert [(item.id, item.ended) for item in listed] == [
        ("third", "running"),
        ("second", "broken off"),
        ("first", "hung up"),
    ]
    first = listed[-1]
    assert (first.when, first.agent, first.backend, first.duration_s, first.turns) == (
        1e9,
        "concierge",
        "local",
        30.0,
        2,
    )
    assert (first.audio_bytes, first.exit_code) == (244, 0)
    assert first.total_bytes == 244 + (tmp_path / "first" / "events.jsonl").stat().st_size
    running.close()


def test_what_is_no_session_is_not_listed(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "events.jsonl").write_text('{"format": "else"}\n')
    record(tmp_path, "real").close()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert [item.id for item in list_entries(tmp_path) if not item.problem] == ["real"]
    assert [item.id for item in list_entries(tmp_path) if item.problem] == ["foreign"]
    assert list_entries(tmp_path / "nowhere") == []


def test_trimming_deletes_the_oldest_sound_first_and_keeps_events(tmp_path):
    for number, name in enumerate(("c", "a", "b")):
        record(tmp_path, name, wall=1e9 + number, samples=1000).close()
    trimmed = trim_audio(tmp_path, 3000)
    assert trimmed.session_ids == ("c", "a")
    assert (trimmed.bytes_freed, trimmed.bytes_left) == (2 * 2044, 2044)
    assert {item.id: item.audio_bytes for item in list_entries(tmp_path)} == {"a": 0, "b": 2044, "c": 0}


def test_trimming_leaves_running_and_protected_sessions_alone(tmp_path):
    running = record(tmp_path, "running", wall=1e9, samples=1000)
    record(tmp_path, "mine", wall=1e9 + 1, samples=1000).close()
    record(tmp_path, "done", wall=1e9 + 2, samples=1000).close()
    trimmed = trim_audio(tmp_path, 0, keep={"mine"})
    assert trimmed.session_ids == ("done",)
    assert trimmed.bytes_left == 2 * 2044
    running.close()


@pytest.mark.parametrize("when", ["before it is dated", "before it is deleted"])
def test_trimming_passes_over_sound_that_another_program_deletes_meanwhile(tmp_path, monkeypatch, when):
    for number, name in enumerate(("gone", "old", "new")):
        record(tmp_path, name, wall=1e9 + number, samples=1000).close()
    victim = tmp_path / "gone" / "user.wav"

    class Rival(Disk):
        def unlink(self, path: Path) -> None:
            victim.unlink(missing_ok=True)
            super().unlink(path)

    def dated(path: Path) -> float:
        victim.unlink(missing_ok=True)
        return path.stat().st_mtime

    if when == "before it is dated":
        monkeypatch.setattr(retention, "modified_at", dated)
    trim_audio(tmp_path, 3000, disk=Rival())
    assert {item.id: item.audio_bytes for item in list_entries(tmp_path)} == {"gone": 0, "old": 0, "new": 2044}


def test_purging_passes_over_what_another_program_purges_meanwhile(tmp_path):
    for name in ("a", "b"):
        record(tmp_path, name, samples=10).close()

    class Rival(Disk):
        def unlink(self, path: Path) -> None:
            super().unlink(path)
            shutil.rmtree(path.parent, ignore_errors=True)

    assert purge(tmp_path, everything=True, disk=Rival()).not_deleted == ()
    assert list_entries(tmp_path) == []


def test_trimming_never_follows_a_link(tmp_path):
    outside = tmp_path / "precious.wav"
    outside.write_bytes(b"x" * 5000)
    root = tmp_path / "sessions"
    record(root, "s1").close()
    (root / "s1" / "user.wav").symlink_to(outside)
    assert trim_audio(root, 0).session_ids == ()
    assert outside.exists()


def test_purging_takes_what_was_asked_for_and_tells_what_stays(tmp_path):
    running = record(tmp_path, "running")
    record(tmp_path, "old", wall=1e9, samples=10).close()
    record(tmp_path, "new", wall=2e9).close()
    purged = purge(tmp_path, ids={"running", "old", "nothing"})
    assert purged.session_ids == ("old",)
    assert purged.bytes_freed > 64
    assert purged.not_deleted == (("nothing", "there is no such session"), ("running", "it is running"))
    assert not (tmp_path / "old").exists()
    running.close()


def test_a_session_that_starts_while_others_are_purged_is_not_deleted(tmp_path):
    for name in ("a", "b"):
        record(tmp_path, name).close()

    with (tmp_path / "b" / EVENTS_FILE).open("rb") as events:

        class LockingB(Disk):
            def remove_folder(self, path: Path) -> None:
                super().remove_folder(path)
                lock(events.fileno())

        purged = purge(tmp_path, everything=True, disk=LockingB())
    assert purged.session_ids == ("a",)
    assert purged.not_deleted == (("b", "it is running"),)
    assert (tmp_path / "b").exists()


def test_purging_by_age_goes_by_when_a_session_started(tmp_path):
    for name, wall in (("a", 1e9), ("b", 2e9), ("c", 3e9)):
        record(tmp_path, name, wall=wall).close()
    assert purge(tmp_path, before=2.5e9).session_ids == ("a", "b")
    assert purge(tmp_path, everything=True).session_ids == ("c",)
    assert os.listdir(tmp_path) == []


def test_purging_removes_links_and_not_what_they_point_to(tmp_path):
    root, outside = tmp_path / "sessions", tmp_path / "precious"
    outside.write_text("x")
    record(root, "s1").close()
    (root / "s1" / "model.wav").symlink_to(outside)
    assert purge(root, everything=True).session_ids == ("s1",)
    assert outside.read_text() == "x"


def test_a_session_that_holds_a_folder_is_kept_with_the_reason(tmp_path):
    record(tmp_path, "s1").close()
    (tmp_path / "s1" / "extra").mkdir()
    purged = purge(tmp_path, everything=True)
    assert purged.session_ids == ()
    assert f"{tmp_path / 's1' / 'extra'} cannot be deleted" in purged.not_deleted[0][1]
    assert purged.remedies == (f"Look into {tmp_path / 's1'} and delete it yourself",)
    assert [item.id for item in list_entries(tmp_path)] == ["s1"]


@pytest.mark.parametrize(
    ("number", "remedies"),
    [
        (errno.EROFS, ["Mount the disk of {root} writable"]),
        (
            errno.EACCES,
            ["Give yourself the right to write in {root}/s1", "Give yourself the right to write in {root}/s2"],
        ),
        (errno.EIO, ["Check the disk of {root}"]),
    ],
)
def test_what_cannot_be_deleted_names_the_file_the_reason_and_each_remedy_once(tmp_path, number, remedies):
    record(tmp_path, "s1").close()
    record(tmp_path, "s2").close()

    class Refusing(Disk):
        def unlink(self, path):
            raise OSError(number, os.strerror(number), str(path))

    purged = purge(tmp_path, everything=True, disk=Refusing())
    assert purged.not_deleted == tuple(
        (name, f"{tmp_path / name / 'events.jsonl'} cannot be deleted: {os.strerror(number)}") for name in ("s1", "s2")
    )
    assert purged.remedies == tuple(remedy.format(root=tmp_path) for remedy in remedies)


@pytest.mark.parametrize("name", ["../x", "/etc", ".", "..", "", "a/b", "x" * 300, "a\0b", "․․"])
def test_only_safe_names_are_accepted(tmp_path, name):
    with pytest.raises(UsageError):
        purge(tmp_path, ids={name})
