"""Saving and restoring a session: unusable parts are reported, the rest is used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.unit.session.session_support import Stage, stage

from gemini_live_runtime import events as ev
from gemini_live_runtime.api import Live
from gemini_live_runtime.conversation.phases import Phase, Transition
from gemini_live_runtime.session.agent.autosave import LOAD_S
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot
from gemini_live_runtime.session.persistence.stores import MemoryPersistence
from gemini_live_runtime.state.terms import key


class Store(MemoryPersistence):
    """A store whose loading can be made to fail; counts what it is given."""

    def __init__(
        self, kept: SessionSnapshot | None = None, load: Callable[[], Awaitable[Any]] | None = None, save_s: float = 0.0
    ) -> None:
        super().__init__()
        self.kept = kept
        self.load_instead = load
        self.save_s = save_s
        self.saved: list[SessionSnapshot] = []

    async def load(self, session_id: str) -> SessionSnapshot | None:
        if self.load_instead is not None:
            await self.load_instead()
        return self.kept

    async def save(self, snapshot: SessionSnapshot) -> None:
        await asyncio.sleep(self.save_s)
        self.saved.append(snapshot)


def agent(store: Store, name: str = "test") -> Live:
    return (
        Live.builder(name)
        .state(values={"app:done": None})
        .phase(
            Phase("ask", "Ask.", needs=["app:done"], transitions=Transition("end", key("app:done").is_true())),
            Phase("end", "Say goodbye.", terminal=True),
        )
        .repair(1, 2)
        .persistence(store)
    )


def kept(**fields: Any) -> SessionSnapshot:
    return SessionSnapshot(session_id="test", saved_at="2026-01-01T00:00:00Z", **fields)


def said(s: Stage) -> list[str]:
    return [notice.text for notice in s.sink.all(ev.Notice) if notice.code == "snapshot"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"transcript": {"turns": "x"}}, "transcript"),
        ({"transcript": {"turn_count": 1, "turns": [{"number": "a"}]}}, "transcript"),
        ({"phases": {}}, "phase"),
        ({"phases": {"current": 3}}, "phase 3"),
        ({"phases": {"current": "gone", "entered": True}}, "phase gone"),
        ({"phases": {"current": "end", "entered": True, "seconds_in_phase": "long", "history": []}}, "phase"),
        ({"handle": "h-1", "steering": {"tools": 3}}, "context"),
    ],
)
async def test_a_part_that_cannot_be_used_is_said_and_the_rest_is_taken_up(fields: dict[str, Any], words: str) -> None:
    store = Store(kept(state={"user:name": "Ann"}, **fields))
    async with stage(agent=agent(store), mode="text") as s:
        await s.begins()
    assert s.exit_code == 0
    assert words in said(s)[0]
    assert s.state.get("user:name") == "Ann"
    assert s.session.handle.phase == "ask"
    assert [entered.trigger for entered in s.sink.all(ev.PhaseEntered)] == ["initial"]


async def test_a_count_of_needs_that_cannot_be_used_does_not_keep_the_phase_from_going_on() -> None:
    phases = {"current": "ask", "entered": True, "seconds_in_phase": 3.0, "history": []}
    async with stage(agent=agent(Store(kept(phases=phases, needs={"turns": 1}))), mode="text") as s:
        await s.begins()
    assert "needs" in said(s)[0]
    assert [entered.trigger for entered in s.sink.all(ev.PhaseEntered)] == ["restored"]


async def breaks() -> None:
    raise OSError("the database is away")


async def hangs() -> None:
    await asyncio.sleep(1000)


@pytest.mark.parametrize("load", [breaks, hangs])
async def test_a_store_that_cannot_be_read_now_is_not_written_over(load: Callable[[], Awaitable[None]]) -> None:
    store = Store(load=load)

    async with stage(agent=agent(store), mode="text") as s:
        await s.begins()
        assert asyncio.get_running_loop().time() <= LOAD_S
        s.state.set("user:name", "Ann")
    assert s.exit_code == 0
    assert "not saved" in said(s)[0]
    assert store.saved == []


async def test_another_agents_conversation_with_the_model_is_not_resumed() -> None:
    store = Store(kept(agent="other", handle="handle-of-the-other", state={"user:name": "Ann"}))

    async with stage(agent=agent(store), mode="text") as s:
        assert (await s.server.accepts()).get("sessionResumption", {}) == {}
        await s.sink.until(ev.ConnectionReady)
    assert "other's" in said(s)[0]
    assert s.state.get("user:name") == "Ann"


async def test_a_kept_handle_that_the_server_refuses_leads_to_a_fresh_session_that_is_told_what_was_said() -> None:
    store = Store(
        kept(
            agent="test",
            handle="handle-that-is-too-old",
            transcript={"turn_count": 0, "turns": []},
        )
    )

    async with stage(agent=agent(store), mode="text") as s:
        setup = await s.server.hears_a("setup")
        assert setup["sessionResumption"] == {"handle": "handle-that-is-too-old"}
        await s.server.closes(1008, "session not found")
        fresh = await s.next_server()
        assert (await fresh.accepts()).get("sessionResumption", {}) == {}
        await s.sink.until(ev.ConnectionReady)
    assert store.saved[-1].handle == ""
    assert "handle-that-is-too-old" not in "".join(event.to_line() for event in s.sink.events)


async def test_a_slow_farewell_does_not_cost_the_last_snapshot() -> None:
    store = Store()

    async def farewell() -> None:
        await asyncio.sleep(60)

    async with stage(agent=agent(store).on("teardown", farewell), mode="text") as s:
        await s.begins()
        s.state.set("user:name", "Ann")
    assert store.saved[-1].state["user:name"] == "Ann"
    assert [failed.where for failed in s.sink.all(ev.CodeFailed)] == ["on_teardown"]


async def test_a_store_that_takes_for_ever_to_write_does_not_hold_up_the_end() -> None:
    async with stage(agent=agent(Store(save_s=1000)), mode="text") as s:
        await s.begins()
    assert s.exit_code == 0
    assert isinstance(s.sink.events[-1].payload, ev.SessionEnded)
