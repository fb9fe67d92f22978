"""The operator changes a real engine's agent over its socket and in its file."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.support.patience import PATIENCE_S

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.launch import connect, start_engine
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.engine.spec import EngineSpec

AGENT = """
from gemini_live_runtime import *

agent = (
    Live.builder("mine")
    .phase(
        Phase("first", "One.", transitions=Transition("second", key("derived:enough").is_true())),
        Phase("second", "Two.", terminal=True),
    )
    .watch(Watcher(key("app:n").crossed_above(3), lambda: print("many"), name="many"))
    .computed(ComputedVar("enough", key("app:n") > 5))
    .state(StateKey("app:n", int), values={"app:n": 1})
)
"""


class Console:
    """The other end of an engine's socket."""

    def __init__(self, link: SocketLink) -> None:
        self._link = link
        self._made = 0

    async def does(self, order: cmd.Order, wanted: Callable[[ev.Payload], bool]) -> list[ev.Payload]:
        """Send a command; return the events up to the one that is wanted."""
        self._made += 1
        await self._link.send(cmd.Command(f"c{self._made}", order))
        return await self.until(wanted)

    async def until(self, wanted: Callable[[ev.Payload], bool]) -> list[ev.Payload]:
        """Return the events up to the one that is wanted."""
        told: list[ev.Payload] = []
        async with asyncio.timeout(PATIENCE_S):
            while not told or not wanted(told[-1]):
                message = await self._link.receive()
                if isinstance(message, ev.Event):
                    told.append(message.payload)
        return told


def kind(payload: type[ev.Payload]) -> Callable[[ev.Payload], bool]:
    return lambda found: isinstance(found, payload)


async def test_an_agent_is_previewed_edited_moved_and_read_again_over_the_socket() -> None:
    with tempfile.TemporaryDirectory(prefix="glt") as name:
        base = Path(name)
        file = base / "mine.py"
        file.write_text(AGENT)
        spec = EngineSpec(
            session_id="s1",
            data_dir=str(base / "data"),
            agent=f"{file}:agent",
            mode="text",
            audio="none",
            record="off",
            reload=True,
        )
        engine = start_engine(spec, root=base / "run")
        try:
            link = await connect("s1", engine=engine, root=base / "run")
            try:
                await _operate(Console(link), file)
                assert _sound_libraries(engine.process.pid) == set()
            finally:
                await link.close()
            assert await asyncio.to_thread(engine.process.wait, PATIENCE_S) == 0
        finally:
            if engine.process.poll() is None:
                engine.process.kill()
            engine.process.wait()


def _sound_libraries(pid: int) -> set[str]:
    """Return the libraries of the sound layer that a process has loaded, by Linux."""
    maps = Path(f"/proc/{pid}/maps")
    return {name for name in ("numpy", "soxr", "portaudio") if maps.exists() and name in maps.read_text()}


async def _operate(console: Console, file: Path) -> None:
    await console.does(cmd.SendText(text="hello"), kind(ev.TurnCompleted))
    edits = ({"key": "app:n", "value": 7},)
    found = (await console.does(cmd.PreviewEdit(edits=edits), kind(ev.EditPreviewed)))[-1]
    assert isinstance(found, ev.EditPreviewed)
    assert (found.command_id, found.problem, found.phase) == ("c2", "", "second")
    assert [item["name"] for item in found.watchers] == ["many"]
    told = await console.does(cmd.EditState(edits=edits, reason="to see"), kind(ev.PhaseEntered))
    steps = ("edit.applied", "watcher.fired", "phase.entered")
    assert tuple(item.type for item in told if item.type in steps) == steps
    refused = (await console.does(cmd.EditState(edits=({"key": "app:n", "value": "x"},)), kind(ev.CommandRefused)))[-1]
    assert isinstance(refused, ev.CommandRefused)
    assert refused.reason.startswith("app:n cannot be 'x'")
    undone = (await console.does(cmd.UndoEdit(), kind(ev.EditsApplied)))[-1]
    assert isinstance(undone, ev.EditsApplied)
    assert (undone.how, undone.undo, undone.redo) == ("undo", 0, 1)
    moved = (await console.does(cmd.GoToPhase(phase="first", reason="again"), kind(ev.PhaseEntered)))[-1]
    assert isinstance(moved, ev.PhaseEntered)
    assert (moved.phase, moved.trigger, moved.because) == ("first", "operator", "again")
    await console.does(cmd.SwitchWatcher(watcher="many", muted=True), kind(ev.WatcherSwitched))
    await console.does(cmd.SetInstruction(text="Be kind."), kind(ev.AgentDescribed))
    file.write_text(AGENT.replace("One.", "Uno."))
    reloaded = (await console.until(kind(ev.AgentReloaded)))[-1]
    assert isinstance(reloaded, ev.AgentReloaded)
    assert (reloaded.problem, reloaded.changed) == ("", ("phase first",))
    file.write_text("1 / 0\n")
    broken = (await console.does(cmd.ReloadAgent(), kind(ev.AgentReloaded)))[-1]
    assert isinstance(broken, ev.AgentReloaded)
    assert "(mine.py:1): ZeroDivisionError" in broken.problem
    answered = await console.does(cmd.SendText(text="hello"), kind(ev.TurnCompleted))
    assert any(isinstance(item, ev.TranscriptDelta) and item.side == "model" for item in answered)
    await console.does(cmd.HangUp(), kind(ev.SessionEnded))
