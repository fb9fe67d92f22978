"""Exit codes of a real `talk` say what is missing, like the list and a replay."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import run
from tests.support.fake_live_server import (
    TURN_COMPLETE,
    Behaviour,
    FakeLiveServer,
    accept_setup,
    answers,
    next_text,
    says,
    send,
)
from tests.support.patience import PATIENCE_S
from websockets.asyncio.server import ServerConnection

from gemini_live_runtime import paths
from gemini_live_runtime.journal.completion.missing_parts import EXIT_CODES
from gemini_live_runtime.journal.recording.reader import read_journal

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "gemini_live_tui"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

AGENT = """
import asyncio
from gemini_live_runtime import Agent, tool

@tool(timeout_s=3600)
async def get_weather(city: str) -> dict:
    "Weather."
    await asyncio.sleep(3600)

agent = Agent(name="a", instruction="x", tools=[get_weather])
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("tui", "runtime"))}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*PROGRAM, *arguments], text=True, env=environment, **pipes)  # type: ignore[call-overload,no-any-return]


def talk(url: str, *options: str) -> tuple[int, list[str], str]:
    """Run a conversation of one text; its exit code, lines and standard error."""
    once = ("--reconnect-for", "0", "--record", "text", "--detail", "talk")
    process = start("talk", *options, "--backend", url, "--text", "hello", *once)
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out.splitlines(), err


def talk_long_enough(url: str, agent: str) -> tuple[int, list[str], str]:
    """Run a talk that ends by itself, or by its time, but not before its tool call."""
    seconds = 3
    while True:
        ended = talk(url, agent, "--timeout", f"{seconds}")
        events = [event.type for folder in paths.sessions_dir().glob("*") for event in read_journal(folder)]
        if "did not end within" not in ended[2] or "tool.finished" in events:
            return ended
        shutil.rmtree(paths.sessions_dir(), ignore_errors=True)
        seconds *= 2


def listed() -> dict[str, Any]:
    """Return the only session of the list, as JSON."""
    (line,) = run("sessions", "list", "--json").out.splitlines()
    return json.loads(line)  # type: ignore[no-any-return]


def last_line_of_a_replay() -> str:
    return run("replay", "--plain", "--detail", "talk", listed()["id"]).out.splitlines()[-1]


def test_a_complete_talk_is_complete_everywhere() -> None:
    with FakeLiveServer(answers(says("Good day."))) as server:
        code, lines, err = talk(server.url)
    assert (code, err) == (0, "")
    assert listed()["missing"] == []
    assert last_line_of_a_replay() == lines[-1] == "session: ended, input ended"


async def _leaves(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    await send(socket, says("Good "))
    await socket.close(1011, "")


async def _calls(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    await send(socket, says("I look it up."), {"toolCall": {"functionCalls": [CALL]}})
    await socket.wait_closed()


CALL = {"id": "f1", "name": "get_weather", "args": {"city": "Lisbon"}}

INCOMPLETE: dict[str, tuple[Behaviour, list[str], str]] = {
    "a link that was given up": (_leaves, ["links"], "the connection was given up"),
    "a text without an answer": (answers(says("")), ["deliveries", "output"], "1 text has no answer"),
    "a call that still runs": (_calls, ["deliveries"], "1 tool call was cut off by the end"),
    "no word at all": (answers({"toolCall": {"functionCalls": [CALL | {"name": "none"}]}}), ["output"], "said nothing"),
}


@pytest.mark.parametrize("case", INCOMPLETE)
def test_what_is_missing_is_in_the_exit_code_the_last_line_the_list_and_a_replay(case: str, tmp_path: Path) -> None:
    behaviour, parts, words = INCOMPLETE[case]
    (tmp_path / "slow.py").write_text(AGENT)
    with FakeLiveServer(behaviour) as server:
        code, lines, err = talk_long_enough(server.url, f"{tmp_path / 'slow.py'}:agent")
    assert code == EXIT_CODES[parts[0]], (lines, err)  # type: ignore[index]
    assert err.count("\n") == 1
    assert lines[-1].startswith(f"session: incomplete: {parts[0]} (")
    assert words in lines[-1]
    assert listed()["missing"] == parts
    assert last_line_of_a_replay() == lines[-1]


def test_a_recording_that_cannot_be_made_is_the_missing_part() -> None:
    paths.private_dir(paths.sessions_dir().parent)
    paths.sessions_dir().write_text("not a folder")
    with FakeLiveServer(answers(says("Good day."))) as server:
        code, lines, err = talk(server.url)
    assert code == EXIT_CODES["journal"]
    assert lines[-1] == "session: incomplete: journal (the session could not be recorded: Not a directory)"
    assert "--record off" in err


def test_a_killed_talk_lacks_its_end_in_the_list_and_in_a_replay() -> None:
    async def begins(socket: ServerConnection) -> None:
        await accept_setup(socket)
        await next_text(socket)
        await send(socket, says("Good "), says("day. "), TURN_COMPLETE, says("And then"))
        await socket.wait_closed()

    with FakeLiveServer(begins) as server:
        process = start("talk", "--backend", server.url, "--text", "hello", "--text", "and now?", "--record", "text")
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("model:"):
                break
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
    found = listed()
    assert found["ended"] == "broken off"
    assert found["missing"][:2] == ["ending", "links"]
    assert found["missing"][-1] == "journal"
    assert last_line_of_a_replay().startswith("session: incomplete: ending (the recording breaks off before the end)")
