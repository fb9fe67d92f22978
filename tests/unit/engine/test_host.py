"""A session's life in its host, in process and on virtual time."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scripted_session import ScriptedSession, make_session

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.commands import Command, HangUp, SendText
from gemini_live_runtime.engine.host import DETACHED_S, HANG_UP_S, MAX_COMMANDS
from gemini_live_runtime.engine.in_process import in_process
from gemini_live_runtime.engine.link import Bye, LinkClosed
from gemini_live_runtime.engine.queue_link import QueueLink
from gemini_live_runtime.engine.spec import EngineSpec, new_session_id
from gemini_live_runtime.errors import EngineError, UsageError
from gemini_live_runtime.journal.recording.reader import read_journal


def spec(**fields: object) -> EngineSpec:
    return EngineSpec(session_id="s1", **{"record": "off", **fields})


async def rest(link: QueueLink) -> list[object]:
    found = []
    try:
        while True:
            found.append(await link.receive())
    except LinkClosed:
        return found


def test_an_engine_that_nobody_watches_hangs_up_after_its_linger_time():
    async def main() -> None:
        loop = asyncio.get_running_loop()
        engine = in_process(spec(linger_s=300.0), make_session)
        await asyncio.sleep(1000)
        assert not engine.host.hub.view.ended
        await engine.link.close()
        left = loop.time()
        assert await engine.wait() == 0
        assert loop.time() - left == pytest.approx(300, abs=1)
        assert engine.host.hub.view.ended == "no console for 5 min"

    run_virtual(main())


def test_an_engine_tells_how_long_it_is_alone_and_when_it_ends():
    async def main():
        engine = in_process(spec(linger_s=300.0), make_session)
        await asyncio.sleep(10)
        attached = engine.host.status()
        await engine.link.close()
        await asyncio.sleep(180)
        alone = engine.host.status()
        await engine.hang_up("done")
        return attached, alone

    attached, alone = run_virtual(main())
    assert (attached.consoles, attached.alone_s, attached.ends_in_s) == (1, None, None)
    assert (alone.consoles, alone.alone_s, alone.ends_in_s) == (0, 180.0, 120.0)


@pytest.mark.parametrize("how", ["command", "linger"])
def test_an_engine_with_tasks_goes_on_until_they_have_ended_or_it_is_hung_up(how: str):
    class Busy(ScriptedSession):
        def finish_tasks(self, reason: str) -> bool:
            self.left = reason
            return True

    async def main() -> None:
        engine = in_process(spec(linger_s=300.0), lambda *args: Busy(*args))
        await asyncio.sleep(1)
        if how == "command":
            await engine.link.send(Command("c1", HangUp(finish_tasks=True)))
        await engine.link.close()
        await asyncio.sleep(3600)
        assert not engine.host.hub.view.ended
        assert await engine.hang_up("stopped") == 0
        assert engine.host.hub.view.ended == "stopped"

    run_virtual(main())


def test_a_console_that_comes_back_in_time_keeps_the_engine():
    async def main() -> None:
        engine = in_process(spec(linger_s=300.0), make_session)
        await engine.link.close()
        await asyncio.sleep(290)
        link = engine.attach()
        await asyncio.sleep(1000)
        assert not engine.host.hub.view.ended
        await link.close()
        await engine.wait()

    run_virtual(main())


def test_a_session_is_told_when_nobody_has_watched_for_a_while_and_when_somebody_does_again():
    async def main() -> None:
        engine = in_process(spec(linger_s=300.0), make_session)
        await asyncio.sleep(0.1)
        told = engine.host._session.watchers
        told.clear()
        await engine.link.close()
        await asyncio.sleep(DETACHED_S - 1)
        link = engine.attach()
        await asyncio.sleep(DETACHED_S * 2)
        assert told == [True]
        await link.close()
        await asyncio.sleep(DETACHED_S + 0.1)
        assert told == [True, False]
        link = engine.attach()
        assert told == [True, False, True]
        await link.close()
        await engine.wait()
        assert told == [True, False, True, False]

    run_virtual(main())


def test_a_session_that_does_not_end_when_asked_is_cancelled():
    async def main() -> None:
        loop = asyncio.get_running_loop()
        engine = in_process(spec(agent="clings"), make_session)
        await asyncio.sleep(1)
        asked = loop.time()
        assert await engine.hang_up("enough") == 1
        assert loop.time() - asked == pytest.approx(HANG_UP_S, abs=0.1)
        assert "did not end within 10 s" in engine.host.hub.view.ended

    run_virtual(main())


def test_hanging_up_while_the_session_is_being_made_still_lets_it_begin_and_end():
    async def main() -> None:
        engine = in_process(spec(), make_session)
        await engine.link.send(Command("c1", HangUp(reason="at once")))
        assert await engine.wait() == 0
        names = [message.type for message in await rest(engine.link) if isinstance(message, ev.Event)]
        assert names[0] == "session.started"
        assert engine.host.hub.view.ended == "at once"

    run_virtual(main())


def test_commands_above_the_bound_and_after_the_end_are_refused_by_id():
    async def main() -> None:
        engine = in_process(spec(), make_session)
        for number in range(MAX_COMMANDS + 2):
            await engine.link.send(Command(f"c{number}", SendText(text="x")))
        await asyncio.sleep(1)
        await engine.hang_up("enough")
        engine.host.submit(Command("late", SendText(text="x")).to_line().encode())
        messages = await rest(engine.link)
        refused = [m.payload.command_id for m in messages if isinstance(m, ev.Event) and m.type == "command.refused"]
        assert refused == [f"c{MAX_COMMANDS}", f"c{MAX_COMMANDS + 1}"]
        assert engine.host.hub.view.blocks[-1].text == "The session is over."

    run_virtual(main())


def test_the_link_alone_keeps_the_engine_alive():
    async def main() -> None:
        link = in_process(spec(), make_session).link
        await asyncio.sleep(1)
        gc.collect()
        await link.send(Command("c1", HangUp()))
        assert isinstance((await rest(link))[-1], Bye)

    run_virtual(main())


async def test_a_folder_that_cannot_be_written_is_told_and_the_conversation_goes_on(tmp_path):
    (tmp_path / "sessions").write_text("in the way")
    engine = in_process(spec(record="audio", data_dir=str(tmp_path)), make_session)
    await engine.link.send(Command("c1", SendText(text="hello")))
    await engine.link.send(Command("c2", SendText(text="sound 100")))
    while engine.host.hub.view.turns_completed < 2:
        await engine.link.receive()
    assert await engine.hang_up("done") == 0
    notices = [block.text for block in engine.host.hub.view.blocks if block.kind == "notice"]
    assert len(notices) == 1
    assert engine.host.hub.view.record == "off"
    assert "cannot be written" in notices[0]


@pytest.mark.parametrize(("record", "sound"), [("text", set()), ("audio", {"user.wav", "model.wav"})])
async def test_what_is_recorded_is_what_was_asked_for(tmp_path, monkeypatch, record, sound):
    converted = []
    background = "gemini_live_runtime.engine.host.convert_in_background"
    monkeypatch.setattr(background, lambda *what: converted.append(what))
    engine = in_process(spec(record=record, data_dir=str(tmp_path)), make_session)
    await engine.link.send(Command("c1", SendText(text="sound 100")))
    while not engine.host.hub.view.turns_completed:
        await engine.link.receive()
    await engine.hang_up("done")
    assert set(os.listdir(tmp_path / "sessions" / "s1")) == {"events.jsonl", "spec.json", *sound}
    # Without tracks there is nothing to make FLAC of.
    assert converted == ([(tmp_path / "sessions", ("s1",))] if record == "audio" else [])
    assert list(read_journal(tmp_path / "sessions" / "s1"))[-1].payload.reason == "done"


async def test_nothing_is_written_when_recording_is_off(tmp_path):
    engine = in_process(spec(data_dir=str(tmp_path)), make_session)
    await engine.hang_up("done")
    assert os.listdir(tmp_path) == []


def test_a_session_id_that_could_leave_its_folder_is_refused():
    async def main() -> None:
        with pytest.raises(UsageError):
            in_process(EngineSpec(session_id="../x"), make_session)

    run_virtual(main())


def test_session_ids_sort_by_time_and_are_safe_names():
    first, second = new_session_id(1_700_000_000), new_session_id(1_700_000_001)
    assert first < second
    assert first.startswith("20231114-221320-")


def test_a_spec_round_trips_and_refuses_what_it_does_not_know():
    whole = EngineSpec(session_id="s1", trusted_hosts=("a", "b"), max_cost=1.5)
    assert EngineSpec.from_json(whole.to_json()) == whole
    with pytest.raises(EngineError, match="unknown field 'api_key'"):
        EngineSpec.from_json({"session_id": "s1", "api_key": "x"})
    with pytest.raises(EngineError, match="lacks session_id"):
        EngineSpec.from_json({})


def test_what_a_console_imports_to_start_an_engine_does_not_import_pydantic():
    code = (
        "import sys, gemini_live_runtime.engine.launch, gemini_live_runtime.engine.link, "
        "gemini_live_runtime.journal.fold.session_fold, gemini_live_runtime.engine.console_server\n"
        "heavy = {'pydantic', 'numpy', 'websockets', 'httpx', 'textual'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(ev.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_events_missing_in_the_file_and_values_cut_are_told_before_the_goodbye(tmp_path):
    async def main() -> None:
        engine = in_process(spec(record="text", data_dir=str(tmp_path)), make_session)
        await asyncio.sleep(1)
        engine.host.hub.journal.lost_events = 3
        engine.host.hub.values_cut = 2
        await engine.hang_up("enough")
        messages = await rest(engine.link)
        assert isinstance(messages[-1], Bye)
        told = [m.payload.text for m in messages if isinstance(m, ev.Event) and m.type == "notice"]
        assert told == [
            "3 events are missing in the session file.",
            "2 values were too large for an event and were cut.",
        ]

    run_virtual(main())
