"""The installed program's first start, in an empty home and a terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.packaging.environments import Environment
from tests.support.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")

PROGRAM = "import sys; from gemini_live_tui.cli import main; code = main([]); print('CODE', code); sys.exit(code)"


def start(place: Environment, home: Path, monkeypatch: pytest.MonkeyPatch) -> PseudoTerminal:
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    return PseudoTerminal(PROGRAM, size=(80, 24), python=place.python, HOME=str(home), **place.variables)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def test_every_step_of_the_welcome_opens_from_the_wheel_and_looking_configures_nothing(
    from_wheel_alone: Environment, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(from_wheel_alone, home, monkeypatch) as terminal:
        terminal.read_until(b"Try the demo")
        for keys, said in (
            (b"\x1b[B\r", b"debt_collection"),
            (b"\x1b[B\r", b"Keep it in"),
            (b"\x1b[B\r", b"Location"),
            (b"\x1b[B\r", b"nothing to measure"),
            (b"\x1b[B\r", b"Press enter to begin"),
            (b"\x1b[B\r", b"Plays a melody"),
        ):
            terminal.type(keys)
            terminal.read_until(said)
            terminal.type(b"\x1b")
            terminal.read_until(b"Try the demo")
        terminal.type(b"\x11")
        terminal.read_until(b"CODE 0")
    # The console saves its layout, and nothing else.
    assert {path.name for path in home.rglob("*") if path.is_file()} <= {"console.json"}


def test_the_demo_of_the_wheel_answers_and_what_it_keeps_is_private(
    from_wheel_alone: Environment, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(from_wheel_alone, home, monkeypatch) as terminal:
        terminal.read_until(b"Try the demo")
        terminal.type(b"\r")
        terminal.read_until(b"Try writing")
        terminal.type(b"what is the weather in Paris\r")
        terminal.read_until(b"degrees")
        terminal.type(b"\x11")
        terminal.read_until(b"CODE 0")
    kept = [path for path in home.rglob("*") if "gemini-live-tui" in str(path)]
    assert any("sessions" in path.parts for path in kept)
    for path in kept:
        if path.is_file():
            assert path.stat().st_mode & 0o077 == 0, path


def test_missing_devices_are_explained_by_the_helper_in_the_wheel(
    from_wheel_alone: Environment, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(from_wheel_alone, home, monkeypatch) as terminal:
        terminal.read_until(b"Try the demo")
        terminal.type(b"\x1b[F\x1b[A\x1b[A\r")
        terminal.read_until(b"Press enter to begin")
        terminal.type(b"\r")
        terminal.read_until(b"try again")
        terminal.type(b"\x11")
        terminal.read_until(b"CODE 0")
