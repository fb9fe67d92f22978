"""Usage errors: a sentence with the fault and the remedy, and exit code 2."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.command_line import run

from gemini_live_runtime import paths
from gemini_live_runtime.engine import registry, stop
from gemini_live_runtime.engine.registry import EngineInfo
from gemini_live_tui.cli import main
from gemini_live_tui.cli.command_line import COMMANDS

EVERY_COMMAND = [
    (),
    *((name,) for name in COMMANDS),
    ("sessions", "list"),
    ("sessions", "purge"),
    ("config", "show"),
    ("config", "path"),
    ("config", "set"),
]


@pytest.mark.parametrize("command", EVERY_COMMAND, ids=" ".join)
def test_help_says_what_a_command_does_and_every_option_of_it(command: tuple[str, ...]) -> None:
    ended = run(*command, "--help")
    assert ended.code == 0
    assert ended.err == ""
    assert ended.out.startswith("Usage: gemini-live-tui")
    assert max(map(len, ended.out.splitlines())) <= 100
    summary = ended.out.split("\n\n")[1].strip()
    assert len(summary) > 10
    assert summary[0].isupper()
    options = [line for line in ended.out.splitlines() if line.startswith("  -")]
    assert options
    for placeholder in ("TEXT ", "INTEGER", "FLOAT", "PATH"):
        assert not any(f" {placeholder}" in line.replace("--text TEXT", "") for line in options), placeholder
    assert run(*command, "-h").out == ended.out


WRONG = {
    "an unknown command": (("frobnicate",), "Unknown command 'frobnicate'", "--help"),
    "a misspelt command": (("tlak",), "Unknown command 'tlak'", "Did you mean talk?"),
    "an unknown option": (("talk", "--nonsense"), "--nonsense", "talk --help"),
    "an option before its command": (("--model", "x", "talk"), "Options of talk", "after its name"),
    "debug after the command": (("talk", "--debug"), "--debug", "gemini-live-tui --debug COMMAND"),
    "too many arguments": (("talk", "a", "b"), "b", "talk --help"),
    "a timeout of words": (("talk", "--timeout", "soon"), "--timeout", "soon"),
    "a timeout of nothing": (("talk", "--timeout", "0"), "--timeout is 0", "above 0"),
    "a timeout that is no number": (("talk", "--timeout", "nan"), "--timeout is nan", "above 0"),
    "an empty text": (("talk", "--text", " "), "--text is empty", "a text to send"),
    "a text without end": (("talk", "--text", "x" * 100_001), "100001 characters", "several times"),
    "devices and files": (("talk", "--devices", "--mic", "x.wav"), "--devices or WAV files", "not both"),
    "hurried devices": (("talk", "--devices", "--fast"), "--fast", "Leave out"),
    "hurrying somebody else's server": (
        ("talk", "--fast", "--backend", "ws://127.0.0.1:1", "--text", "x"),
        "--fast",
        "--backend local",
    ),
    "a negative limit": (("talk", "--max-minutes", "-1"), "limits.max_minutes", "0 (no limit) or above"),
    "a limit that is no number": (("talk", "--max-cost", "nan"), "limits.max_cost", "must be a number"),
    "an unknown way to record": (("talk", "--record", "video"), "--record", "audio"),
    "an unknown backend": (("talk", "--backend", "openai"), "backend is 'openai'", "wss:// URL"),
    "an empty backend": (("talk", "--backend", "", "--text", "x"), "--backend is empty", "Give NAME|URL"),
    "a web address": (("talk", "--backend", "http://x"), "backend is 'http://x'", "wss:// URL"),
    "a URL without a host": (("talk", "--backend", "ws://", "--text", "x"), "'ws://'", "ws://127.0.0.1:port"),
    "a URL with an impossible port": (
        ("talk", "--backend", "ws://127.0.0.1:99999", "--text", "x"),
        "not a WebSocket URL",
        "wss://host/path",
    ),
    "an unknown API version": (
        ("talk", "--backend", "ws://127.0.0.1:1", "--api-version", "v9", "--text", "x"),
        "api_version is 'v9'",
        "v1beta",
    ),
    "an unknown agent": (("talk", "conciarge", "--text", "x"), "'conciarge'", "Did you mean concierge?"),
    "an agent's file without the agent": (("talk", "agent.py", "--text", "x"), "agent.py", "agent.py:agent"),
    "an agent's file that is not there": (("talk", "nowhere.py:agent", "--text", "x"), "nowhere.py", "Check the path"),
    "a script that is not there": (("talk", "--backend", "local", "--script", "no.toml"), "no.toml", "Check the path"),
    "a script for somebody else's server": (
        ("talk", "--backend", "ws://127.0.0.1:1", "--script", "x.toml", "--text", "x"),
        "script",
        "--backend local",
    ),
    "a microphone file that is not there": (("talk", "--mic", "no.wav"), "no.wav", "readable WAV file"),
    "a folder as the microphone": (("talk", "--mic", "."), ". cannot be opened", "readable WAV file"),
    "a speaker file in no folder": (("talk", "--speaker", "no/where.wav", "--text", "x"), "no/where.wav", "folder"),
    "a speaker file that cannot be made": (("talk", "--speaker", "/proc/x.wav", "--text", "x"), "/proc/x.wav", "path"),
    "no key for Gemini": (("talk", "--backend", "gemini", "--text", "x"), "No Gemini API key", "GEMINI_API_KEY"),
    "an agent of one's own without a key": (("run", "mine:agent"), "No Gemini API key", "--backend local"),
    "an agent's file that is not there, without a key": (("run", "nowhere.py:agent"), "nowhere.py", "Check the path"),
    "a bundled agent in other letters, without a terminal": (("demo", "Debt-Collection"), "terminal", "talk --plain"),
    "nothing to replay": (("replay",), "SESSION|FILE", "replay --help"),
    "a session that is not there": (("replay", "nope"), "'nope'", "sessions list"),
    "an empty session": (("replay", ""), "SESSION is empty", "sessions list"),
    "an empty session to export": (("export", ""), "SESSION is empty", "sessions list"),
    "two forms at once": (("replay", "x", "--plain", "--json"), "--plain or --json", "not both"),
    "times without lines": (("replay", "x", "--times"), "--times", "--plain"),
    "a speed out of range": (("replay", "x", "--speed", "0"), "--speed is 0", "0.01 to 1000"),
    "a purge of nothing": (("sessions", "purge"), "Say what to purge", "--all"),
    "a purge of everything twice": (("sessions", "purge", "x", "--all"), "Say what to purge", "--older-than AGE"),
    "an age that is none": (("sessions", "purge", "--older-than", "old", "--yes"), "'old'", "30d"),
    "a purge without a terminal": (("sessions", "purge", "--all"), "no terminal", "--yes"),
    "an unknown subcommand": (("sessions", "burn"), "burn", "sessions --help"),
    "stopping one and all": (("stop", "x", "--all"), "a session or --all", "not both"),
    "a port that does not exist": (("serve-local", "--port", "65536"), "Port 65536", "0 to 65535"),
    "a port of words": (("serve-local", "--port", "http"), "--port", "http"),
    "somebody else's address": (("serve-local", "--host", "192.0.2.1"), "192.0.2.1", "--host"),
    "an end before the beginning": (("serve-local", "--go-away-after", "-3"), "-3", "above 0"),
    "an unknown fault": (("serve-local", "--fault", "quota,outtage"), "'outtage'", "Use outage"),
    "an unknown option in config": (("config", "set", "ui.them", "x"), "'ui.them'", "Did you mean ui.theme?"),
    "an unknown shell": (("completion", "powershell"), "powershell", "bash"),
    "no recording to show": (("replay",), "SESSION|FILE", "gemini-live-tui sessions lists them"),
    "no recording to delete": (("sessions", "delete"), "SESSION...", "gemini-live-tui sessions lists them"),
    "no shell": (("completion",), "bash|zsh|fish", "completion --help"),
    "the console without a terminal": ((), "needs a terminal", "talk --plain"),
    "the demo without a terminal": (("demo",), "needs a terminal", "talk --plain"),
    "attaching without a terminal": (("attach",), "needs a terminal", "talk --plain"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_command_line_gets_one_sentence_with_field_and_remedy(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, what, remedy = WRONG[case]
    ended = run(*arguments)
    assert ended.code == 2, ended
    assert what in ended.sentence
    assert remedy in ended.sentence
    assert ended.out == ""
    assert "Traceback" not in ended.err
    # It is refused before a session begins.
    assert not [*paths.sessions_dir().glob("*")]


@pytest.mark.parametrize("command", [("stop",), ("stop", "x"), ("stop", "../x")])
def test_without_an_engine_there_is_nothing_to_stop(command: tuple[str, ...]) -> None:
    ended = run(*command)
    assert ended.code == 1
    assert "No engine is running" in ended.sentence
    assert "gemini-live-tui demo" in ended.sentence


def test_of_several_engines_each_is_named_with_its_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = [
        EngineInfo(session_id=name, pid=1, agent=agent, backend="local", started=1.0, program="p")
        for name, agent in (("a1", "clinic"), ("a2", "x"))
    ]
    monkeypatch.setattr(registry, "list_engines", lambda: engines)
    assert "2 engines are running. Name one of a1 (clinic), a2 (x)" in run("stop").sentence


def test_stop_says_what_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stop_engine(name: str, *, tell: Callable[[str], None]) -> str:
        tell(f"{name} does not answer so far.")
        return "killed"

    info = EngineInfo(session_id="s1", pid=1, agent="a", backend="b", started=1.0, program="p")
    monkeypatch.setattr(registry, "list_engines", lambda: [info])
    monkeypatch.setattr(stop, "stop_engine", stop_engine)
    ended = run("stop")
    assert (ended.code, ended.err, ended.out) == (0, "s1 does not answer so far.\n", "Killed s1.\n")


def test_listing_nothing_is_no_error() -> None:
    assert run("ps").out == "No engine is running.\n"
    assert run("stop", "--all").out == "No engine is running.\n"
    assert run("sessions").out == "No session is recorded.\n"


BAD_KEYS = {
    "too short": ("short", "wrong shape"),
    "in quotation marks": ("'AIzaSyA-0123456789-0123456789'", "quotation marks"),
    "of another provider": ("sk-0123456789012345678901234567890", "another provider"),
    "an access token": ("ya29.0123456789012345678901234567890", "backend vertex"),
    "with a newline in it": ("AIzaSyA-0123456789\n0123456789", "wrong shape"),
}


@pytest.mark.parametrize("case", BAD_KEYS)
def test_a_key_that_cannot_be_one_is_refused_without_being_shown(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key, words = BAD_KEYS[case]
    monkeypatch.setenv("GEMINI_API_KEY", key)
    ended = run("talk", "--backend", "gemini", "--text", "x")
    assert ended.code == 2
    assert words in ended.sentence
    assert "GEMINI_API_KEY" in ended.sentence
    assert key not in ended.sentence


def test_tracebacks_are_for_those_who_ask_for_them(tmp_path: Path) -> None:
    agent = tmp_path / "broken.py"
    agent.write_text("import os\n\ndef helper():\n    raise RuntimeError('the \\x1b[31mreason')\n\nhelper()\n")
    arguments = ("talk", f"{agent}:agent", "--text", "x", "--record", "off")
    plain = run(*arguments)
    assert plain.code == 2
    assert "broken.py:4" in plain.sentence
    debug = run("--debug", *arguments)
    assert debug.code == 2
    assert "Traceback (most recent call last)" in debug.err
    assert f'File "{agent}", line 6, in <module>' in debug.err
    assert debug.err.splitlines()[-1] == plain.err.splitlines()[-1]
    assert debug.control == []


def test_an_internal_error_is_a_sentence_that_names_debug(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("gemini_live_runtime.engine.registry.list_engines", broken)
    ended = run("ps")
    assert ended.code == 1
    assert "ZeroDivisionError: a bug" in ended.sentence
    assert "--debug" in ended.sentence
    assert "Traceback" in run("--debug", "ps").err


def test_every_command_of_the_table_can_be_imported_and_is_called_so() -> None:
    from gemini_live_tui.cli.command_line import cli

    for name in COMMANDS:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert command.name == name
        assert command.help


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_what_a_terminal_cannot_show_is_escaped(errors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # As with LC_ALL=C, where Python passes on what it could not decode.
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(raw, encoding="ascii", errors=errors, write_through=True))
    assert main(["ürgh"]) == 2
    assert rb"\xfcrgh" in raw.getvalue()


@pytest.mark.skipif(os.name != "posix", reason="named pipes are made by mkfifo")
@pytest.mark.parametrize("option", ["--mic", "--speaker"])
def test_a_named_pipe_is_refused_instead_of_waited_for(option: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.wav"
    os.mkfifo(pipe)
    ended = run("talk", option, str(pipe), "--record", "off")
    assert ended.code == 2
    assert str(pipe) in ended.sentence
