"""Snapshots of sessions: content, writing, and unreadable files."""

from __future__ import annotations

import asyncio
import errno
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.errors import GeminiLiveError, JournalError, NewerFormatError, UsageError
from gemini_live_runtime.journal.files.disk import FileDisk
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot, is_persistent, persistent
from gemini_live_runtime.session.persistence.stores import (
    FsPersistence,
    MemoryPersistence,
    SessionPersistence,
    SnapshotSaver,
)
from gemini_live_runtime.state.store import State

HANDLE = "resumption-handle-0123456789"


def snapshot(turns: int = 3, **others: Any) -> SessionSnapshot:
    values: dict[str, Any] = {"session_id": "s1", "turn_count": turns, "handle": HANDLE, "agent": "concierge", **others}
    return SessionSnapshot.take(State({"app:plan": "gold"}), wall=1_700_000_000.25, **values)


# -- the snapshot

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.builds(
    lambda scope, name: scope + name,
    st.sampled_from(["app:", "user:", "bg:", ""]),
    st.text(min_size=1).filter(lambda name: ":" not in name),
)
SNAPSHOTS = st.builds(
    SessionSnapshot,
    session_id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}", fullmatch=True),
    saved_at=st.just("2023-11-14T22:13:20.250Z"),
    agent=st.text(),
    state=st.dictionaries(KEYS, JSON, max_size=5),
    phases=st.none() | st.dictionaries(st.text(), JSON, max_size=3),
    needs=st.none() | st.dictionaries(st.text(), JSON, max_size=3),
    transcript=st.none() | st.dictionaries(st.text(), JSON, max_size=3),
    turn_count=st.integers(0, 10**9),
    handle=st.text(),
)


@given(SNAPSHOTS)
def test_a_snapshot_read_back_is_the_same(kept: SessionSnapshot) -> None:
    async def go() -> None:
        persistence = MemoryPersistence()
        await persistence.save(kept)
        assert await persistence.load(kept.session_id) == kept

    asyncio.run(go())


def test_only_scopes_that_outlive_a_session_are_kept() -> None:
    state = State({"app:a": 1, "user:b": 2, "bg:c": 3, "d": 4, "turn:e": 5, "temp:f": 6, "session:g": 7})
    state.set_derived("h", 8)
    assert persistent(state) == {"app:a": 1, "user:b": 2, "bg:c": 3, "d": 4}
    assert not is_persistent("derived:h")
    with pytest.raises(JournalError, match="temp:f"):
        SessionSnapshot(session_id="s", saved_at="2023-11-14T22:13:20Z", state={"temp:f": 6})


def test_the_time_is_iso_8601_in_utc() -> None:
    assert snapshot().saved_at == "2023-11-14T22:13:20.250Z"


def test_the_handle_shows_nowhere_but_in_the_file() -> None:
    kept = snapshot()
    assert HANDLE not in repr(kept)
    assert HANDLE not in str(kept)
    assert HANDLE not in redactor.text(f"handle is {HANDLE}")
    assert kept.to_json()["handle"] == HANDLE


def test_restoring_writes_everything_as_restored() -> None:
    state = State()
    assert snapshot().restore_state(state) == []
    evidence = state.evidence("app:plan")
    assert evidence is not None
    assert (evidence.new, str(evidence.origin)) == ("gold", "restored s1")


def test_a_snapshot_that_was_saved_before_steering_was_kept_is_read() -> None:
    old = snapshot().to_json()
    del old["steering"]
    assert SessionSnapshot.from_json(old).steering is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"saved_at": "yesterday"}, "saved_at"),
        ({"saved_at": "2023-11-14T22:13:20+02:00"}, "saved_at"),
        ({"saved_at": "2023-11-14T22:13:20"}, "saved_at"),
        ({"turn_count": -1}, "turn_count"),
        ({"turn_count": True}, "turn_count"),
        ({"turn_count": 10**400}, "turn_count"),
        *(({field: 2**53 + 1}, field) for field in ("turn_count", "handle_turn", "told_from", "seq")),
        ({"state": []}, "state"),
        ({"state": {"nowhere:x": 1}}, "state"),
        ({"phases": 3}, "phases"),
        ({"transcript": []}, "transcript"),
        ({"steering": "x"}, "steering"),
        ({"handle": None}, "handle"),
        ({"agent": 3}, "agent"),
        ({"session_id": ""}, "session_id"),
        ({"version": 0}, "version"),
        ({"version": "1"}, "version"),
        ({"more": 1}, "more"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(JournalError) as caught:
        SessionSnapshot.from_json(snapshot().to_json() | change)
    assert caught.value.field == field
    assert HANDLE not in str(caught.value)


def test_a_newer_version_is_refused_by_name() -> None:
    with pytest.raises(NewerFormatError, match="version 2"):
        SessionSnapshot.from_json(snapshot().to_json() | {"version": 2, "new": "things"})


# -- where it is kept


@pytest.mark.parametrize("kind", ["memory", "files"])
async def test_saving_loading_and_deleting(kind: str, tmp_path: Path) -> None:
    persistence: SessionPersistence = MemoryPersistence() if kind == "memory" else FsPersistence(tmp_path / "kept")
    assert await persistence.load("s1") is None
    await persistence.save(snapshot(1))
    await persistence.save(snapshot(2))
    assert await persistence.load("s1") == snapshot(2)
    await persistence.delete("s1")
    await persistence.delete("s1")
    assert await persistence.load("s1") is None


async def test_files_and_their_folder_are_private(tmp_path: Path) -> None:
    persistence = FsPersistence(tmp_path / "kept")
    await persistence.save(snapshot())
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700
    assert stat.S_IMODE(persistence.path("s1").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["s1.json"]


@pytest.mark.parametrize("name", ["../etc/passwd", "a/b", ".hidden", "a\x00b", "x" * 100, "..", "C:\\x"])
async def test_an_id_from_outside_never_becomes_a_path(name: str, tmp_path: Path) -> None:
    persistence = FsPersistence(tmp_path)
    await persistence.save(snapshot(session_id=name))
    (path,) = tmp_path.rglob("*")
    assert (path.parent, path.suffix, path.name[0]) == (tmp_path, ".json", "_")
    assert await persistence.load(name) == snapshot(session_id=name)
    await persistence.delete(name)
    assert list(tmp_path.iterdir()) == []


async def test_an_id_that_names_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="session_id"):
        await FsPersistence(tmp_path).load("")


async def test_a_folder_may_be_a_text_and_an_id_any_text(tmp_path: Path) -> None:
    persistence = FsPersistence(str(tmp_path))
    names = ["ada@example.com", "имя", "имя ", "a b", "s1", "x" * 500, "x" * 501, "." * 119, "." * 500, "\ud800"]
    for name in names:
        await persistence.save(snapshot(session_id=name))
    assert len(list(tmp_path.iterdir())) == len(names)
    assert [(await persistence.load(name)).session_id for name in names] == names


def test_a_folder_may_begin_with_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert FsPersistence("~/sessions").folder == tmp_path / "sessions"


async def test_a_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s1.json"
    path.write_text(json.dumps({"version": 7, "secret": "x"}))
    persistence = FsPersistence(tmp_path)
    with pytest.raises(NewerFormatError, match=r"s1\.json.*version 7"):
        await persistence.load("s1")
    for _ in range(2):
        with pytest.raises(NewerFormatError):
            await persistence.save(snapshot())
    assert json.loads(path.read_text())["version"] == 7


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"version": 1}', b"null"])
async def test_a_damaged_file_is_named_left_alone_and_moved_aside_only_by_a_save(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "s1.json"
    path.write_bytes(content)
    persistence = FsPersistence(tmp_path)
    with pytest.raises(JournalError, match=r"s1\.json is damaged"):
        await persistence.load("s1")
    assert path.read_bytes() == content
    await persistence.save(snapshot())
    assert await persistence.load("s1") == snapshot()
    assert (tmp_path / "s1.json.damaged").read_bytes() == content
    path.write_bytes(b"again")
    await FsPersistence(tmp_path).save(snapshot())
    assert (tmp_path / "s1.json.damaged2").read_bytes() == b"again"


async def test_a_file_of_another_session_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    persistence = FsPersistence(tmp_path)
    await persistence.save(snapshot())
    (tmp_path / "s1.json").rename(tmp_path / "s2.json")
    with pytest.raises(JournalError, match="belongs to another session"):
        await persistence.load("s2")


async def test_a_symbolic_link_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("{}")
    (tmp_path / "s1.json").symlink_to(tmp_path / "other")
    persistence = FsPersistence(tmp_path)
    with pytest.raises(JournalError):
        await persistence.load("s1")
    with pytest.raises(JournalError):
        await persistence.save(snapshot())
    assert (tmp_path / "s1.json").is_symlink()


async def test_what_a_dead_writer_left_behind_is_removed_by_the_next_save(tmp_path: Path) -> None:
    (tmp_path / ".s1.json.999999-00000000.part").write_text("half")
    await FsPersistence(tmp_path).save(snapshot())
    assert [path.name for path in tmp_path.iterdir()] == ["s1.json"]


async def test_a_session_that_is_too_large_is_refused_and_the_last_one_stays(tmp_path: Path) -> None:
    persistence = FsPersistence(tmp_path)
    await persistence.save(snapshot())
    with pytest.raises(JournalError, match="too large"):
        await persistence.save(snapshot(transcript={"text": "x" * 17_000_000}))
    assert await persistence.load("s1") == snapshot()


async def test_a_save_that_nobody_waits_for_any_more_does_not_overtake_the_next(tmp_path: Path) -> None:
    persistence = FsPersistence(tmp_path)
    first = asyncio.create_task(persistence.save(snapshot(1)))
    await asyncio.sleep(0)
    first.cancel()
    await persistence.save(snapshot(2))
    assert await persistence.load("s1") == snapshot(2)


# -- the saver


class Slow:
    """Store whose saves take a second each and first raise `faults`, one a save."""

    def __init__(self, *faults: Exception) -> None:
        self.kept: list[int] = []
        self.faults = list(faults)

    async def save(self, snapshot: SessionSnapshot, /) -> None:
        await asyncio.sleep(1)
        if self.faults:
            raise self.faults.pop(0)
        self.kept.append(snapshot.turn_count)

    async def load(self, session_id: str, /) -> SessionSnapshot | None:
        return None

    async def delete(self, session_id: str, /) -> None:
        return None


async def test_of_the_snapshots_that_come_while_one_is_written_the_newest_is_saved() -> None:
    slow = Slow()
    told: list[int] = []
    saver = SnapshotSaver(slow, lambda error: None, lambda saved: told.append(saved.turn_count))
    for turn in range(1, 5):
        saver.save(snapshot(turn))
        await asyncio.sleep(0.1)
    await saver.flush()
    assert slow.kept == [1, 4]
    saver.save(snapshot(5))
    await saver.flush()
    await saver.flush()
    assert slow.kept == told == [1, 4, 5]
    assert saver.saved == 3


async def test_failures_are_told_once_until_saving_works_again() -> None:
    told: list[GeminiLiveError] = []
    fault = JournalError("The disk is full")
    slow = Slow(fault, fault)
    saver = SnapshotSaver(slow, told.append)
    for turn in range(4):
        if turn == 3:
            slow.faults = [ValueError("odd")]
        saver.save(snapshot(turn))
        await saver.flush()
    assert slow.kept == [2]
    assert saver.failures == 3
    assert [str(error) for error in told] == [
        "The disk is full.",
        "The session s1 cannot be saved: ValueError: odd.",
    ]


async def test_giving_up_waiting_does_not_give_up_the_save() -> None:
    slow = Slow()
    saver = SnapshotSaver(slow, lambda error: None)
    saver.save(snapshot(1))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(saver.flush(), 0.5)
    await saver.flush()
    assert slow.kept == [1]


def test_the_real_disk_can_sync_a_folder(tmp_path: Path) -> None:
    FileDisk().sync_folder(tmp_path)


@pytest.mark.parametrize("folder", ["a\0b", "\ud800", b"sessions", None, 5])
def test_a_folder_that_no_path_can_be_is_refused_when_it_is_named(folder: Any) -> None:
    with pytest.raises(UsageError, match="folder"):
        FsPersistence(folder)


async def test_a_snapshot_whose_folder_could_not_be_synced_is_said_to_be_saved(tmp_path: Path) -> None:
    class Unsynced(FileDisk):
        def sync_folder(self, path: Path) -> None:
            raise OSError(errno.EIO, "Input/output error")

    store = FsPersistence(tmp_path, disk=Unsynced())
    with pytest.raises(JournalError, match=r"was saved to .*s\.json, but may be lost if the computer loses power"):
        await store.save(SessionSnapshot(session_id="s", saved_at="2023-11-14T22:13:20Z"))
    assert (await store.load("s")) is not None
