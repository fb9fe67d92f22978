"""Files are private under any umask, and unrecorded sessions write none."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.command_line import run
from tests.support.fake_live_server import FakeLiveServer

from gemini_live_runtime import paths
from gemini_live_runtime.commands import Command, SendText
from gemini_live_runtime.engine import launch
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.engine.stop import stop_engine

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")

TALK = ("talk", "--backend", "local", "--fast", "--text", "what time is it")


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    """Everything below `folder` that anybody but its owner may touch."""
    found = []
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            continue
        if stat.S_IMODE(mode) != (0o700 if stat.S_ISDIR(mode) else 0o600):
            found.append(f"{path.relative_to(folder)} {stat.filemode(mode)}")
    return found


def kinds(folder: Path) -> set[str]:
    # The sound library of espeak-ng creates an empty folder.
    return {path.name for path in folder.rglob("*")} - {"pulse"}


def test_sessions_and_settings_are_private_under_any_umask(no_umask: None, nobodys_home: Path) -> None:
    assert run(*TALK).code == 0
    assert run("config", "set", "ui.fps", "10").code == 0
    assert {"events.jsonl", "config.toml"} <= kinds(nobodys_home)
    assert kinds(nobodys_home) & {"model.wav", "model.flac"}
    assert readable_by_others(nobodys_home) == []


def test_the_sound_of_an_answer_is_private_under_any_umask(no_umask: None, tmp_path: Path) -> None:
    assert run(*TALK, "--speaker", str(tmp_path / "answer.wav")).code == 0
    assert stat.S_IMODE((tmp_path / "answer.wav").stat().st_mode) == 0o600


async def test_an_engines_folder_door_and_session_are_private_under_any_umask(
    no_umask: None, nobodys_home: Path
) -> None:
    with FakeLiveServer() as server:
        engine = launch.start_engine(EngineSpec(session_id="s1", backend=server.url, audio="none", mode="text"))
        try:
            link = await launch.connect("s1", engine=engine)
            await link.send(Command("c1", SendText(text="hello")))
            seen: set[str] = set()
            while not {"door", "engine.json", "spec.json", "engine.lock", "events.jsonl"} <= seen:
                # Another process creates them, so poll.
                await asyncio.sleep(0.01)
                seen |= kinds(nobodys_home)
                assert engine.process.poll() is None
            assert readable_by_others(nobodys_home) == []
            await link.close()
            assert await stop_engine("s1") == "ended"
            assert readable_by_others(nobodys_home) == []
            assert kinds(paths.runtime_dir()) == set()
        finally:
            engine.process.kill()
            await asyncio.to_thread(engine.process.wait)


def test_a_config_file_that_was_open_to_all_is_private_once_it_is_set(no_umask: None) -> None:
    path = paths.private_dir(paths.config_dir()) / "config.toml"
    path.write_text("[ui]\nfps = 10\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o666
    assert run("config", "set", "ui.fps", "12").code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_in_the_place_of_a_journal_is_not_followed(tmp_path: Path, nobodys_home: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    paths.private_dir(paths.data_dir())
    paths.sessions_dir().symlink_to(outside)
    run(*TALK)
    # The folder may be a symbolic link; its files are private all the same.
    assert readable_by_others(outside) == []


@pytest.mark.parametrize("options", [("--record", "off"), ("--record", "off", "--json")])
def test_recording_off_writes_nothing(options: tuple[str, ...], nobodys_home: Path) -> None:
    before = kinds(nobodys_home)
    assert run(*TALK, *options).code == 0
    assert kinds(nobodys_home) == before


def test_recording_text_keeps_no_sound(nobodys_home: Path) -> None:
    assert run(*TALK, "--record", "text").code == 0
    assert not [name for name in kinds(nobodys_home) if name.endswith(".wav")]
    assert "events.jsonl" in kinds(nobodys_home)
