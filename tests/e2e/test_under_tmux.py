"""Run the console in tmux: prefix key, paste, sizes, ctrl+c, kill and restart."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.patience import PATIENCE_S
from tests.support.tmux import Keyboard, Tmux, needs_tmux

from gemini_live_runtime import paths

ROOT = Path(__file__).resolve().parents[2]
# Answers told again after a loss take a screen of this size to stay in view.
TALL = (120, 90)
DEMO = "demo concierge --text --no-sound --record off"
RECORDED = "demo concierge --text --no-sound --record text"

pytestmark = needs_tmux


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join(str(ROOT / part) for part in ("tui", "runtime"))
    return {"PYTHONPATH": path, "COLORTERM": "truecolor", **more}


def program(arguments: str) -> str:
    return f"{sys.executable} -m gemini_live_tui {arguments}"


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    with Tmux(program(DEMO), tmp_path, environment=environment()) as session:
        session.until("TEXT", "Try writing")
        yield session


def test_the_prefix_key_pressed_twice_and_its_twin_toggle_text_mode(tmux: Tmux) -> None:
    # Without a microphone text mode cannot be left: the console says so, whichever way the key came.
    with Keyboard(tmux) as keyboard:
        keyboard.type(b"\x02\x02")
        tmux.until("Staying in text mode")
        keyboard.type(b"\x1bOQ")
        tmux.when(lambda screen: screen.count("Staying in text mode") >= 2, "a second refusal")


def test_a_key_after_a_single_prefix_is_tmuxs_own(tmux: Tmux) -> None:
    with Keyboard(tmux) as keyboard:
        keyboard.type(b"\x02")
        keyboard.type(b"z")
        keyboard.type(b"after")
        assert "zafter" not in tmux.until("after")


def test_a_paste_of_several_lines_is_one_message(tmux: Tmux) -> None:
    tmux.paste("What can\nyou do?")
    tmux.until("What can", "you do?")
    tmux.press("Enter")
    screen = tmux.until("you    What can", gone="Try writing")
    assert screen.count("you    ") == 1


def test_every_size_shows_what_there_is_room_for(tmux: Tmux) -> None:
    for width, height in ((160, 45), (80, 24), (60, 16)):
        tmux.resize(width, height)
        tmux.when(lambda screen, rows=height: len(screen.rstrip("\n").split("\n")) == rows and "TEXT" in screen, "size")
    tmux.resize(50, 12)
    tmux.until("terminal too small (need 60x16)")
    tmux.resize(120, 36)
    tmux.until("TEXT", "Try writing")


def test_ctrl_c_asks_once_and_the_second_leaves_a_clean_terminal(tmux: Tmux) -> None:
    tmux.press("C-c")
    tmux.until("again to quit")
    tmux.press("C-c")
    screen = tmux.until("The session is over")
    assert "TEXT" not in screen


def test_a_console_that_was_killed_comes_back_to_the_whole_conversation(tmux: Tmux, tmp_path: Path) -> None:
    tmux.write("What can you do?")
    tmux.press("Enter")
    tmux.until("you    What can you do?", "model  ")
    os.kill(tmux.pid, signal.SIGKILL)
    second = tmp_path / "second"
    second.mkdir()
    with Tmux(program("attach"), second, environment=environment()) as again:
        again.until("you    What can you do?", "model  ")
        again.write("What can you do?")
        again.press("Enter")
        again.when(lambda screen: screen.count("you    What can you do?") == 2, "the second question")
        third = tmp_path / "third"
        third.mkdir()
        with Tmux(program("attach"), third, environment=environment()) as other:
            other.when(lambda screen: screen.count("you    What can you do?") == 2, "both questions")
            # The answer may still be streaming: the two agree as soon as both have drawn the same words.
            other.when(lambda screen: _conversation(screen) == _conversation(again.screen()), "the same conversation")
            _detach(other)
        _detach(again)
    stop = [sys.executable, "-m", "gemini_live_tui", "stop"]
    ended = subprocess.run(
        stop, env={**os.environ, **environment()}, capture_output=True, timeout=PATIENCE_S, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert not list(paths.runtime_dir().glob("*.json"))


def _detach(console: Tmux) -> None:
    console.press("C-q")
    console.until("enter detaches")
    console.press("Enter")
    console.until("ends it.")


def _conversation(screen: str) -> list[str]:
    return [row.strip("│ ") for row in screen.split("\n") if "you    " in row or "model  " in row]


def test_an_engine_that_is_killed_in_mid_answer_is_replaced_and_the_talk_goes_on(tmp_path: Path) -> None:
    with Tmux(program(RECORDED), tmp_path, size=TALL, environment=environment()) as tmux:
        tmux.until("TEXT", "Try writing")
        tmux.write("Tell me a story")
        tmux.press("Enter")
        tmux.until("you    Tell me a story", "model  ")
        _kill_engine()
        tmux.write("What can you do?")
        tmux.press("Enter")
        tmux.until("new one goes on from here", "TEXT", "told the conversation")
        # Where the story had not begun to be recorded, it is told once more before the second message is answered.
        screen = tmux.until("you    What can you do?")
        assert screen.index("Tell me a story") < screen.index("new one goes on") < screen.index("What can you do?")
        assert screen.count("you    What can you do?") == 1
        tmux.press("C-q")
        tmux.until("The session is over")


def test_a_broken_off_session_is_resumed_by_hand(tmp_path: Path) -> None:
    with Tmux(program(RECORDED), tmp_path, environment=environment()) as tmux:
        tmux.until("TEXT", "Try writing")
        tmux.write("What can you do?")
        tmux.press("Enter")
        tmux.until("you    What can you do?", "model  ")
        os.kill(tmux.pid, signal.SIGKILL)
        _kill_engine()
    again = tmp_path / "again"
    again.mkdir()
    with Tmux(program("resume"), again, size=TALL, environment=environment()) as tmux:
        tmux.until("you    What can you do?", "new one goes on from here", "told the conversation")
        tmux.press("C-q")
        tmux.until("The session is over")


def _kill_engine() -> None:
    from gemini_live_runtime.engine.registry import list_engines

    (engine,) = list_engines()
    os.kill(engine.pid, signal.SIGKILL)
