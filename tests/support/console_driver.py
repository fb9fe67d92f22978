"""Drive a console in tests: scripted link, still clock, screen as text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.support.manual_clock import ManualClock
from tests.support.patience import PATIENCE_S
from tests.support.scripted_link import ScriptedLink, source_of
from textual import events
from textual._compositor import Compositor
from textual.keys import _character_to_key
from textual.pilot import Pilot

# What a console imports in a thread while it starts is here before: a driver that spins would starve that thread.
from gemini_live_runtime import vocabulary  # noqa: F401
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.settings import ConsoleOutcome, ConsoleSettings

BY_NAME = "by name: "

NOWHERE = Path(__file__).with_name("no-such-folder")


@dataclass
class Driver:
    """A running console and both of its ends."""

    app: ConsoleApp
    pilot: Pilot[ConsoleOutcome]
    link: ScriptedLink
    clock: ManualClock

    async def settle(self) -> None:
        """Return when everything the link said is folded and painted."""
        await settle(self.app, self.link)

    async def press(self, *keys: str) -> None:
        """Press keys, as fast as a terminal can deliver them, and wait for their effects.

        `BY_NAME` and an action's id choose that action as the palette does; `/command` is written and sent.
        """
        self.tap(*keys)
        await self.settle()

    async def quit(self, *keys: str) -> None:
        """Press keys of which the last one hangs up, and wait until the console has ended."""
        self.tap(*keys)
        await until_others_wait()
        assert self.app.leaving.hanging_up is not None
        await self.app.leaving.hanging_up

    def tap(self, *keys: str) -> None:
        """Press keys without waiting for anything."""
        for key in keys:
            if key.startswith(BY_NAME):
                self.app.performer(key.removeprefix(BY_NAME))()
                continue
            if key.startswith("/") and len(key) > 1:
                prompt = self.app.console_screen.prompt
                prompt.text = ""
                self.app.console_screen.set_focus(prompt)
                self.tap(*key, "enter")
                continue
            name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
            character = " " if name == "space" else key if len(key) == 1 else None
            self.app.post_message(events.Key(name, character))

    def screen(self) -> str:
        """Return the text of the screen, row by row."""
        return screen_text(self.app)

    def words(self) -> str:
        """Return the screen as running text: without frames, wrapped lines joined."""
        return " ".join(self.screen().translate(dict.fromkeys(map(ord, "│╭╮╰╯─"), " ")).split())

    def rows(self) -> list[str]:
        return self.screen().split("\n")


def screen_text(app: ConsoleApp) -> str:
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


async def settle(app: ConsoleApp, link: ScriptedLink) -> None:
    """Return when everything the link said is folded and painted."""
    with unpainted():
        async with asyncio.timeout(PATIENCE_S):
            while not await _took_in(app, link):  # noqa: ASYNC110
                # Something comes from a thread.
                await asyncio.sleep(0.001)
        await draw(app)
    await paint(app)


async def draw(app: ConsoleApp) -> None:
    """Draw frames until the console asks for no further one at once."""
    for _ in range(5):
        await _next_frame(app)
        # What a dialog says of the session follows the session's own frame.
        if len(app.screen_stack) == 1 and not _wants_a_frame(app):
            return


async def paint(app: ConsoleApp) -> None:
    """Paint what has changed, and draw what follows from it."""
    if app.is_running and app.screen._compositor._dirty_regions:
        app.screen._compositor_refresh()
    await _next_frame(app)


async def _next_frame(app: ConsoleApp) -> None:
    if app.is_running:
        app.frames.flush()
    await idle(app)


def _wants_a_frame(app: ConsoleApp) -> bool:
    """Return True when the console would draw again at once."""
    frames = app.frames
    return frames._due <= max(asyncio.get_running_loop().time(), frames._last + frames._interval)


@contextmanager
def unpainted() -> Iterator[None]:
    """Collect what changes on the screen, to be painted once at the end.

    Painting costs a third of a test, and nothing shows the pictures in between.
    """
    with patch.object(Compositor, "render_update", _paint_nothing):
        yield


def _paint_nothing(self: Compositor, full: bool = False, screen_stack: object = None, simplify: bool = False) -> None:
    """Take the parameters that `painter_guard` asks for."""


async def _took_in(app: ConsoleApp, link: ScriptedLink) -> bool:
    """Return True once the console has folded everything that the link said."""
    await idle(app)
    task = app._link_task
    whole = len(app.console_screen.grid.panes) > 1
    waits = task is not None and (link.waiting or task.done())
    return whole and waits and bool(link.delivered) and not app.store.queued


async def idle(app: ConsoleApp) -> None:
    """Wait until every widget has answered its messages and the screen is painted."""
    await until_others_wait()
    # A dialog shows what the screens behind it have drawn.
    for screen in (*app._background_screens, app.screen):
        if screen._update_timer._active.is_set():  # as Textual would: one without changes is not drawn again
            screen._on_timer_update()
    await until_others_wait()


async def until_others_wait() -> None:
    """Let other tasks run until each waits for a timer, a file or a thread."""
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    for _ in range(5000):
        await asyncio.sleep(0)
        if not ready:
            return
    raise AssertionError("a task of the console runs without end")


def make_app(link: ScriptedLink, clock: ManualClock | None = None, **settings: Any) -> ConsoleApp:
    values: dict[str, Any] = {"theme": "ember", "tmux": False, "bye_timeout_s": 20.0, **settings}
    return ConsoleApp(source_of(link), settings=ConsoleSettings(**values), clock=clock or ManualClock())


@asynccontextmanager
async def console(
    *, size: tuple[int, int] = (100, 30), started: bool = True, link: ScriptedLink | None = None, **settings: Any
) -> AsyncIterator[Driver]:
    """Run a console on a scripted session; `started` waits for its first picture."""
    link = link or ScriptedLink()
    clock = ManualClock()
    app = make_app(link, clock, **settings)
    async with AsyncExitStack() as running:
        with unpainted() if started else nullcontext():
            pilot = await running.enter_async_context(app.run_test(size=size))
        driver = Driver(app, pilot, link, clock)
        if started:
            link.start()
            await driver.settle()
        yield driver
