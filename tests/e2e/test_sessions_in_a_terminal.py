"""From one recording to another and to a file, with keys, in a real terminal."""

from __future__ import annotations

from pathlib import Path

from tests.support.canaries import HOSTILE
from tests.support.command_line import CONTROL
from tests.support.pseudo_terminal import PseudoTerminal
from tests.support.recordings import WALL, Recorder

from gemini_live_runtime import paths

PROGRAM = """
from gemini_live_tui.cli import main
print("CODE", main(["replay", "first"]))
"""


def _record(name: str, words: str, wall: float) -> None:
    made = Recorder()
    made.start(name, agent=name, wall=wall)
    made.begin_turn("typed")
    made.user(words)
    made.complete(None)
    made.end()
    made.write(paths.sessions_dir(), name)


def test_one_goes_from_a_recording_to_another_and_exports_it(tmp_path: Path) -> None:
    _record("first", "APPLES", WALL + 10)
    _record("second", "PEARS", WALL)
    (paths.sessions_dir() / "first" / "title.json").write_text('{"title": "x"}')
    with PseudoTerminal(f"import os; os.chdir({str(tmp_path)!r})\n{PROGRAM}", size=(80, 24)) as terminal:
        terminal.read_until(b"APPLES")
        terminal.type(b"\x0c")
        terminal.read_until(b"Filter")
        terminal.read_until(b"second")
        terminal.type(b"\x1b[B")
        terminal.read_until(b"PEARS")
        terminal.type(b"\r")
        terminal.read_until(b"\x1b[?1049l")
        terminal.read_until(b"PEARS")
        terminal.type(b"\x0c")
        terminal.read_until(b"Filter")
        terminal.read_until(b"APPLES")
        terminal.type(b"x")
        terminal.read_until(b"Markdown")
        terminal.type(b"x")
        terminal.read_until(b"Written")
        terminal.type(b"\x11")
        terminal.read_until(b"CODE 0")
    (written,) = tmp_path.iterdir()
    assert "agent" in written.read_text().lower()


def test_a_recording_full_of_sequences_moves_no_cursor(tmp_path: Path) -> None:
    made = Recorder()
    made.start("first", agent=HOSTILE, model=HOSTILE)
    made.begin_turn()
    made.user(HOSTILE)
    made.end(HOSTILE)
    folder = made.write(paths.sessions_dir(), "first")
    (folder / "title.json").write_text('{"title": "\\u001b]0;OWNED\\u0007\\u001b[2J[link=x]"}')
    with PseudoTerminal(PROGRAM, size=(80, 24)) as terminal:
        terminal.read_until(b"redC1")
        terminal.type(b"\x0c")
        terminal.read_until(b"Filter")
        terminal.read_until(b"markup")
        terminal.type(b"x")
        terminal.read_until(b"Markdown")
        terminal.type(b"\x1b")
        terminal.type(b"\x11")
        terminal.read_until(b"CODE 0")
    seen = terminal.seen.decode("utf-8", "replace")
    for sequence in ("\x1b]0;OWNED", "\x9b", "\x9d", "\u202e", "\u2066", "]8;;http"):
        assert sequence not in seen
    # The toolkit sets the mouse pointer's shape itself.
    seen = seen.replace("\x1b]22;default\x07", "")
    assert not [sign for sign in CONTROL.findall(seen) if sign not in "\x1b\r\x08\x0f"]
