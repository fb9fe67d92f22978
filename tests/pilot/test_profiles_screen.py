"""Profiles on the screen: empty and broken ones, staged values, refusals."""

from __future__ import annotations

import json
import tomllib

import pytest
from tests.support.canaries import HOSTILE
from tests.support.console_driver import Driver, console
from tests.support.profiles_screen import stage, values_of, write
from tests.support.set_up_doubles import FakeStarter

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.commands import SetConsentPolicies, SetDevices, SetOptions, SetProfileTools, SetVoice
from gemini_live_tui.pickers.profiles import ProfilesScreen
from gemini_live_tui.profile_files import profile_path

KEY = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"


def file_of(name: str = "default") -> dict[str, object]:
    return tomllib.loads(profile_path(name).read_text())


async def apply(driver: Driver) -> None:
    await driver.press("a")
    await driver.press("enter")


async def test_a_value_that_cannot_be_is_refused_in_the_field_and_not_staged() -> None:
    async with console(size=(80, 24)) as driver:
        screen = await values_of(driver, row="ui.fps")
        await stage(driver, "1000")
        assert "1 to 60" in driver.screen()
        assert screen.staged == {}
        await driver.press("escape")
        assert driver.app.screen is screen


async def test_a_key_is_neither_staged_nor_written() -> None:
    async with console() as driver:
        screen = await values_of(driver, row="model")
        await stage(driver, KEY)
        assert "profiles set-key" in driver.words()
        assert screen.staged == {}
        assert not profile_path("default").exists()


async def test_nothing_is_written_before_it_is_applied_and_confirmed() -> None:
    async with console() as driver:
        screen = await values_of(driver, row="ui.fps")
        await stage(driver, "10")
        await driver.press("a")
        assert "ui.fps → 10: at once" in driver.screen()
        await driver.press("escape")
        assert list(screen.staged) == ["ui.fps"]
        assert not profile_path("default").exists()


async def test_the_frame_rate_and_the_theme_change_at_once_and_are_kept() -> None:
    async with console() as driver:
        screen = await values_of(driver, row="ui.fps")
        await stage(driver, "10")
        screen.list.go_to("ui.theme")
        await stage(driver, "paper")
        await apply(driver)
        assert driver.app.theme == "paper"
        assert file_of() == {"ui": {"fps": 10, "theme": "paper"}}
        assert screen.staged == {}


@pytest.mark.parametrize(
    ("key", "text", "sentence"),
    [
        ("backend", "local", "from the next session on"),
        ("recording.record", "off", "from the next session on"),
        ("turns", "manual", "the conversation goes on"),
        ("audio.input", "USB", "at once"),
    ],
)
async def test_applying_says_when_each_value_counts(key: str, text: str, sentence: str) -> None:
    async with console() as driver:
        await values_of(driver, row=key)
        await stage(driver, text)
        await driver.press("a")
        assert f"{key} → {text}: " in driver.screen()
        assert sentence in driver.screen()


async def test_another_voice_speaks_in_this_call() -> None:
    async with console() as driver:
        await values_of(driver, row="voice")
        await stage(driver, "Kore")
        await apply(driver)
        assert driver.link.orders == [SetVoice(voice="Kore")]
        driver.link.emit(ev.VoiceChanged(voice="Kore"))
        await driver.press("escape")
        assert "The voice becomes Kore, from the next connection on" in driver.screen()


async def test_devices_of_the_call_are_switched_by_one_order() -> None:
    async with console() as driver:
        screen = await values_of(driver, row="audio.input")
        await stage(driver, "USB")
        screen.list.go_to("audio.headphones")
        await stage(driver, "yes")
        await apply(driver)
        assert driver.link.orders == [SetDevices(input="USB", output="", headphones=True)]


async def test_what_the_engine_refuses_is_taken_back_and_stays_staged_with_the_reason() -> None:
    write("turns = 'auto'\n", "default")
    async with console() as driver:
        screen = await values_of(driver)
        await stage(driver, "server")
        await apply(driver)
        assert file_of() == {"turns": "server"}
        assert driver.link.orders == [SetOptions(turn_detection="server")]
        refused = ev.CommandRefused(
            command_id=driver.link.sent[-1].id, command="options.set", reason="This agent needs other turns"
        )
        driver.link.emit(refused)
        await driver.settle()
        assert screen.staged["turns"].value == "server"
        assert "needs other turns" in driver.screen()
        assert file_of() == {"turns": "auto"}


async def test_a_value_that_cannot_be_written_stays_staged_with_the_reason() -> None:
    async with console() as driver:
        screen = await values_of(driver, row="ui.fps")
        await stage(driver, "10")
        paths.private_dir(paths.config_dir())
        (paths.config_dir() / "profiles").write_text("a file in the place of the folder")
        await apply(driver)
        assert "cannot be read: Not a directory" in driver.words()
        assert screen.staged["ui.fps"].problem


async def test_values_of_another_profile_do_not_change_this_session() -> None:
    write("", "work")
    async with console() as driver:
        await values_of(driver, "work", row="ui.theme")
        await stage(driver, "paper")
        await driver.press("a")
        assert "ui.theme → paper: in sessions of this profile" in driver.screen()
        await driver.press("enter")
        assert driver.app.theme == "ember"
        assert file_of("work") == {"ui": {"theme": "paper"}}


async def test_an_entry_of_a_table_can_be_added() -> None:
    async with console() as driver:
        await values_of(driver, row="+")
        await stage(driver, "consent.pay = deny")
        assert "consent.pay" in driver.screen()
        await apply(driver)
        assert file_of() == {"consent": {"pay": "deny"}}
        assert driver.link.orders == [SetConsentPolicies(policies={"pay": "deny"})]


async def test_tools_of_the_profile_count_in_the_call_and_the_question_says_so() -> None:
    async with console() as driver:
        await values_of(driver, row="+")
        await stage(driver, "tools.enabled = tasks, notify")
        await driver.press("a")
        assert "with another connection; the conversation goes on" in driver.words()
        await driver.press("enter")
        assert file_of() == {"tools": {"enabled": ["tasks", "notify"]}}
        assert driver.link.orders == [SetProfileTools(enabled=("tasks", "notify"))]


@pytest.mark.parametrize(
    "text", ["consent.pay", "= deny", "consent.pay = perhaps", "nope.x = 1", "tools.folders.x = y"]
)
async def test_an_entry_that_cannot_be_is_refused_in_the_field(text: str) -> None:
    async with console() as driver:
        screen = await values_of(driver, row="+")
        await stage(driver, text)
        assert screen.staged == {}
        assert screen.query_one("#values-message").has_class("-error")


async def test_leaving_with_staged_values_asks() -> None:
    async with console() as driver:
        screen = await values_of(driver, row="ui.fps")
        await stage(driver, "10")
        await driver.press("escape")
        assert "1 value is not applied" in driver.screen()
        await driver.press("escape")
        assert driver.app.screen is screen
        await driver.press("escape")
        await driver.press("enter")
        assert driver.app.screen is driver.app.console_screen


async def test_a_profile_that_cannot_be_used_is_listed_with_its_reason_and_neither_opened_nor_switched_to() -> None:
    write("[ui]\nfps = 1000\n", "broken")
    starter = FakeStarter()
    async with console(starter=starter) as driver:
        await driver.press("/profiles")
        assert "cannot be used" in driver.screen()
        await driver.press("home")
        assert "1 to 60" in driver.words()
        for key in ("enter", "space", "n"):
            await driver.press(key)
            assert isinstance(driver.app.screen, ProfilesScreen)
        assert starter.chosen == []


@pytest.mark.parametrize("name", ["default", "../x", "", "a b"])
async def test_a_name_that_cannot_be_is_refused_in_the_field(name: str) -> None:
    write("", "default")
    async with console() as driver:
        await driver.press("/profiles")
        await driver.press("n")
        await driver.press(*name, "enter")
        assert driver.app.screen.query_one("#message").has_class("-error")
        assert [path.name for path in profile_path("default").parent.iterdir()] == ["default.toml"]


async def test_a_console_that_starts_no_sessions_says_how_to_start_one() -> None:
    write("", "work")
    async with console() as driver:
        await driver.press("/profiles")
        await driver.press("down")
        await driver.press("space")
        assert "gemini-live-tui --profile work" in driver.words()


async def test_hostile_values_are_shown_without_their_effect() -> None:
    write(f"model = {json.dumps(HOSTILE)}\n", "default")
    async with console() as driver:
        screen = await values_of(driver, row="model")
        assert screen.list.row_at_cursor == "model"
        assert not [sign for sign in driver.screen() if ord(sign) < 32 and sign != "\n"]
