"""The guide works as written.

The tests make its files from its blocks, run its commands and compare their output.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest
from tests.support.synthetic_speech import RATE, say
from tests.support.tmux import Tmux, needs_tmux

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide.md"

_FENCE = re.compile(r"^```(\S+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """Fenced block: language, the word after it, text, and line in the guide."""

    language: str
    kind: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [Block(m[1], m[2] or "", m[3], text.count("\n", 0, m.start()) + 1) for m in _FENCE.finditer(text)]


def write(block: Block, folder: Path) -> None:
    """Make or continue the file that the block's first line names."""
    name, _, more = block.text.splitlines()[0].removeprefix("# ").partition(", ")
    path = folder / name
    if more:
        assert path.exists(), f"line {block.line} continues {name}, which there is not"
        path.write_text(f"{path.read_text('utf-8')}\n\n{block.text}", "utf-8")
    else:
        path.write_text(block.text, "utf-8")


@pytest.fixture
def newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which the guide's programs are found."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, arguments in (
        ("python", ""),
        ("gemini-live-tui", "-c 'import sys; from gemini_live_tui.cli import main; sys.exit(main())' "),
    ):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n')
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(ROOT / part) for part in ("tui", "runtime")))
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def matches(wanted: str, line: str) -> bool:
    """Return True when a line is the one that the guide shows; `…` is anything."""
    return re.fullmatch(".*".join(map(re.escape, wanted.split("…"))), line.rstrip()) is not None


def in_order(wanted: list[str], printed: list[str]) -> Iterator[str]:
    """Return the wanted lines that are missing from the output, in order."""
    lines = iter(printed)
    for want in wanted:
        if not any(matches(want, line) for line in lines):
            yield want
            return


def test_the_guide_works_step_by_step(newcomer: Path) -> None:
    output: list[str] = []
    commands = 0
    for block in blocks(GUIDE):
        if block.language in ("python", "toml"):
            write(block, newcomer)
        elif block.language == "sh" and block.kind != "terminal" and not block.text.startswith("pip "):
            ended = subprocess.run(
                ["sh", "-c", block.text], cwd=newcomer, capture_output=True, text=True, timeout=120, check=False
            )
            assert (ended.returncode != 0) is (block.kind == "fails"), (block, ended)
            output = (ended.stdout + ended.stderr).splitlines()
            commands += 1
        elif block.language == "text":
            printed = [line for line in output if line.strip()]
            shown = block.text.splitlines()
            wrong = [pair for pair in zip_longest(shown, printed, fillvalue="") if not matches(*pair)]
            assert wrong == [], f"line {block.line} of the guide shows other lines than the command prints"
    assert commands >= 6


@needs_tmux
def test_the_guides_command_for_a_terminal_opens_the_console(newcomer: Path, tmp_path: Path) -> None:
    for block in blocks(GUIDE):
        if block.language in ("python", "toml"):
            write(block, newcomer)
    command = next(block.text for block in blocks(GUIDE) if block.kind == "terminal").split()
    path = os.pathsep.join(str(ROOT / part) for part in ("tui", "runtime"))
    program = shlex.join([sys.executable, "-m", "gemini_live_tui", *command[1:], "--no-sound"])
    with Tmux(f"cd {shlex.quote(str(newcomer))} && {program}", tmp_path, environment={"PYTHONPATH": path}) as tmux:
        tmux.until("TEXT", "Try writing")
        tmux.write("the chain is broken")
        tmux.press("Enter")
        tmux.until("I see.")
        tmux.press("C-q")
        tmux.until("The session is over")


def test_the_guides_agent_can_be_spoken_to(newcomer: Path) -> None:
    for block in blocks(GUIDE):
        if block.language in ("python", "toml"):
            write(block, newcomer)
    said = ("the brakes are broken", "on Monday please", "my name is Ada")
    pause = b"\0\0" * (6 * RATE)
    with wave.open(str(newcomer / "call.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(pause + b"".join(say("flite:slt", text) + pause for text in said))
    command = "gemini-live-tui talk workshop.py:agent --backend local --fast --script workshop.toml --mic call.wav"
    ended = subprocess.run(command.split(), cwd=newcomer, capture_output=True, text=True, timeout=120, check=True)
    moved = ["watch: dangerous: …", "phase: intake → booked: we know who comes, and when (the last phase)"]
    assert not list(in_order(moved, ended.stdout.splitlines())), ended.stdout


def test_the_guide_is_of_a_length_that_fits_fifteen_minutes() -> None:
    words = len(re.sub(_FENCE, "", GUIDE.read_text("utf-8")).split())
    code = sum(len(block.text.splitlines()) for block in blocks(GUIDE) if block.language in ("python", "toml"))
    assert words < 1200
    assert code < 180
