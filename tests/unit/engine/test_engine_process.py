"""Real engine processes: started, watched, killed, stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Command, HangUp, SendText
from gemini_live_runtime.engine import registry, stop
from gemini_live_runtime.engine.launch import EngineProcess, connect, start_engine
from gemini_live_runtime.engine.link import Bye, LinkClosed, LinkMessage, Snapshot
from gemini_live_runtime.engine.registry import SOCKET_FILE, list_engines
from gemini_live_runtime.engine.socket_link import SocketLink
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.engine.stop import stop_engine
from gemini_live_runtime.errors import EngineError, UsageError
from gemini_live_runtime.journal.files.tracks import read_track
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.sessions.catalog import list_entries

SCRIPT = Path(__file__).with_name("scripted_engine.py")


class Place:
    """A runtime folder and a data folder for engines of one test."""

    def __init__(self, base: Path) -> None:
        self.root, self.data = base / "run", base / "data"
        self.started: list[EngineProcess] = []

    def start(self, session_id: str = "s1", *options: str, **fields: object) -> EngineProcess:
        spec = EngineSpec(session_id=session_id, data_dir=str(self.data), **fields)
        engine = start_engine(spec, root=self.root, program=(sys.executable, str(SCRIPT), *options))
        self.started.append(engine)
        return engine

    @property
    def session(self) -> Path:
        return self.data / "sessions" / "s1"


@pytest.fixture
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="glt") as name:
        place = Place(Path(name))
        yield place
        for engine in place.started:
            if engine.process.poll() is None:
                engine.process.kill()
            engine.process.wait()


@asynccontextmanager
async def linked(place: Place, engine: EngineProcess) -> AsyncIterator[SocketLink]:
    link = await connect(engine.session_id, engine=engine, root=place.root)
    try:
        yield link
    finally:
        await link.close()


async def until(link: SocketLink, wanted: Callable[[LinkMessage], bool]) -> list[LinkMessage]:
    messages: list[LinkMessage] = []
    async with asyncio.timeout(PATIENCE_S):
        while not messages or not wanted(messages[-1]):
            messages.append(await link.receive())
    return messages


def is_event(*payloads: type[ev.Payload]) -> Callable[[LinkMessage], bool]:
    return lambda message: isinstance(message, ev.Event) and isinstance(message.payload, payloads)


def is_bye(message: LinkMessage) -> bool:
    return isinstance(message, Bye)


def is_listening(message: LinkMessage) -> bool:
    if isinstance(message, Snapshot):
        return message.view.word == "listening"
    return is_event(ev.SessionState)(message)


async def exit_code(engine: EngineProcess) -> int:
    return await asyncio.to_thread(engine.process.wait, PATIENCE_S)


async def test_an_engine_starts_talks_is_listed_hangs_up_and_leaves_nothing_behind(place):
    engine = place.start(agent="concierge", backend="local")
    async with linked(place, engine) as link:
        await link.send(Command("c1", SendText(text="hello")))
        await until(link, is_event(ev.TurnCompleted))
        (info,) = list_engines(place.root)
        assert (info.session_id, info.pid, info.agent, info.backend) == (
            "s1",
            engine.process.pid,
            "concierge",
            "local",
        )
        assert stat.S_IMODE((engine.folder / "engine.json").stat().st_mode) == 0o600
        assert stat.S_IMODE((engine.folder / "spec.json").stat().st_mode) == 0o600
        assert os.getpgid(engine.process.pid) == engine.process.pid
        await link.send(Command("c2", HangUp(reason="done")))
        assert (await until(link, is_bye))[-1] == Bye("done", 0)
    assert await exit_code(engine) == 0
    assert not engine.folder.exists()
    assert list_engines(place.root) == []
    assert [(item.id, item.ended, item.turns) for item in list_entries(place.data / "sessions")] == [("s1", "done", 1)]


async def test_a_killed_engine_leaves_a_journal_and_sound_that_replay(place):
    engine = place.start(record="audio")
    async with linked(place, engine) as link:
        await link.send(Command("c1", SendText(text="sound 12000")))
        seen = [m for m in await until(link, is_event(ev.TurnCompleted)) if isinstance(m, ev.Event)]
        await _until_sound(place.session, 12000)
        engine.process.kill()
        with pytest.raises(LinkClosed, match="gone"):
            await until(link, lambda message: False)
    await exit_code(engine)
    journal = read_journal(place.session)
    events = list(journal)
    assert journal.problems == []
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert set(map(ev.Event.to_line, seen)) <= set(map(ev.Event.to_line, events))
    assert read_track(place.session / "user.wav").pcm == b"\x01\x02" * 12000
    assert read_track(place.session / "model.wav").pcm == b"\x03\x04" * 12000
    assert list_entries(place.data / "sessions")[0].ended == "broken off"
    assert list_engines(place.root) == []
    assert not engine.folder.exists()


async def _until_sound(folder: Path, samples: int) -> None:
    # Another process writes the file: there is nothing to wait on but its size.
    deadline = time.monotonic() + PATIENCE_S
    while not all(
        (folder / name).exists() and read_track(folder / name).samples == samples for name in ("user.wav", "model.wav")
    ):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


CONSOLE = """
import asyncio, sys
from pathlib import Path
from gemini_live_runtime.engine.socket_link import SocketLink

async def main():
    link = await SocketLink.connect(Path(sys.argv[1]))
    await link.receive()
    print("in", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


async def test_an_engine_whose_console_was_killed_lingers_and_then_hangs_up(place):
    # Long enough to be seen while it lingers.
    engine = place.start(linger_s=3.0)
    async with linked(place, engine) as link:
        console = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", CONSOLE, str(engine.folder)),
            env={**os.environ, "PYTHONPATH": str(Path(ev.__file__).parents[1])},
            stdout=asyncio.subprocess.PIPE,
        )
        assert await asyncio.wait_for(console.stdout.readline(), PATIENCE_S) == b"in\n"
        await link.close()
        console.kill()
        await console.wait()
        assert list_engines(place.root) != []
    assert await exit_code(engine) == 0
    assert list(read_journal(place.session))[-1].payload == ev.SessionEnded(reason="no console for 3 s", exit_code=0)


async def test_stop_ends_an_engine_in_an_orderly_way(place):
    engine = place.start()
    async with linked(place, engine) as link:
        await until(link, is_listening)
        stopping = asyncio.create_task(stop_engine("s1", root=place.root))
        assert (await until(link, is_bye))[-1].exit_code == 0
    assert await stopping == "ended"
    assert await exit_code(engine) == 0


async def test_stop_forces_an_engine_whose_loop_is_blocked(place, monkeypatch):
    monkeypatch.setattr(stop, "GRACE_S", 0.3)
    engine = place.start()
    async with linked(place, engine) as link:
        await until(link, is_listening)
        await link.send(Command("c1", SendText(text="block")))
        assert await stop_engine("s1", root=place.root, patience_s=0.2) in ("terminated", "killed")
    assert await exit_code(engine) != 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGSTOP")
async def test_stop_continues_a_frozen_engine_which_then_ends_in_an_orderly_way(place, monkeypatch):
    monkeypatch.setattr(stop, "TELL_S", 0.0)
    monkeypatch.setattr(stop, "SILENCE_S", 0.2)
    monkeypatch.setattr(stop, "GRACE_S", PATIENCE_S)
    engine = place.start()
    pid = engine.process.pid
    async with linked(place, engine) as link:
        await until(link, is_listening)
        engine.process.send_signal(signal.SIGSTOP)
        await asyncio.to_thread(os.waitpid, pid, os.WUNTRACED)
        told: list[str] = []
        assert await stop_engine("s1", root=place.root, tell=told.append) == "terminated"
    assert told == [
        "s1 does not answer so far; waiting up to 0.2 s for it.",
        f"Sending SIGTERM to process {pid} of s1; in {PATIENCE_S} s it is killed.",
    ]
    assert await exit_code(engine) == 0
    (item,) = list_entries(place.data / "sessions")
    assert item.ended in ("stopped by gemini-live-tui stop", "asked to stop by SIGTERM")


async def test_an_engine_that_answers_gets_its_time_and_this_is_told(place, monkeypatch):
    monkeypatch.setattr(stop, "TELL_S", 0.0)
    monkeypatch.setattr(stop, "SILENCE_S", float(PATIENCE_S))
    engine = place.start(agent="clings")
    told: asyncio.Queue[str] = asyncio.Queue()
    async with linked(place, engine) as link, asyncio.timeout(PATIENCE_S):
        await until(link, is_listening)
        patience = float(PATIENCE_S)
        stopping = asyncio.create_task(stop_engine("s1", root=place.root, patience_s=patience, tell=told.put_nowait))
        assert await told.get() == f"s1 does not answer so far; waiting up to {PATIENCE_S} s for it."
        assert await told.get() == f"s1 was told to hang up; waiting up to {PATIENCE_S} s for its session to end."
        stopping.cancel()


async def test_stopping_an_engine_that_is_not_there_says_so(place):
    with pytest.raises(EngineError, match="There is no engine s9"):
        await stop_engine("s9", root=place.root)
    with pytest.raises(UsageError):
        await stop_engine("../s9", root=place.root)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")
async def test_a_hang_up_signal_ends_the_session_in_an_orderly_way(place):
    engine = place.start()
    async with linked(place, engine) as link:
        await until(link, is_listening)
        engine.process.send_signal(signal.SIGHUP)
        bye = (await until(link, is_bye))[-1]
    assert "asked to stop by SIGHUP" in bye.reason
    assert await exit_code(engine) == 0


async def test_a_signal_hangs_up_and_a_second_one_ends_at_once(place):
    engine = place.start(agent="clings")
    async with linked(place, engine) as link:
        await until(link, is_listening)
        engine.process.send_signal(signal.SIGTERM)
        await link.send(Command("c1", SendText(text="still alive")))
        await until(link, is_event(ev.TurnCompleted))
        engine.process.send_signal(signal.SIGTERM)
        bye = (await until(link, is_bye))[-1]
    assert "SIGTERM came twice" in bye.reason
    assert await exit_code(engine) == 1


async def test_what_python_and_c_code_print_becomes_log_events(place):
    engine = place.start()
    async with linked(place, engine) as link:
        await link.send(Command("c1", SendText(text="print")))
        logs: set[tuple[str, str]] = set()
        while len(logs) < 3:
            payload = (await until(link, is_event(ev.Log)))[-1].payload
            logs.add((payload.source, payload.text))
        assert logs == {("stdout", "printed by Python"), ("stdout", "written by C"), ("stderr", "warned by C")}


async def test_input_and_breakpoint_say_what_to_do_instead_of_waiting(place):
    engine = place.start()
    async with linked(place, engine) as link:
        await link.send(Command("c1", SendText(text="input")))
        messages = await until(link, is_event(ev.TurnCompleted))
        notices = [m.payload for m in messages if is_event(ev.Notice)(m)]
        while len(notices) < 2:
            notices.append((await until(link, is_event(ev.Notice)))[-1].payload)
        assert ["input()" in notices[0].text, "breakpoint()" in notices[1].text] == [True, True]
        assert "talk --plain" in notices[0].remedy


@pytest.mark.parametrize(
    ("agent", "code", "sentence"),
    [("unknown", 2, "There is no agent 'unknown'"), ("crashes", 1, "divides by zero"), ("breaks", 1, "script breaks")],
)
async def test_an_agent_that_cannot_start_ends_the_engine_with_a_sentence(place, agent, code, sentence):
    engine = place.start(agent=agent)
    async with linked(place, engine) as link:
        messages = await until(link, is_bye)
    snapshot = messages[1].view
    texts = [block.text for block in snapshot.blocks] + [m.payload.text for m in messages if is_event(ev.Notice)(m)]
    assert any(sentence in text for text in texts)
    assert messages[-1].exit_code == code
    assert await exit_code(engine) == code
    assert next(iter(read_journal(place.session))).type == "session.started"


async def test_an_engine_that_dies_before_its_door_opens_leaves_its_last_words(place):
    spec = EngineSpec(session_id="s1", data_dir=str(place.data))
    engine = start_engine(
        spec, root=place.root, program=(sys.executable, "-c", "import sys; sys.exit('the \\x1b[31mreason')")
    )
    place.started.append(engine)
    with pytest.raises(EngineError, match="the reason"):
        await connect("s1", engine=engine)
    assert not engine.folder.exists()


async def test_an_engine_on_tcp_needs_the_token_of_its_folder(place):
    engine = place.start("s1", "tcp")
    async with linked(place, engine) as link:
        await until(link, is_listening)
        token = json.loads((engine.folder / "door.json").read_text())["token"]
        assert len(bytes.fromhex(token)) * 8 == 256
        await link.send(Command("c1", HangUp()))
        await until(link, is_bye)


async def test_attaching_to_nothing_says_so(place):
    with pytest.raises(EngineError, match="There is no engine s1"):
        await connect("s1", root=place.root)


async def test_a_session_id_is_not_taken_twice(place):
    engine = place.start()
    async with linked(place, engine):
        with pytest.raises(EngineError, match="running already"):
            place.start()


def test_a_second_engine_of_a_session_does_not_wait_for_the_end_of_the_first(tmp_path, monkeypatch):
    # It would begin to listen to the microphone when nobody expects it.
    monkeypatch.setattr(registry, "_LOCK_STEP_S", 0.0)
    held = registry.take_lock(tmp_path)
    with pytest.raises(EngineError, match="is running already"):
        registry.take_lock(tmp_path)
    os.close(held)
    os.close(registry.take_lock(tmp_path))


def _ended_process() -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process


async def test_an_engine_that_could_not_take_its_place_leaves_that_of_the_first_alone(place):
    first = place.start()
    link = await connect("s1", engine=first)
    await link.close()
    late = await asyncio.to_thread(_ended_process)
    (first.folder / SOCKET_FILE).unlink()
    with pytest.raises(EngineError, match="ended before it could be reached"):
        await connect("s1", engine=EngineProcess("s1", first.folder, late))
    assert [info.session_id for info in list_engines(place.root)] == ["s1"]


async def test_a_fault_that_reaches_the_event_loop_is_told_and_logged(place):
    engine = place.start()
    async with linked(place, engine) as link:
        await link.send(Command("c1", SendText(text="raise later")))
        told = (await until(link, is_event(ev.Notice)))[-1].payload
        assert (told.level, told.code, told.text) == (
            "error",
            "internal",
            "A part of the engine failed: KeyError: 'a key'",
        )
        messages = await until(link, lambda m: is_event(ev.Log)(m) and "KeyError" in m.payload.text)
        assert any(is_event(ev.Log)(m) and "Traceback" in m.payload.text for m in messages)
