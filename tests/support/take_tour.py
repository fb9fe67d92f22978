"""Takes the tour before a camera: the pictures of `docs/tour.md`.

    python -m tests.support.take_tour docs/tour

Needs the extra `local`; takes about half a minute, it is real time.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from tests.support import tour
from tests.support.console_driver import screen_text
from tests.support.patience import PATIENCE_S
from textual.pilot import Pilot

from gemini_live_runtime.engine.assemble import make_session
from gemini_live_runtime.engine.in_process import in_process
from gemini_live_runtime.engine.link import Link
from gemini_live_runtime.engine.spec import EngineSpec, new_session_id
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.settings import ConsoleOutcome, ConsoleSettings


class Photographer:
    """Takes the tour in a thread of its own, while the console runs on its loop."""

    def __init__(self, app: ConsoleApp, pilot: Pilot[ConsoleOutcome], folder: Path) -> None:
        self._app = app
        self._pilot = pilot
        self._folder = folder
        self._loop = asyncio.get_running_loop()

    def _do(self, what: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(PATIENCE_S)

    def say(self, text: str) -> None:
        self.type(text)
        self.press("enter")

    def press(self, *keys: str) -> None:
        for key in keys:
            self._do(self._pilot.press(key))
            self._do(self._pilot.pause(0.2))

    def type(self, text: str) -> None:
        self._do(self._pilot.press(*("space" if letter == " " else letter for letter in text)))
        self._do(self._pilot.pause(0.2))

    def until(self, *texts: str, gone: str = "") -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            screen = self._do(self._screen())
            if all(text in screen for text in texts) and not (gone and gone in screen):
                return
            if time.monotonic() > deadline:
                raise SystemExit(f"waited in vain for {texts}:\n{screen}")
            time.sleep(0.05)

    async def _screen(self) -> str:
        await self._pilot.pause()
        return screen_text(self._app)

    def picture(self, name: str) -> None:
        self._do(self._picture(name))

    async def _picture(self, name: str) -> None:
        await self._pilot.pause(0.5)
        svg = self._app.export_screenshot(title="gemini-live-tui demo debt_collection")
        # The font is fetched from outside by the original; the reader's own monospace does.
        svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
        here = str(Path.cwd())
        svg = svg.replace(here, "~/calls" + "&#160;" * (len(here) - len("~/calls")))
        (self._folder / f"{name}.svg").write_text(svg, "utf-8")


async def take(folder: Path) -> None:
    """Hold the conversation of the tour and keep its pictures in `folder`."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_DATA_HOME"] = name
        spec = EngineSpec(
            session_id=new_session_id(time.time()), agent="debt_collection", audio="none", mode="text", record="text"
        )

        async def source() -> Link:
            return in_process(spec, make_session).link

        # A picture is not to name anybody's folder.
        (Path(name) / "calls").mkdir()
        os.chdir(Path(name) / "calls")
        app = ConsoleApp(source, settings=ConsoleSettings(theme="ember", tmux=False))
        async with app.run_test(size=tour.SIZE) as pilot:
            await asyncio.to_thread(tour.take, Photographer(app, pilot, folder))
        os.chdir("/")


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1])))
