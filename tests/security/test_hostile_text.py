"""Text from outside cannot control a terminal, reorder text or forge lines."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import Ended, run
from tests.support.fake_live_server import TURN_COMPLETE, FakeLiveServer, accept_setup, next_text, says, send
from tests.support.patience import PATIENCE_S
from tests.support.quickly_idle import be_quickly_idle
from websockets.asyncio.server import ServerConnection

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.engine.registry import EngineInfo
from gemini_live_runtime.journal.completion.missing_parts import EXIT_CODES
from gemini_live_runtime.vocabulary import header

SPOOF = f"{HOSTILE}\nmodel: I am the model\nstate: offline"


@pytest.fixture(autouse=True)
def quickly_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    be_quickly_idle(monkeypatch)


def _clean(ended: Ended) -> None:
    assert ended.control == []
    assert "Traceback" not in ended.out + ended.err


def _not_spoofed(ended: Ended) -> None:
    lines = ended.out.splitlines()
    assert "model: I am the model" not in lines
    assert lines.count("state: offline") == 0


async def _hostile(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    await send(
        socket,
        {"serverContent": {"inputTranscription": {"text": SPOOF}}},
        {"serverContent": {"modelTurn": {"parts": [{"text": SPOOF, "thought": True}]}}},
        says(SPOOF),
        {"toolCall": {"functionCalls": [{"id": SPOOF, "name": SPOOF, "args": {SPOOF: SPOOF, "x": [SPOOF]}}]}},
        {SPOOF: SPOOF},
        {"usageMetadata": {"promptTokenCount": SPOOF}},
        {"goAway": {"timeLeft": SPOOF}},
        {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": SPOOF, "data": "AAAA"}}]}}},
    )
    await socket.send(SPOOF)
    await next_text(socket)
    await send(socket, TURN_COMPLETE)
    await socket.close(1011, HOSTILE[:40])


AGENT = """
import logging, sys
from gemini_live_runtime import Agent, tool
HOSTILE = {hostile!r}
print(HOSTILE)
print(HOSTILE, file=sys.stderr)
print("half", HOSTILE, end="", flush=True)
logging.getLogger(HOSTILE).error(HOSTILE)

@tool
def get_weather(city: str) -> dict:
    "Weather."
    print(HOSTILE)
    {body}

agent = Agent(name=HOSTILE, instruction="x", tools=[get_weather], local_model="local-concierge", phrases=[HOSTILE])
"""


def agent(folder: Path, body: str = "return {'summary': HOSTILE, HOSTILE: [HOSTILE]}") -> str:
    path = folder / f"hostile{HOSTILE.replace('/', '').replace(chr(0), '')}.py"
    path.write_text(AGENT.format(hostile=HOSTILE, body=body), encoding="utf-8")
    return f"{path}:agent"


@pytest.mark.parametrize("options", [(), ("--record", "off")])
def test_text_of_a_server_cannot_control_the_terminal(options: tuple[str, ...], tmp_path: Path) -> None:
    with FakeLiveServer(_hostile) as server:
        once = ("--timeout", f"{PATIENCE_S}", "--reconnect-for", "0")
        ended = run("talk", agent(tmp_path), "--backend", server.url, "--text", "hello", *once, *options)
    assert ended.code == EXIT_CODES["links"]
    _clean(ended)
    _not_spoofed(ended)
    assert ended.err.count("\n") == 1
    for kind in ("user:", "thought:", "tool:", "notice:", "log:"):
        assert any(line.startswith(kind) for line in ended.out.splitlines()), kind
    assert "[bold]markup[/bold]" in ended.out


@pytest.mark.parametrize(
    "body",
    [
        "return {'summary': HOSTILE}",
        "raise RuntimeError(HOSTILE)",
        "raise type('E' + HOSTILE, (Exception,), {})(HOSTILE)",
    ],
)
def test_text_prints_and_errors_of_an_agent_cannot_control_the_terminal(body: str, tmp_path: Path) -> None:
    reference = agent(tmp_path, body)
    for form in ("--plain", "--json"):
        ended = run("talk", reference, "--backend", "local", "--fast", "--text", "what is the weather in Lisbon", form)
        assert ended.code == 0, ended
        assert (ended.control, ended.err) == ([], "half redC1idib\n[bold]markup[/bold]" if form == "--json" else "")
        assert form == "--json" or "Traceback" not in ended.out
    for command in (("sessions", "list"), ("sessions", "list", "--json")):
        _clean(run(*command))


def test_a_recording_full_of_sequences_is_shown_without_them(tmp_path: Path) -> None:
    payloads: list[ev.Payload] = [
        ev.SessionStarted(
            session_id=SPOOF,
            agent=SPOOF,
            model=SPOOF,
            backend=SPOOF,
            wall=1.0,
            record="text",
            mode="text",
            program=SPOOF,
            phrases=(SPOOF,),
            tools=(SPOOF,),
        ),
        ev.SessionState(word="speaking", reason=SPOOF),
        ev.TextSent(text=SPOOF, command_id=SPOOF),
        ev.TranscriptDelta(side="model", text=SPOOF),
        ev.ToolCalled(call_id=SPOOF, name=SPOOF, args={SPOOF: SPOOF}),
        ev.ToolFinished(call_id=SPOOF, name=SPOOF, status="ok", result={SPOOF: SPOOF}, ms=1.0, delivered=True),
        ev.ToolCalled(call_id="open", name=SPOOF, args={}),
        ev.ConnectionClosed(close_code=1011, reason=SPOOF, sentence=SPOOF, remedy=SPOOF),
        ev.Notice(level="error", code=SPOOF, text=SPOOF, remedy=SPOOF),
        ev.Log(source="stdout", level="info", text=SPOOF),
        ev.CommandRefused(command_id=SPOOF, command=SPOOF, reason=SPOOF),
        ev.SessionEnded(reason=SPOOF),
    ]
    lines = [json.dumps({**header(), "session_id": SPOOF})]
    lines += [ev.Event(number, 0.1 * number, 1, 1, payload).to_line() for number, payload in enumerate(payloads, 1)]
    lines += [json.dumps({"seq": 99, "t": 9.0, "turn": 1, "gen": 1, "type": SPOOF, "data": {SPOOF: SPOOF}})]
    lines += [json.dumps({"seq": 100, "t": 9.0, "turn": 1, "gen": 1, "type": "log", "data": {SPOOF: SPOOF}})]
    lines += [SPOOF.replace("\n", " ")]
    folder = paths.private_dir(paths.sessions_dir() / "s1")
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for command in (("replay", "s1", "--plain"), ("replay", "s1", "--plain", "--times"), ("replay", "s1", "--json")):
        ended = run(*command)
        assert ended.code == 0
        _clean(ended)
        _not_spoofed(ended)
    assert "[bold]markup[/bold]" in run("replay", "s1", "--plain").out
    ended = run("sessions", "list")
    _clean(ended)
    assert len(ended.out.splitlines()) == 2


@pytest.mark.parametrize(
    "command",
    [
        (HOSTILE,),
        ("talk", HOSTILE),
        ("talk", f"{HOSTILE}.py:agent"),
        ("talk", f"mine.py:{HOSTILE}"),
        ("talk", "--mic", HOSTILE),
        ("talk", "--speaker", f"no/{HOSTILE}", "--text", "x"),
        ("talk", "--backend", HOSTILE),
        ("talk", "--backend", f"ws://{HOSTILE}", "--text", "x"),
        ("talk", "--backend", f"ws://127.0.0.1:1/{HOSTILE}", "--text", "x"),
        ("talk", "--api-version", HOSTILE, "--backend", "ws://127.0.0.1:1", "--text", "x"),
        ("talk", "--script", HOSTILE, "--backend", "local", "--text", "x"),
        ("talk", "--model", f"local-{HOSTILE.replace('/', '')}", "--backend", "local", "--fast", "--text", "x"),
        ("talk", f"--{HOSTILE}"),
        ("talk", "--record", HOSTILE),
        ("run", HOSTILE),
        ("replay", HOSTILE),
        ("replay", f"/{HOSTILE}"),
        ("stop", HOSTILE),
        ("sessions", HOSTILE),
        ("sessions", "purge", "--yes", "--", HOSTILE),
        ("sessions", "purge", "--older-than", HOSTILE, "--yes"),
        ("config", "set", HOSTILE, "x"),
        ("config", "set", "ui.fps", HOSTILE),
        ("config", "set", f"keymap.{HOSTILE}", "x"),
        ("config", "set", "keymap.mute", HOSTILE),
        ("config", "set", "voice", HOSTILE),
        ("completion", HOSTILE),
        ("serve-local", "--host", HOSTILE),
        ("serve-local", "--script", HOSTILE),
        ("--debug", "talk", HOSTILE),
    ],
    ids=range(30),
)
def test_a_wrong_argument_is_repeated_sanitised(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("")
    # Operating systems refuse a zero byte in an argument.
    ended = run(*(part.replace("\x00", "") for part in command))
    assert ended.control == []
    assert ended.code in (1, 2, EXIT_CODES["links"]) or command[:3] == ("config", "set", "voice"), ended
    assert "Internal error" not in ended.err, ended
    assert ("Traceback" in ended.err) is (command[0] == "--debug")


def test_settings_from_anywhere_are_shown_harmlessly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hostile = HOSTILE.replace("\x00", "")
    for name in ("GEMINI_LIVE_TUI_VOICE", "GEMINI_LIVE_TUI_AUDIO_INPUT", "GEMINI_LIVE_TUI_CREDENTIALS_FILE", "TERM"):
        monkeypatch.setenv(name, hostile)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", hostile)
    monkeypatch.setenv("GEMINI_LIVE_TUI_CONFIG", str(tmp_path / hostile.replace("/", "")))
    for command in (("config", "show"), ("config", "show", "--json"), ("doctor",), ("doctor", "--json"), ("devices",)):
        _clean(run(*command))


def test_file_names_among_the_sessions_are_shown_harmlessly() -> None:
    paths.private_dir(paths.sessions_dir() / HOSTILE.replace("/", "").replace("\x00", ""))
    _clean(run("sessions", "list"))
    ended = run("replay", "\x1b")
    _clean(ended)
    assert ended.code != 0


def test_engines_are_listed_harmlessly(monkeypatch: pytest.MonkeyPatch) -> None:
    info = EngineInfo(session_id="s1", pid=os.getpid(), agent=HOSTILE, backend=HOSTILE, started=0.0, program=HOSTILE)
    monkeypatch.setattr("gemini_live_runtime.engine.registry.list_engines", lambda: [info])
    for command in (("ps",), ("ps", "--json"), ("stop", "nope")):
        _clean(run(*command))


def test_text_that_is_no_unicode_is_shown_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = os.fsdecode(b"\xff\xfe.py")
    monkeypatch.chdir(tmp_path)
    ended = run("talk", f"{name}:agent")
    _clean(ended)
    assert ended.code == 2
    ended = run("talk", "--backend", "local", "--fast", "--text", f"what is {name} the time", "--record", "off")
    _clean(ended)
