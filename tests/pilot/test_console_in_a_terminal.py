"""A terminal gets the expected bytes, and is restored."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
from tests.support.patience import PATIENCE_S
from tests.support.pseudo_terminal import PseudoTerminal

HOSTILE = """
from tests.pilot.test_console_hostile_text import PAYLOADS
from tests.support.scripted_link import ScriptedLink, source_of
from gemini_live_tui.run_console import run_console
from gemini_live_tui.settings import ConsoleSettings

link = ScriptedLink()
link.start()
link.emit(*PAYLOADS[:-1])
link.gen += 1
link.begin_turn()
link.model("THE END")
print("OUTCOME", run_console(source_of(link), settings=ConsoleSettings(theme="ember")).exit_code)
"""

PLAIN = """
from tests.support.scripted_link import ScriptedLink, source_of
from gemini_live_tui.run_console import run_console
from gemini_live_tui.settings import ConsoleSettings

link = ScriptedLink()
link.start()
link.exchange("Question", "THE END", latency_ms=None)
link.emit()
print("OUTCOME", run_console(source_of(link), settings=ConsoleSettings()).exit_code)
"""

LEAVING = PLAIN.replace('print("OUTCOME", ', "done = (").replace(".exit_code)", ")")
LEAVING += 'print("OUTCOME", done.exit_code, done.message)'

CRASHING = """
from tests.support.scripted_link import ScriptedLink, source_of
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.run_console import run_console
from gemini_live_tui.settings import ConsoleSettings

def action_open(self, name):
    raise RuntimeError("a bug")

ConsoleApp.action_open = action_open
link = ScriptedLink()
link.start()
link.exchange("Question", "THE END", latency_ms=None)
try:
    run_console(source_of(link), settings=ConsoleSettings())
except GeminiLiveError as error:
    print("OUTCOME", error)
"""

SINGLE_PROCESS = """
from gemini_live_runtime.audio.devices import native_stderr
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.engine import assemble
from gemini_live_tui.cli import main

class Hushed(NoAudio):
    async def open(self, listener):
        native_stderr.silence()
        return await super().open(listener)

assemble.make_audio = lambda spec: Hushed()
main(["demo", "--single-process", "--record", "off"])
"""

SGR = re.compile(rb"\x1b\[([0-9;]*)m")


def _restored(seen: bytes) -> bool:
    leaves = seen.rfind(b"\x1b[?1049l")
    return leaves > seen.rfind(b"\x1b[?1049h") and seen.rfind(b"\x1b[?25h") > seen.rfind(b"\x1b[?25l")


def test_no_control_sequence_of_what_is_said_reaches_the_terminal() -> None:
    with PseudoTerminal(HOSTILE, size=(160, 60), COLORTERM="truecolor") as terminal:
        terminal.read_until(b"THE END")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME 0")
        seen = terminal.seen
    assert b"CANARY" in seen
    assert b"\x1b]52;" not in seen
    assert b"\x1b]0;" not in seen
    assert b"\x1b]8;" not in seen
    assert b"\x1b[2J" not in seen[seen.index(b"Transcript") :]
    assert b"\x9b" not in re.sub(rb"[\xc2-\xf4][\x80-\xbf]+", b"", seen)
    assert "\u202e".encode() not in seen
    assert b"Traceback" not in seen


def test_quitting_leaves_the_terminal_as_it_was() -> None:
    with PseudoTerminal(PLAIN) as terminal:
        terminal.read_until(b"THE END")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME 0")
        assert _restored(terminal.seen)


@pytest.mark.parametrize(
    ("moment", "said"),
    [(b"\x1b[?1049h", ""), (b"THE END", " Detached: session")],
    ids=["before the first paint", "in a session"],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_the_terminal_as_it_was_and_says_where_the_session_is(
    number: signal.Signals, moment: bytes, said: str
) -> None:
    with PseudoTerminal(LEAVING) as terminal:
        terminal.read_until(moment)
        terminal.process.send_signal(number)
        terminal.read_until(f"OUTCOME {128 + number}{said}".encode())
        assert _restored(terminal.seen)


def test_a_crash_leaves_the_terminal_as_it_was_and_names_the_way_back() -> None:
    with PseudoTerminal(CRASHING) as terminal:
        terminal.read_until(b"THE END")
        terminal.type(b"\x1bOP")
        terminal.read_until(b"OUTCOME Internal error of the console: RuntimeError: a bug. The session goes on:")
        assert b"Traceback" not in terminal.seen
        assert _restored(terminal.seen)


def test_a_console_that_was_stopped_reads_each_key_once_and_quits() -> None:
    with PseudoTerminal(PLAIN) as terminal:
        terminal.read_until(b"THE END")
        for _ in range(2):
            terminal.process.send_signal(signal.SIGSTOP)
            os.waitpid(terminal.process.pid, os.WUNTRACED)
            terminal.forget()
            terminal.process.send_signal(signal.SIGCONT)
            terminal.read_until(b"THE END")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME 0")
        assert terminal.process.wait(PATIENCE_S) == 0
        assert _restored(terminal.seen)


@pytest.mark.parametrize(("no_color", "has_colours"), [("1", False), ("", True)])
def test_no_color_means_none_unless_it_is_empty(no_color: str, has_colours: bool) -> None:
    with PseudoTerminal(PLAIN, NO_COLOR=no_color, COLORTERM="truecolor") as terminal:
        terminal.read_until(b"THE END")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME 0")
        codes = {code for match in SGR.findall(terminal.seen) for code in match.split(b";") if code}
    # Attributes, and 39 and 49, which name the terminal's own colours.
    assert (not codes <= {b"0", b"1", b"2", b"3", b"4", b"7", b"9", b"39", b"49"}) == has_colours


def test_a_terminal_of_sixteen_colours_gets_only_those() -> None:
    with PseudoTerminal(PLAIN, TERM="xterm-16color") as terminal:
        terminal.read_until(b"THE END")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME 0")
        sequences = SGR.findall(terminal.seen)
    assert not [sequence for sequence in sequences if b"38;" in sequence or b"48;" in sequence]
    assert any(code in (b"32", b"36") for sequence in sequences for code in sequence.split(b";"))


def test_pasted_lines_arrive_as_one_message() -> None:
    with PseudoTerminal(PLAIN) as terminal:
        terminal.read_until(b"THE END")
        terminal.type(b"\x1b[200~first\nsecond\x1b[201~")
        terminal.read_until(b"second")
        terminal.type(b"\r")
        # The transcript's row of the message: its gutter, then its first line.
        assert b"first" in terminal.read_until(b"second")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME 0")


def test_a_console_with_its_engine_inside_goes_on_drawing_while_sound_is_open(tmp_path: Path) -> None:
    folders = {name: str(tmp_path) for name in ("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    with PseudoTerminal(SINGLE_PROCESS, **folders) as terminal:
        terminal.read_until(b" TEXT ")
        terminal.type(b"\x11")
        terminal.read_until(b"The session is over")


def test_bytes_that_are_no_keys_do_not_end_the_console() -> None:
    with PseudoTerminal(LEAVING) as terminal:
        terminal.read_until(b"THE END")
        terminal.type(b"\xff\x1b[1114112u\x1b[97:98:99;5:2u\x11")
        terminal.read_until(b"OUTCOME 0")
