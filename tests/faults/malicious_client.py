"""Talk to a malicious server, as a program: `malicious_client.py URL ATTACK...`.

Prints a JSON object: the lines of the screen for each attack, and the peak memory in kB when idle and at the end.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from gemini_live_runtime import Live
from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.session.io.handle import LiveHandle

PATIENCE_S = 120.0
"""Seconds that an answer or another connection may take."""


def memory_kb(field: str) -> int:
    """Return this process's memory in kB: `VmRSS` of now, `VmHWM` at its peak."""
    status = Path("/proc/self/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(field))


class Screen:
    """Fold of a session's events, with the number of answers."""

    def __init__(self, session: LiveHandle) -> None:
        self.view = SessionView()
        self.answers = 0
        self._session = session
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for event in self._session.events():
            apply(self.view, event)
            self.answers += isinstance(event.payload, ev.TurnCompleted) and event.payload.outcome == "complete"

    async def ask(self, text: str) -> bool:
        """Type a text; return True when an answer followed, before the session was quiet."""
        before = self.answers
        await self._session.send_text(text)
        async with asyncio.timeout(PATIENCE_S):
            await self._session.until_quiet()
        return self.answers > before

    @property
    def lines(self) -> list[str]:
        """Lines of notices on the screen."""
        return [f"{block.text} {block.detail}" for block in self.view.blocks if block.kind == "notice"]


async def main(url: str, attacks: list[str]) -> None:
    """Let the server attack; after each attack ask for an answer."""
    lines: dict[str, list[str]] = {}
    answered = []
    async with Live.builder("test").instruction("Test.").connect(backend=url, model="m") as session:
        screen = Screen(session)
        await screen.ask("hello")
        idle = memory_kb("VmRSS")
        for attack in attacks:
            seen = len(screen.lines)
            await screen.ask(f"attack {attack}")
            answered.append(await screen.ask("hello"))
            lines[attack] = screen.lines[seen:]
    print(json.dumps({"lines": lines, "answered": all(answered), "idle": idle, "peak": memory_kb("VmHWM")}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
