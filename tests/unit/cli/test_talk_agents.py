"""`talk` with agents that fail, print, read input, exit or block."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from tests.support.command_line import Ended, run

from gemini_live_runtime import paths
from gemini_live_runtime.engine.in_process import InProcessEngine
from gemini_live_runtime.journal.completion.missing_parts import EXIT_CODES
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.sessions.catalog import list_entries
from gemini_live_tui.cli.headless import HeadlessConversation

ASK = "what is the weather in Lisbon"

TOOL = """
import asyncio, os, sys, threading, time
from gemini_live_runtime import Agent, tool

@tool(timeout_s={timeout})
{kind} get_weather(city: str) -> dict:
    "Weather."
    {body}
    return {{"summary": "sunny"}}

agent = Agent(name="mine", instruction="x", tools=[get_weather], local_model="local-concierge")
"""


def agent(folder: Path, body: str, *, kind: str = "def", timeout: float = 30, above: str = "") -> str:
    path = folder / "mine.py"
    path.write_text(above + TOOL.format(body=body, kind=kind, timeout=timeout))
    return f"{path}:agent"


def talk(reference: str, *options: str, stdin: str = "") -> Ended:
    return run("talk", reference, "--backend", "local", "--fast", "--text", ASK, *options, stdin=stdin)


BROKEN = {
    "raises": ("raise RuntimeError('boom')", ["mine.py:1", "RuntimeError: boom"]),
    "does not parse": ("def x(:\n", ["SyntaxError", "mine.py"]),
    "exits": ("raise SystemExit(3)", ["SystemExit: 3"]),
    "needs what is not there": ("import nothing_like_it", ["nothing_like_it"]),
    "asks nobody": ("name = input('Your name? ')", ["EOFError", "mine.py:1"]),
    "has a factory that exits": ("def agent():\n    raise SystemExit('no')", ["SystemExit: no", "mine.py:2"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_an_agent_file_that_fails_is_one_sentence_naming_its_line(case: str, tmp_path: Path) -> None:
    source, words = BROKEN[case]
    (tmp_path / "mine.py").write_text(source)
    ended = talk(f"{tmp_path / 'mine.py'}:agent")
    assert ended.code == 2
    assert [word for word in words if word not in ended.err] == []
    assert ended.err.count("\n") == 1
    assert "session:" not in ended.out


def test_what_an_agent_prints_becomes_log_lines_and_log_events(tmp_path: Path) -> None:
    body = "print('in the', 'tool'); print('to stderr', file=sys.stderr)"
    ended = talk(agent(tmp_path, body, above="print('imported')\n"))
    assert (ended.code, ended.err) == (0, "")
    logs = [line for line in ended.out.splitlines() if line.startswith("log: ")]
    assert logs == ["log: imported", "log: in the tool", "log: to stderr"]
    (session,) = list_entries(paths.sessions_dir())
    kept = [event.payload for event in read_journal(paths.sessions_dir() / session.id) if event.type == "log"]
    assert [(log.source, log.text) for log in kept] == [
        ("stdout", "imported"),
        ("stdout", "in the tool"),
        ("stderr", "to stderr"),
    ]


def test_what_an_agent_prints_does_not_break_json_lines(tmp_path: Path) -> None:
    ended = talk(agent(tmp_path, "print('{', end=''); print('half', end='', flush=True)"), "--json")
    assert ended.code == 0
    types = [json.loads(line)["type"] for line in ended.out.splitlines()]
    assert types[-1] == "session.ended"
    assert "half" in ended.err


def test_an_agent_can_ask_on_the_real_standard_input(tmp_path: Path) -> None:
    body = "answer = input('Which day? '); print('asked for', answer)"
    ended = talk(agent(tmp_path, body), stdin="monday\n")
    assert ended.code == 0
    assert "Which day? " in ended.out
    assert "log: asked for monday" in ended.out


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_tool_that_exits_is_a_failed_call_not_the_end(kind: str, tmp_path: Path) -> None:
    ended = talk(agent(tmp_path, "sys.exit(3)", kind=kind))
    assert (ended.code, ended.err) == (0, "")
    assert '"it called sys.exit(3)"' in ended.out
    assert "model: I have no weather for Lisbon" in ended.out


@pytest.mark.parametrize(
    "body",
    [
        "raise KeyboardInterrupt",
        "raise StopIteration",
        "raise BaseException('odd')",
        "return {'x': float('nan')}",
        "return {'x': object()}",
        "return {'x': '\\ud800'}",
        "return {'x': b'\\xff'}",
        "x = []; x.append(x); return {'x': x}",
        "return {1: 2, None: 3}",
        "return None",
    ],
)
def test_whatever_a_tool_returns_or_raises_the_conversation_goes_on(body: str, tmp_path: Path) -> None:
    ended = talk(agent(tmp_path, body), "--record", "off")
    assert ended.code == 0, ended
    assert "tool: get_weather" in ended.out
    assert "Traceback" not in ended.out + ended.err


def test_a_plain_tool_that_never_comes_back_times_out_and_does_not_keep_the_program(tmp_path: Path) -> None:
    before = threading.active_count()
    ended = talk(agent(tmp_path, "threading.Event().wait()", timeout=0.2), "--record", "off")
    assert ended.code == 0
    assert "longer than 0.2 s" in ended.out
    stuck = [thread for thread in threading.enumerate() if thread.name == "tool"]
    assert [thread.daemon for thread in stuck] == [True] * len(stuck)
    assert threading.active_count() >= before


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_hangs_up_and_the_journal_is_closed(number: signal.Signals, code: int, tmp_path: Path) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        # SIGHUP may be ignored already when the tests run under nohup.
        signal.signal(number, signal.SIG_DFL)
    ended = talk(agent(tmp_path, f"os.kill(os.getpid(), {int(number)}); time.sleep(0.2)"))
    assert ended.code == code
    assert number.name in ended.sentence
    (session,) = list_entries(paths.sessions_dir())
    assert session.ended in ("interrupted", f"asked to stop by {number.name}")
    assert signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)


def test_a_session_under_virtual_time_is_dated_today() -> None:
    assert run("talk", "--backend", "local", "--fast", "--text", "what time is it").code == 0
    (session,) = list_entries(paths.sessions_dir())
    assert abs(session.when - time.time()) < 3600


def test_minutes_warn_at_80_percent_and_then_hang_up() -> None:
    options = (
        "--backend",
        "local",
        "--fast",
        "--timeout",
        "1000",
        "--max-minutes",
        "0.05",
        "--json",
        "--record",
        "off",
    )
    ended = run("talk", *options, "--text", "tell me a story")
    events = [json.loads(line) for line in ended.out.splitlines()]
    limits = [(event["data"]["stage"], event["t"]) for event in events if event["type"] == "limit.reached"]
    assert [stage for stage, _ in limits] == ["warning", "hang-up"]
    assert [round(t, 1) for _, t in limits] == [2.4, 3.0]
    assert events[-1]["data"]["reason"] == "the minutes limit was reached"
    # It came in the middle of the answer.
    assert ended.code == EXIT_CODES["deliveries"]


def test_the_faults_of_an_agent_stand_one_on_a_line_with_their_place(tmp_path: Path) -> None:
    source = tmp_path / "bad.py"
    source.write_text(
        "from gemini_live_runtime import *\n"
        'agent = Live.builder("x").instruction("y").phase(\n'
        '    Phase("a", "A.", transitions=Transition("nowhere", key("app:x")), tools=["fly"])\n'
        ")\n"
    )
    ended = run("talk", f"{source}:agent", "--backend", "local", "--fast", "--text", "hi")
    first, *faults = ended.err.splitlines()
    assert (ended.code, first) == (2, "gemini-live-tui: The agent has 2 faults:")
    assert [fault.split(":")[0] for fault in faults] == ["- bad.py", "- bad.py"]


def test_an_answer_that_is_over_before_anybody_looks_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    send = HeadlessConversation._type

    async def slow(self: HeadlessConversation, engine: InProcessEngine, text: str) -> None:
        await send(self, engine, text)
        # In virtual time: the whole answer comes meanwhile.
        await asyncio.sleep(20)

    monkeypatch.setattr(HeadlessConversation, "_type", slow)
    ended = run("talk", "--backend", "local", "--fast", "--text", ASK, "--text", ASK, "--json")
    assert ended.code == 0, ended.err
    events = [json.loads(line)["type"] for line in ended.out.splitlines()]
    assert events.count("text.sent") == events.count("turn.completed") == 2
