"""Run the program as users do: with pipes, signals, a terminal and an engine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.command_line import CONTROL, run
from tests.support.fake_live_server import FakeLiveServer, answers, says
from tests.support.patience import PATIENCE_S
from tests.support.pseudo_terminal import PseudoTerminal

from gemini_live_runtime import paths
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.sessions.catalog import list_entries

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "gemini_live_tui"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, signals and terminals of POSIX")


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join(str(ROOT / part) for part in ("tui", "runtime"))
    return {**os.environ, "PYTHONPATH": path, **more}


def start(*arguments: str, **options: object) -> subprocess.Popen[str]:
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*PROGRAM, *arguments], text=True, env=environment(), **streams)  # type: ignore[call-overload,no-any-return]


def wait_for_line(process: subprocess.Popen[str], beginning: str | tuple[str, ...]) -> list[str]:
    """Lines of its output up to the first that begins so."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if line.startswith(beginning):
            return lines
    raise AssertionError(f"{beginning!r} never came: {lines} {process.stderr.read() if process.stderr else ''}")


@pytest.fixture
def server() -> Iterator[FakeLiveServer]:
    with FakeLiveServer(answers(says("Good day."))) as fake:
        yield fake


# -- pipes and signals -----------------------------------------------------------------------------------------------


def test_talk_ends_when_nobody_reads_on_and_closes_its_journal(server: FakeLiveServer) -> None:
    process = start("talk", "--backend", server.url, "--devices", "--timeout", f"{2 * PATIENCE_S}")
    wait_for_line(process, "session:")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(PATIENCE_S) == 1
    assert process.stderr is not None
    assert process.stderr.read() == ""
    (session,) = list_entries(paths.sessions_dir())
    assert session.ended == "the output cannot be written"


@pytest.mark.parametrize("stdin", ["terminal-like", "nothing"])
def test_ctrl_c_ends_a_talk_at_once_with_130(stdin: str, server: FakeLiveServer) -> None:
    waiting = {"stdin": subprocess.PIPE} if stdin == "terminal-like" else {}
    texts = () if waiting else ("--devices",)
    process = start("talk", "--backend", server.url, "--timeout", f"{2 * PATIENCE_S}", *texts, **waiting)
    # Which of the two depends on whether this machine has a microphone.
    wait_for_line(process, ("state: text", "state: listening"))
    process.send_signal(signal.SIGINT)
    # Half of the time after which it would end by itself.
    assert process.wait(PATIENCE_S) == 130
    assert process.stderr is not None
    assert process.stderr.read() == "gemini-live-tui: Interrupted by SIGINT.\n"
    (session,) = list_entries(paths.sessions_dir())
    assert session.ended == "interrupted"
    assert list(read_journal(paths.sessions_dir() / session.id))[-1].type == "session.ended"
    if process.stdin is not None:
        process.stdin.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full stands for a full disk")
def test_a_full_disk_under_the_output_is_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        process = start("schema", stdout=full)
        _, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert error == (
        "gemini-live-tui: The output cannot be written: No space left on device. "
        "Free some space, or send it elsewhere.\n"
    )


def test_a_terminal_that_knows_only_ascii_gets_everything_spelled_out(server: FakeLiveServer) -> None:
    ended = subprocess.run(
        [*PROGRAM, "talk", "--backend", server.url, "--text", "naïve ☕", "--record", "off"],
        env=environment(PYTHONIOENCODING="ascii"),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "user: na\\xefve \\u2615" in ended.stdout


@pytest.mark.parametrize("form", ["--json", "--plain"])
def test_a_closed_standard_output_does_not_feed_a_conversation_its_own_lines(server: FakeLiveServer, form: str) -> None:
    talk = ["talk", "--backend", server.url, "--text", "hello", form, "--record", "off", "--timeout", f"{PATIENCE_S}"]
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, *talk],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_tool_that_never_comes_back_does_not_hold_up_the_end(tmp_path: Path) -> None:
    agent = tmp_path / "stuck.py"
    agent.write_text(
        "import time\nfrom gemini_live_runtime import Agent, tool\n\n@tool\ndef get_weather(city: str) -> dict:\n"
        "    'Weather.'\n    time.sleep(3600)\n\n"
        "agent = Agent(name='a', instruction='x', tools=[get_weather], local_model='local-concierge')\n"
    )
    arguments = (
        "--backend",
        "local",
        "--text",
        "what is the weather in Lisbon",
        "--record",
        "off",
        "--timeout",
        f"{2 * PATIENCE_S}",
    )
    process = start("talk", f"{agent}:agent", *arguments)
    wait_for_line(process, "state: thinking")
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 143


# -- shells ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_scripts(shell: str) -> None:
    script = run("completion", shell)
    assert (script.code, script.err) == (0, "")
    assert "_GEMINI_LIVE_TUI_COMPLETE" in script.out
    if shutil.which(shell) is None:
        return
    options = ["--no-execute"] if shell == "fish" else ["-n"]
    checked = subprocess.run([shell, *options], input=script.out, capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_bash_completes_commands_and_options() -> None:
    python = f"{sys.executable} -m gemini_live_tui"
    program = f"""
set -eu
gemini-live-tui() {{ {python} "$@"; }}
source <(gemini-live-tui completion bash)
complete -p gemini-live-tui
"""
    sourced = subprocess.run(["bash", "-c", program], env=environment(), capture_output=True, text=True)
    assert (sourced.returncode, sourced.stderr) == (0, "")
    assert "_gemini_live_tui_completion" in sourced.stdout

    def completed(words: str) -> set[str]:
        asked = environment(
            _GEMINI_LIVE_TUI_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1)
        )
        ended = subprocess.run(PROGRAM, env=asked, capture_output=True, text=True)
        assert ended.stderr == ""
        return {line.removeprefix("plain,") for line in ended.stdout.splitlines()}

    assert completed("gemini-live-tui se") == {"sessions", "serve-local"}
    assert "--record" in completed("gemini-live-tui talk --re")


# -- the embedded server ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_local_says_where_it_listens_and_ends_on_a_signal(number: signal.Signals) -> None:
    process = start("serve-local")
    (line,) = wait_for_line(process, "{")
    assert json.loads(line)["url"].startswith("ws://127.0.0.1:")
    process.send_signal(number)
    assert process.wait(PATIENCE_S) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""


# -- a terminal and an engine ----------------------------------------------------------------------------------------


def console(*arguments: str) -> str:
    return f"from gemini_live_tui.cli import main; code = main({list(arguments)!r}); print('OUTCOME', code)"


def test_a_console_its_engine_ps_stop_and_what_is_left() -> None:
    with PseudoTerminal(console("demo", "--no-sound")) as terminal:
        terminal.read_until(b"Lisbon")
        listed = subprocess.run([*PROGRAM, "ps", "--json"], env=environment(), capture_output=True, text=True)
        (engine,) = [json.loads(line) for line in listed.stdout.splitlines()]
        assert (engine["agent"], engine["backend"]) == ("concierge", "local")
        stopped = subprocess.run([*PROGRAM, "stop"], env=environment(), capture_output=True, text=True)
        assert (stopped.returncode, stopped.stdout) == (0, f"Ended {engine['session_id']}.\n")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME 0")
        assert b"Traceback" not in terminal.seen
    assert subprocess.run([*PROGRAM, "ps"], env=environment(), capture_output=True, text=True).stdout == (
        "No engine is running.\n"
    )
    (session,) = list_entries(paths.sessions_dir())
    assert session.id == engine["session_id"]
    replayed = subprocess.run(
        [*PROGRAM, "replay", session.id, "--plain"], env=environment(), capture_output=True, text=True
    )
    assert "session: ended" in replayed.stdout
    assert CONTROL.findall(replayed.stdout) == []


CANNOT_BEGIN = {
    ("demo", "--theme", "nope"): b"There is no theme 'nope'",
    ("demo", "nosuch"): b"There is no agent 'nosuch'",
    ("run", "nowhere.py:agent", "--backend", "local"): b"There is no file nowhere.py",
    ("replay", "nope"): b"There is no session or file 'nope'",
    ("attach",): b"No engine is running",
}


def test_what_cannot_begin_says_so_without_opening_a_screen() -> None:
    with PseudoTerminal("\n".join(console(*arguments) for arguments in CANNOT_BEGIN)) as terminal:
        for sentence in CANNOT_BEGIN.values():
            assert sentence in terminal.read_until(b"OUTCOME")
    assert b"\x1b[" not in terminal.seen
    assert b"Traceback" not in terminal.seen


def test_a_terminal_too_small_says_so_and_still_quits() -> None:
    with PseudoTerminal(console("demo", "--no-sound"), size=(30, 8)) as terminal:
        terminal.read_until(b"too s")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME 0")
        assert b"Traceback" not in terminal.seen
