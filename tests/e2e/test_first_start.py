"""The first start of a new user.

The home is empty, and there is no key, no network and no sound card.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.canaries import KEY, bytes_below
from tests.support.command_line import run
from tests.support.patience import PATIENCE_S
from tests.support.pseudo_terminal import PseudoTerminal

from gemini_live_runtime import paths
from gemini_live_tui import config
from gemini_live_tui.set_up import keys

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")

LEFT = b"\x1b[?1049l"
"""Sequence that restores the terminal. The program does not end before its last output is read."""

START = "import sys; from gemini_live_tui.cli import main; sys.exit(main({arguments!r}))"

CHECKED = """
import http.server, sys, threading
from functools import partial

class Google(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        good = self.headers["x-goog-api-key"].endswith("canary")
        body = b'{"models": [{"supportedGenerationMethods": ["bidiGenerateContent"]}]}' if good else (
            b'{"error": {"message": "API key not valid. Please pass a valid API key."}}')
        self.send_response(200 if good else 400)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Google)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.modules["keyring"] = None
from gemini_live_tui.set_up import keys
here = f"http://127.0.0.1:{server.server_address[1]}"
keys.check_key = partial(keys.check_key, base_url=here, trusted_hosts=("127.0.0.1",))
from gemini_live_tui.cli import main
code = main([])
print("CODE", code)
"""


@pytest.fixture
def no_engines_left() -> Iterator[None]:
    yield
    run("stop", "--all")


def start(*arguments: str, size: tuple[int, int] = (80, 24)) -> PseudoTerminal:
    return PseudoTerminal(START.format(arguments=list(arguments)), size=size)


def test_without_a_key_the_welcome_opens_and_enter_is_the_demo(no_engines_left: None) -> None:
    with start("--record", "off") as terminal:
        terminal.read_until(b"Try the demo")
        terminal.type(b"\r")
        # Without a sound device text mode comes after the greeting, and with it the cursor.
        terminal.read_until(b"enter sends it")
        terminal.type(b"what is the weather in Lisbon\r")
        terminal.read_until(b"degrees")
        terminal.type(b"\x11")
        terminal.read_until(b"The session is over")
        assert terminal.process.wait(PATIENCE_S) == 0


def test_the_demo_can_be_declined() -> None:
    with start() as terminal:
        terminal.read_until(b"Try the demo")
        terminal.type(b"\x11")
        terminal.read_until(LEFT)
        assert terminal.process.wait(PATIENCE_S) == 0
    assert list(paths.sessions_dir().glob("*")) == []


def test_a_key_typed_in_a_terminal_reaches_nothing_but_google_and_its_file(nobodys_home: Path) -> None:
    with PseudoTerminal(CHECKED, size=(80, 24)) as terminal:
        terminal.read_until(b"Try the demo")
        terminal.type(b"\x1b[B\x1b[B\r")
        terminal.read_until(b"Keep it in")
        terminal.type(b"\x1b[200~" + KEY[:-2].encode() + b"\x1b[201~\r")
        terminal.read_until(b"Google refuses the key")
        terminal.type(b"\x1b[200~" + KEY.encode() + b"\x1b[201~\r")
        terminal.read_until(b"The key works")
        arguments = Path(f"/proc/{terminal.process.pid}/cmdline")
        if arguments.exists():
            assert KEY not in arguments.read_text()
        terminal.type(b"\r")
        terminal.read_until(b"The key is kept in")
        terminal.type(b"\x1b")
        terminal.read_until(b"Talk to Gemini")
        terminal.type(b"\x11")
        terminal.read_until(b"CODE 0")
        assert KEY.encode() not in terminal.seen
    assert [path for path, content in bytes_below(nobodys_home).items() if KEY.encode() in content] == [keys.key_file()]
    assert config.load({}).config.api_key_source == "file"
    shown = [run("config", "show"), run("doctor")]
    assert not [one for one in shown if KEY in one.out + one.err]
    assert "found (api-key" in shown[1].out


def test_another_agent_chosen_in_a_call_begins_a_new_session(no_engines_left: None) -> None:
    with start("demo", "--record", "off") as terminal:
        terminal.read_until(b"see F1")
        terminal.type(b"\x10")
        terminal.read_until(b"Search for a command")
        terminal.type(b"agents")
        terminal.read_until(b"Choose another agent")
        terminal.type(b"\r")
        terminal.read_until(b"debt_collection")
        terminal.type(b"\x1b[B")
        terminal.read_until(b"how urgent it is")
        terminal.type(b"\r")
        terminal.read_until(b"present call")
        terminal.type(b"\r")
        terminal.read_until(b"this is the clinic")
        terminal.type(b"\x11")
        terminal.read_until(b"The session is over")
        assert terminal.process.wait(PATIENCE_S) == 0


def test_the_gallery_can_be_what_a_demo_begins_with(no_engines_left: None) -> None:
    with start("demo", "--pick") as terminal:
        terminal.read_until(b"call_screening")
        terminal.type(b"\x1b")
        terminal.read_until(LEFT)
        assert terminal.process.wait(PATIENCE_S) == 0
    assert list(paths.sessions_dir().glob("*")) == []


@pytest.mark.parametrize("options", [("concierge",), ("--script", "x.toml"), ("--single-process",)])
def test_picking_excludes_naming(options: tuple[str, ...]) -> None:
    ended = run("demo", "--pick", *options)
    assert ended.code == 2
    assert "--pick" in ended.sentence


def test_without_a_terminal_it_stays_a_sentence() -> None:
    ended = run()
    assert ended.code == 2
    assert "needs a terminal" in ended.sentence
    assert "talk --plain" in ended.sentence
