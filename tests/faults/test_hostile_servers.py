"""Hostile servers end a session with a sentence, and never reach the terminal.

`make soak` tries every mode; without it, a part of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faults.hostile_server import ENDING, PASSING, RAW, on_request
from tests.support.command_line import Ended, run
from tests.support.fake_live_server import FakeLiveServer, RawServer
from tests.support.pseudo_terminal import PseudoTerminal
from tests.support.quickly_idle import be_quickly_idle

from gemini_live_runtime.journal.completion.missing_parts import EXIT_CODES

SOAK = bool(os.environ.get("SOAK"))
EVERY = 1 if SOAK else 5
ENDINGS = [*ENDING, *RAW]

CONSOLE = """
from gemini_live_tui.cli import main
print("OUTCOME", main(["--no-sound", "--text", "--record", "text", "--backend", {url!r}]))
"""


@pytest.fixture(autouse=True)
def quickly_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation counts as over sooner: nothing here pauses.

    Nor does anything come after the answer of a mode that calls a tool.
    """
    be_quickly_idle(monkeypatch)


@contextmanager
def hostile(name: str) -> Iterator[str]:
    """Run a server that ends sessions; its URL."""
    with RawServer(RAW[name]) if name in RAW else FakeLiveServer(ENDING[name]) as server:
        yield server.url


def talk(url: str, *texts: str) -> Ended:
    options = [option for text in texts for option in ("--text", text)]
    return run("talk", "--backend", url, "--record", "off", "--timeout", "600", "--reconnect-for", "0", *options)


def test_there_are_sixty_modes_and_more() -> None:
    assert len(PASSING) + len(ENDINGS) >= 60


def test_a_conversation_survives_whatever_a_server_sends() -> None:
    chosen = [*PASSING]
    with FakeLiveServer(on_request) as server:
        ended = talk(server.url, *(f"mode {name}" for name in chosen))
    assert ended.code == 0, ended.err
    assert [name for name in chosen if f"Survived {name}." not in ended.out] == []
    assert "Traceback" not in ended.out + ended.err
    assert ended.control == []


@pytest.mark.parametrize("name", ENDINGS[::EVERY])
def test_a_conversation_that_a_server_ends_is_told_in_a_sentence(name: str) -> None:
    with hostile(name) as url:
        ended = talk(url, "hello")
    assert ended.code in (0, EXIT_CODES["links"]), ended
    assert ended.code == 0 or ended.sentence
    assert "Traceback" not in ended.out + ended.err
    assert "Internal error" not in ended.err
    assert ended.control == []


# -- the console in a terminal ---------------------------------------------------------------------------------------

# What comes often enough to need more than a frame, and what could reach the terminal.
SHOWN = [*PASSING] if SOAK else ["controls", "unreadable-flood", "go-away-flood", "many-calls", "odd-names"]


def start(url: str, folder: Path) -> PseudoTerminal:
    folders = {name: str(folder) for name in ("XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    return PseudoTerminal(CONSOLE.format(url=url), COLORTERM="truecolor", **folders)


def check_terminal(seen: bytes) -> None:
    """Check that no escape sequence of the server came through."""
    assert b"Traceback" not in seen
    assert b"\x1b]0;" not in seen
    assert b"\x1b[2J" not in seen[seen.index(b"Transcript") :]
    assert b"\x9b" not in re.sub(rb"[\xc2-\xf4][\x80-\xbf]+", b"", seen)
    assert "\u202e".encode() not in seen
    assert b"\x08" not in seen[seen.index(b"Transcript") :]
    assert seen.rfind(b"\x1b[?1049l") > seen.rfind(b"\x1b[?1049h")


def has_answer(folder: Path, name: str) -> bool:
    """Return True once the session below `folder` has recorded the answer of a mode."""
    return any(f"Survived {name}." in file.read_text("utf-8", "replace") for file in folder.rglob("events.jsonl"))


def test_the_console_survives_whatever_a_server_sends(tmp_path: Path) -> None:
    with FakeLiveServer(on_request) as server, start(server.url, tmp_path) as terminal:
        terminal.read_until(b" TEXT ")
        for name in SHOWN:
            terminal.type(f"mode {name}\r".encode())
            # On the screen a letter may be missing: one that stood there before is not painted again.
            terminal.read_while(lambda name=name: not has_answer(tmp_path, name), f"the answer of {name}")
        assert b"Survived" in terminal.seen
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME")
        check_terminal(terminal.seen)


@pytest.mark.parametrize("name", ENDINGS if SOAK else ["close-4999-in-mid-call"])
def test_the_console_tells_how_a_server_ended_the_session_and_can_be_left(name: str, tmp_path: Path) -> None:
    with hostile(name) as url, start(url, tmp_path) as terminal:
        terminal.read_until(b" TEXT ", b" ERROR ", b" attempt ")
        terminal.type(b"hello\r")
        # The end comes before the text where a server ends a session at once.
        if b"error" not in terminal.seen:
            terminal.read_until(b"error", b"over", b"attempt", b"reconnecting")
        terminal.type(b"\x11")
        terminal.read_until(b"OUTCOME")
        check_terminal(terminal.seen)
