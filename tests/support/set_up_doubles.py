"""Run a console before its first session, with doubles of devices and keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.support.console_driver import Driver, draw, idle, paint, unpainted
from tests.support.manual_clock import ManualClock
from tests.support.scripted_link import ScriptedLink, source_of

from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.config import Config, Loaded, load
from gemini_live_tui.launcher import Choice
from gemini_live_tui.session_data.link import LinkSource
from gemini_live_tui.set_up import devices as set_up_devices
from gemini_live_tui.settings import ConsoleSettings

DEVICES = (
    SoundDevice(0, "Built-in Audio", "ALSA", 2, 2, 48_000),
    SoundDevice(1, "USB Headset", "ALSA", 1, 2, 44_100, is_default_input=True, is_default_output=True),
    SoundDevice(2, "HDMI", "ALSA", 0, 8, 48_000),
)


@dataclass
class FakeStarter:
    """Starts sessions on a scripted link, and remembers what was asked of it."""

    link: ScriptedLink = field(default_factory=ScriptedLink)
    key: bool | GeminiLiveError = False
    refusing: GeminiLiveError | None = None
    chosen: list[Choice] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def source(self, choice: Choice) -> LinkSource:
        if self.refusing is not None:
            raise self.refusing
        self.chosen.append(choice)
        return source_of(self.link)

    def key_found(self) -> bool:
        if isinstance(self.key, GeminiLiveError):
            raise self.key
        return self.key

    def describe(self) -> str:
        return "Gemini"

    def devices(self) -> tuple[str, str]:
        config = load({}).config
        return config.audio_input, config.audio_output

    def headphones(self) -> bool:
        return load({}).config.headphones

    def load(self) -> Loaded:
        return load({})

    def under_profile(self, name: str) -> Choice:
        return Choice("concierge", demo=True, profile=name)

    def on_saved(self, key: str) -> None:
        self.forgotten.append(key)


class FakeHelper:
    """The helper process: `orders` it got, and reports that a test makes it give."""

    def __init__(self, told: Callable[[dict[str, Any]], None]) -> None:
        self.told = told
        self.orders: list[tuple[str, str, str]] = []
        self.closed = False

    async def order(self, name: str, *, input: str = "", output: str = "") -> None:
        self.orders.append((name, input, output))

    async def close(self) -> None:
        self.closed = True

    def level(self, mic_db: float, **values: Any) -> None:
        defaults = {"peak_db": mic_db, "out_db": None, "clipped": False, "speech": False, "left_s": None}
        self.told({"report": "level", "mic_db": mic_db, **defaults, **values})

    def problem(self, text: str) -> None:
        self.told({"report": "problem", "text": text})

    def result(self, mark: str, text: str, remedy: str = "", **numbers: Any) -> None:
        self.told({"report": "result", "mark": mark, "text": text, "remedy": remedy, **numbers})


class Helpers:
    """In place of `ConsoleApp.sound_helper`: every helper that was made."""

    def __init__(self) -> None:
        self.made: list[FakeHelper] = []

    def __call__(self, app: ConsoleApp, told: Callable[[dict[str, Any]], None]) -> FakeHelper:
        self.made.append(FakeHelper(told))
        return self.made[-1]

    @property
    def last(self) -> FakeHelper:
        return self.made[-1]


def use_doubles(
    monkeypatch: pytest.MonkeyPatch, *, devices: tuple[SoundDevice, ...] = DEVICES, problem: str = ""
) -> Helpers:
    """No process is started and no sound system asked."""
    helpers = Helpers()

    async def find_devices() -> set_up_devices.DeviceListing:
        return set_up_devices.DeviceListing(devices, problem)

    monkeypatch.setattr(ConsoleApp, "sound_helper", lambda app, told: helpers(app, told))
    monkeypatch.setattr(set_up_devices, "find_devices", find_devices)
    return helpers


def saved_settings() -> Config:
    """Return the settings that the next start will find."""
    return load({}).config


class Newcomer(Driver):
    """Driver of a console without a session."""

    def row(self, text: str) -> str:
        """Return the first row of the screen that holds `text`."""
        return next(row for row in self.rows() if text in row)

    async def settle(self) -> None:
        """Return when everything that was begun is done and painted."""
        with unpainted():
            await idle(self.app)
            await self.app.workers.wait_for_complete()
            await draw(self.app)
        await paint(self.app)


@asynccontextmanager
async def before_a_session(
    first_screen: str = "welcome",
    *,
    size: tuple[int, int] = (80, 24),
    starter: FakeStarter | None = None,
    **settings: Any,
) -> AsyncIterator[Newcomer]:
    """Run the console of a first start."""
    starter = starter or FakeStarter()
    clock = ManualClock()
    values: dict[str, Any] = {
        "theme": "ember",
        "tmux": False,
        "starter": starter,
        "first_screen": first_screen,
        **settings,
    }
    app = ConsoleApp(None, settings=ConsoleSettings(**values), clock=clock)
    async with AsyncExitStack() as running:
        with unpainted():
            pilot = await running.enter_async_context(app.run_test(size=size))
        newcomer = Newcomer(app, pilot, starter.link, clock)
        await newcomer.settle()
        yield newcomer
