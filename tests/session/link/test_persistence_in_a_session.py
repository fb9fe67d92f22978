"""Sessions that are kept and taken up again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import Talk, agent, talk, two_phases

from gemini_live_runtime import (
    FsPersistence,
    Live,
    MemoryPersistence,
    Phase,
    SessionPersistence,
    SessionSnapshot,
    State,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError

ENTERED: list[str] = []


def kept(store: SessionPersistence) -> Live:
    """Return an agent with two phases, saved in `store` as "s"."""
    phases = two_phases(needs="user:name", on_enter=lambda: ENTERED.append("second"))
    return agent().phase(*phases).state(values={"user:name": None}).repair(3, 6).persistence(store, "s")


async def earlier(store: SessionPersistence) -> None:
    """Run a session that is saved in `store` and ends in the second phase."""
    async with talk(kept(store)) as t:
        await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
        await t.writes(go=True, plan="gold")
        await t.turn("hello", "Good day.")


async def test_a_session_that_was_kept_goes_on_where_it_stood() -> None:
    store = MemoryPersistence()
    await earlier(store)
    ENTERED.clear()
    async with talk(kept(store)) as t:
        assert t.setup["sessionResumption"]["handle"] == "h-1"
        assert t.setup["systemInstruction"]["parts"][0]["text"] == "Be brief.\n\nTwo."
        assert (t.handle.phase, t.state["app:plan"]) == ("second", "gold")
        assert t.stage.agent.transcript.window(1).text == "User: hello\nAssistant: Good day."
        assert t.stage.agent.turn_count == 1
    (restored,) = t.all(ev.SnapshotRestored)
    assert (restored.phase, restored.turns, restored.resuming) == ("second", 1, True)
    assert ENTERED == []


def test_none_is_no_store() -> None:
    with pytest.raises(AgentError, match="None cannot be used as persistence"):
        agent().persistence(None, "s")  # type: ignore[arg-type]


def test_a_file_is_named_by_the_characters_of_an_id(tmp_path: Path) -> None:
    class Elsewhere(str):
        def __str__(self) -> str:
            return "../elsewhere"

    assert FsPersistence(tmp_path).path(Elsewhere("here")) == tmp_path / "here.json"


def others(t: Talk) -> list[str]:
    """Return the notices about snapshots."""
    return [notice.text for notice in t.all(ev.Notice) if notice.code == "snapshot"]


async def test_two_sessions_that_save_with_one_id_are_told_and_one_after_the_other_is_not() -> None:
    store = MemoryPersistence()
    await earlier(store)
    async with talk(kept(store)) as one, talk(kept(store)) as other:
        await one.turn("hello", "Good day.")
        assert others(one) == []
        await other.turn("hello", "Good day.")
        assert others(other) == ["Another session has saved as s since this one began; the last one to save is kept"]
    assert len(others(one)) == 1


async def test_the_count_of_turns_without_progress_goes_on() -> None:
    store = MemoryPersistence()
    await earlier(store)
    async with talk(kept(store)) as t:
        needs = t.stage.agent.needs
        assert needs is not None
        assert needs.turns_without_progress == 1


async def test_what_holds_for_a_turn_or_a_session_only_is_not_kept() -> None:
    store = MemoryPersistence()

    async with talk(kept(store)) as t:
        for name in ("turn:x", "temp:x", "session:x", "user:x"):
            t.state.set(name, 1)
        await t.turn()

    async with talk(kept(store)) as t:
        assert [name for name in ("turn:x", "temp:x", "session:x", "user:x") if name in t.state] == ["user:x"]


async def test_a_session_is_kept_after_every_turn_and_at_its_end() -> None:
    saved: list[tuple[int, object]] = []

    class Store(MemoryPersistence):
        async def save(self, snapshot: SessionSnapshot, /) -> None:
            saved.append((snapshot.turn_count, snapshot.state.get("app:x")))
            await super().save(snapshot)

    async with talk(kept(Store())) as t:
        await t.turn()
        await t.turn()
        await t.writes(x=1)
    assert saved == [(1, None), (2, None), (2, 1)]


async def test_the_transcript_is_kept_without_credentials_and_the_state_as_it_is() -> None:
    key = "AIzaSyPlanted-0123456789_abcdefghij"
    store = MemoryPersistence()
    async with talk(kept(store)) as t:
        await t.writes(key=key)
        await t.calls("no_such_tool", city=f"near {key}")
        await t.turn("hello", "Good day.")
    snapshot = await store.load("s")
    assert snapshot is not None
    assert snapshot.state["app:key"] == key
    assert "near [redacted]" in json.dumps(snapshot.transcript)
    assert key not in json.dumps(snapshot.transcript)


async def test_snapshots_are_written_in_order_and_keep_nobody_waiting() -> None:
    saved: list[int] = []

    class Slow(MemoryPersistence):
        async def save(self, snapshot: SessionSnapshot, /) -> None:
            await asyncio.sleep(1)
            saved.append(snapshot.turn_count)
            await super().save(snapshot)

    async with talk(kept(Slow())) as t:
        for _ in range(3):
            await t.turn()
        assert t.state["session:turn_count"] == 3
        assert saved == []
        await t.passes(3)
    assert saved == sorted(saved)
    assert saved[-1] == 3


async def test_a_store_that_fails_is_told_and_the_call_goes_on() -> None:
    class Broken(MemoryPersistence):
        async def save(self, snapshot: SessionSnapshot, /) -> None:
            raise OSError("the disk is full")

    async with talk(kept(Broken())) as t:
        await t.turn()
        await t.turn()
        assert len(t.all(ev.TurnCompleted)) == 2
    assert [notice.code for notice in t.all(ev.Notice)] == ["snapshot"]
    assert t.all(ev.SnapshotSaved) == []


async def test_a_store_that_ends_the_program_fails_like_any_other() -> None:
    class Exits(MemoryPersistence):
        async def load(self, session_id: str, /) -> SessionSnapshot | None:
            sys.exit("no session here")

    class ExitsLater(MemoryPersistence):
        async def save(self, snapshot: SessionSnapshot, /) -> None:
            sys.exit("no room here")

    for store, said in ((Exits(), "SystemExit: no session here"), (ExitsLater(), "SystemExit: no room here")):
        async with talk(kept(store)) as t:
            await t.turn()
            await t.turn()
        (notice,) = t.all(ev.Notice)
        assert (notice.code, said in notice.text) == ("snapshot", True)
        assert len(t.all(ev.TurnCompleted)) == 2


async def test_a_session_kept_in_a_file_is_private_versioned_and_taken_up(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    await earlier(FsPersistence(folder))
    file = folder / "s.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(file.read_text())["version"] == 1

    async with talk(kept(FsPersistence(folder))) as t:
        assert t.handle.phase == "second"


async def test_a_damaged_file_is_told_and_the_session_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text("{")

    async with talk(kept(FsPersistence(tmp_path))) as t:
        assert t.handle.phase == "first"
    assert [notice.code for notice in t.all(ev.Notice)] == ["snapshot"]


async def test_a_phase_that_no_longer_exists_is_told_and_the_conversation_begins_anew() -> None:
    store = MemoryPersistence()
    await earlier(store)
    async with talk(agent().phase(Phase("other", "Three.")).persistence(store, "s")) as t:
        assert (t.handle.phase, t.state["app:plan"]) == ("other", "gold")
    assert [notice.code for notice in t.all(ev.Notice)] == ["snapshot"]


async def test_a_snapshot_waits_until_what_is_under_way_is_written() -> None:
    store = MemoryPersistence()

    async def slow(state: State) -> None:
        await asyncio.sleep(0.5)
        state.set("app:slow", True)

    of = kept(store).on("teardown", lambda: None).phase()

    async with talk(of) as t:
        await t.turn()
        t.stage.agent.queue.put("slow", lambda: slow(t.state))
    snapshot = await store.load("s")
    assert snapshot is not None
    assert snapshot.state["app:slow"] is True


@pytest.mark.parametrize("kept_value", [{"app:x": 1}, "junk"], ids=["dict", "text"])
async def test_a_store_that_gives_no_snapshot_lets_the_session_begin_anew(kept_value: Any) -> None:
    class Junk(MemoryPersistence):
        async def load(self, session_id: str, /) -> Any:
            return kept_value

    async with talk(kept(Junk())) as t:
        await t.turn()
        assert t.phases == ["first"]
        assert f"the store gave a {type(kept_value).__name__}, not a SessionSnapshot" in t.all(ev.Notice)[0].text


async def test_a_store_of_plain_methods_keeps_the_session() -> None:
    class Plain:
        def __init__(self) -> None:
            self.saved: dict[str, SessionSnapshot] = {}

        def save(self, snapshot: SessionSnapshot) -> None:
            self.saved[snapshot.session_id] = snapshot

        def load(self, session_id: str) -> SessionSnapshot | None:
            return self.saved.get(session_id)

        def delete(self, session_id: str) -> None:
            del self.saved[session_id]

    store = Plain()
    await earlier(store)  # type: ignore[arg-type]
    async with talk(kept(store)) as t:  # type: ignore[arg-type]
        assert (t.handle.phase, t.state["app:plan"]) == ("second", "gold")


async def test_a_plain_store_that_raises_is_told_once() -> None:
    class Full(MemoryPersistence):
        def save(self, snapshot: SessionSnapshot, /) -> Any:
            raise OSError("disk full")

    async with talk(kept(Full())) as t:
        await t.turn()
        await t.turn()
    (told,) = [notice.text for notice in t.all(ev.Notice) if "disk full" in notice.text]
    assert "cannot be saved" in told
