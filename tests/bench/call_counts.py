"""Count calls, file changes and files: `python -m tests.bench.call_counts`.

A reader who follows a step goes from function to function, and each change of file costs a look elsewhere. Counted are
Python calls into the runtime from a command, or a frame of the server, to the moment when nothing is left to do; the
clock of the tests is not counted. Built-in functions, libraries and tests are not counted either.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from tests.unit.session.session_support import Stage, stage

from gemini_live_runtime import Live, Phase, Transition, key, run_virtual, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev

RUNTIME = str(Path(__file__).resolve().parents[2] / "runtime" / "gemini_live_runtime")
CLOCK = str(Path(RUNTIME) / "clock.py")


class CallCounter:
    """Counter of calls into the runtime, for `sys.setprofile`."""

    def __init__(self) -> None:
        self.calls = 0
        self.changes = 0
        self.files: set[str] = set()
        self._last = ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Count a call; returns to a caller change the file too."""
        if event == "call":
            name = frame.f_code.co_filename
        elif event == "return" and frame.f_back is not None:
            name = frame.f_back.f_code.co_filename
        else:
            return
        if not name.startswith(RUNTIME) or name == CLOCK:
            return
        if event == "call":
            self.calls += 1
            if name != self._last:
                self.changes += 1
            self.files.add(name)
        self._last = name

    def __str__(self) -> str:
        return f"{self.calls} calls, {self.changes} file changes, {len(self.files)} files"


@tool
def look_up(word: str) -> str:
    """Look a word up.

    Args:
        word: The word.
    """
    return f"{word}: a word"


def _agent() -> Live:
    return (
        Live.builder("counted")
        .instruction("You answer.")
        .tools(look_up)
        .phase(
            Phase("ask", "Ask.", transitions=Transition("tell", key("app:ready") == True)),  # noqa: E712
            Phase("tell", "Tell.", terminal=True),
        )
    )


async def _edit(s: Stage, name: str, value: Any) -> None:
    await s.session.command(cmd.Command("c", cmd.EditState(edits=({"key": name, "value": value},))))
    await s.settled()


async def _plain_edit(s: Stage) -> None:
    await _edit(s, "app:unread", 1)


async def _moving_edit(s: Stage) -> None:
    await _edit(s, "app:ready", True)


async def _tool_call(s: Stage) -> None:
    await s.server.says(toolCall={"functionCalls": [{"id": "1", "name": "look_up", "args": {"word": "a"}}]})
    await s.sink.until(ev.ToolFinished)
    await s.settled()


STEPS: dict[str, Callable[[Stage], Any]] = {
    "a state edit without consequences": _plain_edit,
    "an edit that causes a phase change": _moving_edit,
    "a tool call": _tool_call,
}


def count(step: Callable[[Stage], Any]) -> CallCounter:
    """Count one step in a session of its own."""
    counter = CallCounter()

    async def scenario() -> None:
        async with stage(agent=_agent(), mode="text") as s:
            await s.server.accepts()
            await s.sink.until(ev.ConnectionReady)
            await s.settled()
            sys.setprofile(counter)
            try:
                await step(s)
            finally:
                sys.setprofile(None)

    run_virtual(scenario())
    return counter


def main() -> None:
    """Print the counts of every step."""
    for name, step in STEPS.items():
        print(f"{name}: {count(step)}")


if __name__ == "__main__":
    main()
