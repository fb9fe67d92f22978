"""Pictures of a first start, screen by screen and state by state."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.canaries import KEY
from tests.support.console_driver import make_app, settle
from tests.support.manual_clock import ManualClock
from tests.support.profiles_screen import stage, values_of, write
from tests.support.scripted_link import ScriptedLink
from tests.support.set_up_doubles import FakeStarter, Helpers, Newcomer, use_doubles
from textual import events
from textual.pilot import Pilot

from gemini_live_runtime.wire.key_check import KeyCheck
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.set_up import keys, vertex
from gemini_live_tui.set_up.recent import RecentAgent
from gemini_live_tui.settings import ConsoleSettings

Act = Callable[[Newcomer, Helpers], Awaitable[None]]
NARROW, NORMAL = (80, 24), (120, 36)
ASCII: dict[str, Any] = {"ascii": True}


async def nothing(newcomer: Newcomer, helpers: Helpers) -> None:
    return


async def entered(newcomer: Newcomer, helpers: Helpers) -> None:
    newcomer.app.post_message(events.Paste(KEY))
    await newcomer.settle()


async def works(newcomer: Newcomer, helpers: Helpers) -> None:
    await entered(newcomer, helpers)
    await newcomer.press("enter")


async def for_now(newcomer: Newcomer, helpers: Helpers) -> None:
    await works(newcomer, helpers)
    await newcomer.press("down", "enter")


async def a_project(newcomer: Newcomer, helpers: Helpers) -> None:
    await newcomer.press(*"my-project", "enter")


async def some_profiles(newcomer: Newcomer, helpers: Helpers) -> None:
    write("[ui]\nfps = 1000\n", "broken")
    write("voice = 'Puck'\n", "work")
    newcomer.app.action_open("profiles")
    await newcomer.settle()


async def staged_values(newcomer: Newcomer, helpers: Helpers) -> None:
    write("voice = 'Puck'\n[ui]\nfps = 15\n", "default")
    screen = await values_of(newcomer, row="voice")
    await stage(newcomer, "Kore")
    screen.list.go_to("ui.fps")
    await stage(newcomer, "10")


async def a_level(newcomer: Newcomer, helpers: Helpers) -> None:
    await newcomer.press("down", "down")
    helpers.last.level(-19.0, peak_db=-11.0, speech=True)
    await newcomer.settle()


async def a_busy_device(newcomer: Newcomer, helpers: Helpers) -> None:
    await newcomer.press("down", "enter")
    helpers.last.problem("Microphone 'Built-in Audio' is in use by another program.")
    await newcomer.settle()


async def listening(newcomer: Newcomer, helpers: Helpers) -> None:
    await newcomer.press("enter")
    helpers.last.level(-19.0, peak_db=-11.0, speech=True, left_s=3.0)
    await newcomer.settle()


async def a_quiet_voice(newcomer: Newcomer, helpers: Helpers) -> None:
    await newcomer.press("enter")
    numbers = {"voice_db": -48.0, "floor_db": -60.0, "peak_db": -38.0}
    helpers.last.result(
        "fair", "Your voice is very quiet.", "Turn the microphone's level up, or come closer", **numbers
    )
    await newcomer.settle()


async def no_echo_left(newcomer: Newcomer, helpers: Helpers) -> None:
    await newcomer.press("enter")
    said = "The echo is taken out: you can speak while the model speaks."
    helpers.last.result("good", said, return_db=-12.0, reduction_db=31.0)
    await newcomer.settle()


async def a_loud_echo(newcomer: Newcomer, helpers: Helpers) -> None:
    await newcomer.press("enter")
    said = "The echo is hardly taken out: the model will hear itself and interrupt itself."
    remedy = "Use headphones, or turn the speaker down"
    helpers.last.result("poor", said, remedy, return_db=2.0, reduction_db=4.0)
    await newcomer.settle()


async def no_sound(newcomer: Newcomer, helpers: Helpers) -> None:
    await newcomer.press("enter")
    helpers.last.problem("No sound device was found.")
    await newcomer.settle()


REFUSED = KeyCheck("refused", "Google refuses the key: API key not valid.", "Copy it again")
UNKNOWN = KeyCheck("unknown", "generativelanguage.googleapis.com cannot be reached: no route.", "Check the network")

PICTURES: dict[str, tuple[str, tuple[int, int], dict[str, Any], Act]] = {
    "welcome-narrow": ("welcome", NARROW, {}, nothing),
    "welcome-normal": ("welcome", NORMAL, {}, nothing),
    "welcome-small": ("welcome", (60, 16), {}, nothing),
    "welcome-ready-narrow": ("welcome", NARROW, {"key": True}, nothing),
    "welcome-ascii-narrow": ("welcome", NARROW, ASCII, nothing),
    "welcome-ansi-narrow": ("welcome", NARROW, {"theme": "ansi"}, nothing),
    "key-narrow": ("key", NARROW, {}, nothing),
    "key-entered-narrow": ("key", NARROW, {}, entered),
    "key-works-narrow": ("key", NARROW, {}, works),
    "key-refused-narrow": ("key", NARROW, {"check": REFUSED}, works),
    "key-unknown-narrow": ("key", NARROW, {"check": UNKNOWN}, works),
    "key-for-now-narrow": ("key", NARROW, {}, for_now),
    "vertex-narrow": ("vertex", NARROW, {}, nothing),
    "vertex-no-login-narrow": ("vertex", NARROW, {}, a_project),
    "devices-narrow": ("devices", NARROW, {}, a_level),
    "devices-normal": ("devices", NORMAL, {}, a_level),
    "devices-busy-narrow": ("devices", NARROW, {}, a_busy_device),
    "devices-none-narrow": ("devices", NARROW, {"devices": ()}, nothing),
    "devices-ascii-narrow": ("devices", NARROW, ASCII, a_level),
    "microphone-test-narrow": ("microphone-test", NARROW, {}, listening),
    "microphone-quiet-narrow": ("microphone-test", NARROW, {}, a_quiet_voice),
    "echo-gone-narrow": ("echo-test", NARROW, {}, no_echo_left),
    "echo-loud-narrow": ("echo-test", NARROW, {}, a_loud_echo),
    "echo-no-sound-narrow": ("echo-test", NARROW, {}, no_sound),
    "gallery-narrow": ("gallery", NARROW, {}, nothing),
    "profiles-narrow": ("welcome", NARROW, {}, some_profiles),
    "profile-values-narrow": ("welcome", NARROW, {}, staged_values),
    "profile-values-ansi-narrow": ("welcome", NARROW, {"theme": "ansi"}, staged_values),
}


@pytest.fixture
def doubles(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setitem(sys.modules, "keyring", None)
    monkeypatch.setattr(keys, "key_file_label", lambda: "~/.config/gemini-live-tui/api-key")
    monkeypatch.setattr("gemini_live_tui.pickers.profiles.home_label", lambda path: f"~/{path.name}")
    monkeypatch.setattr(keys, "profile_line", lambda _: ("export GEMINI_API_KEY=YOUR-KEY", "~/.bashrc"))

    async def no_login() -> vertex.Login:
        return vertex.Login(False, "Vertex needs google-auth, which is not installed. Install gemini-live-tui[vertex].")

    monkeypatch.setattr(vertex, "find_login", no_login)
    monkeypatch.setenv("GEMINI_API_KEY", "")
    used = ManualClock().wall() - 7200
    own = [RecentAgent(reference, used) for reference in ("front_desk:agent", "/gone/my_agent.py:agent")]
    monkeypatch.setattr("gemini_live_tui.pickers.gallery.recent_agents", lambda: own)
    return monkeypatch


@pytest.mark.parametrize("name", PICTURES)
def test_a_first_start_looks_as_it_was_approved(
    name: str, snap_compare: Any, doubles: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, size, changes, act = PICTURES[name]
    changes = dict(changes)
    check = changes.pop("check", KeyCheck("works", "The key works: 41 models, 6 of them live."))

    async def answer(_: object) -> KeyCheck:
        return check

    doubles.setattr(keys, "check_key", answer)
    listed = {"devices": changes.pop("devices")} if "devices" in changes else {}
    helpers = use_doubles(doubles, problem="No sound device was found." if listed else "", **listed)
    starter = FakeStarter(key=changes.pop("key", False))
    values: dict[str, Any] = {"theme": "ember", "tmux": False, "starter": starter, "first_screen": first, **changes}
    app = ConsoleApp(None, settings=ConsoleSettings(**values), clock=ManualClock())

    async def run_before(pilot: Pilot[Any]) -> None:
        newcomer = Newcomer(app, pilot, starter.link, ManualClock())
        await newcomer.settle()
        await act(newcomer, helpers)
        await newcomer.settle()

    assert snap_compare(app, terminal_size=size, run_before=run_before)


def test_asking_before_a_call_is_hung_up_looks_as_it_was_approved(
    snap_compare: Any, doubles: pytest.MonkeyPatch
) -> None:
    link = ScriptedLink()
    link.start()
    link.exchange("What's the weather in Lisbon?", "It is 21 degrees and clear in Lisbon.")
    app = make_app(link, starter=FakeStarter())

    async def run_before(pilot: Pilot[Any]) -> None:
        await settle(app, link)
        app.action_open("gallery")
        await settle(app, link)
        await pilot.press("down", "enter")
        await settle(app, link)

    assert snap_compare(app, terminal_size=NORMAL, run_before=run_before)
