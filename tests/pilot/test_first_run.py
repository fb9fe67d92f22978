"""A first start: the welcome, its choices, and keys that hold before a session."""

from __future__ import annotations

import pytest
from tests.support.set_up_doubles import FakeStarter, Newcomer, before_a_session, saved_settings

from gemini_live_runtime.errors import AgentError, CredentialError
from gemini_live_tui import config
from gemini_live_tui.actions import ACTIONS
from gemini_live_tui.actions.keymap import keys_of
from gemini_live_tui.dialogs.first_run import WelcomeScreen
from gemini_live_tui.launcher import Choice
from gemini_live_tui.pickers.palette import CommandsScreen

pytestmark = pytest.mark.usefixtures("helpers")


async def test_the_first_choice_is_the_demo_and_enter_starts_it_on_the_spot() -> None:
    starter = FakeStarter()
    starter.link.start()
    async with before_a_session(starter=starter) as newcomer:
        assert "Try the demo" in newcomer.rows()[newcomer.screen().split("\n").index(newcomer.row("like to do?")) + 1]
        await newcomer.press("enter")
        await super(Newcomer, newcomer).settle()
        assert starter.chosen == [Choice(demo=True)]
        assert newcomer.app.screen is newcomer.app.console_screen
        assert "LISTENING" in newcomer.rows()[0]


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (160, 45)])
async def test_every_choice_can_be_reached_at_every_size(size: tuple[int, int]) -> None:
    async with before_a_session(size=size) as newcomer:
        await newcomer.press("end")
        assert "Quit" in newcomer.screen()
        await newcomer.press("home")
        assert "Try the demo" in newcomer.screen()


async def test_quitting_the_welcome_starts_nothing_and_is_no_failure() -> None:
    starter = FakeStarter()
    async with before_a_session(starter=starter) as newcomer:
        await newcomer.press("end", "enter")
    assert starter.chosen == []
    assert newcomer.app.return_value is not None
    assert (newcomer.app.return_value.exit_code, newcomer.app.return_value.message) == (0, "")


async def test_ctrl_c_twice_quits_and_says_so_once() -> None:
    async with before_a_session() as newcomer:
        await newcomer.press("ctrl+c")
        assert "ctrl+c again" in newcomer.screen()
        await newcomer.press("ctrl+c")
    assert newcomer.app.return_value is not None


async def test_help_and_palette_offer_what_can_be_done_before_a_session() -> None:
    async with before_a_session() as newcomer:
        await newcomer.press("f1")
        assert "There is no session yet" in newcomer.screen()
        assert "Mute" not in newcomer.screen()
        await newcomer.press("escape")
        await newcomer.press("f3")
        assert isinstance(newcomer.app.screen, CommandsScreen)
        assert "Set up: API key" in newcomer.screen()
        assert "Talk:" not in newcomer.screen()


async def test_with_a_key_the_first_choice_is_to_talk() -> None:
    starter = FakeStarter(key=True)
    async with before_a_session(starter=starter) as newcomer:
        assert "Talk to Gemini" in newcomer.screen()
        await newcomer.press("enter")
        assert starter.chosen == [Choice()]


async def test_a_key_that_cannot_be_used_is_said_and_the_rest_is_offered() -> None:
    fault = CredentialError("The key file /k can be read by others", remedy="Run chmod 600 /k")
    async with before_a_session(starter=FakeStarter(key=fault)) as newcomer:
        assert "chmod 600 /k" in newcomer.screen()
        assert "Try the demo" in newcomer.screen()


async def test_what_cannot_be_started_is_a_sentence_and_the_welcome_stays() -> None:
    starter = FakeStarter(refusing=AgentError("There is no agent 'x'", remedy="Name another"))
    async with before_a_session(starter=starter) as newcomer:
        await newcomer.press("enter")
        assert isinstance(newcomer.app.screen, WelcomeScreen)
        assert "There is no agent 'x'. Name another." in newcomer.screen()


async def test_every_step_can_be_left_out() -> None:
    async with before_a_session() as newcomer:
        for steps in (1, 2, 3, 4, 5, 6, 7):
            await newcomer.press("home", *["down"] * steps, "enter")
            assert not isinstance(newcomer.app.screen, WelcomeScreen)
            await newcomer.press("escape")
            assert isinstance(newcomer.app.screen, WelcomeScreen)
    assert saved_settings() == config.Config()


async def test_before_a_session_the_help_names_no_keys_of_the_empty_transcript() -> None:
    async with before_a_session() as newcomer:
        await newcomer.press("f1")
        assert "There is no session yet" in newcomer.screen()
        assert "utterance" not in newcomer.screen()
        assert "^d       Devices" in newcomer.screen()


APP_KEYS = [key for action in ACTIONS if action.scope == "app" for key in keys_of(action, {})]


@pytest.mark.parametrize("key", APP_KEYS)
async def test_no_key_that_holds_everywhere_fails_before_there_is_a_session(key: str) -> None:
    async with before_a_session() as newcomer:
        await newcomer.press(key)
        assert newcomer.app.failure is None
        if newcomer.app.is_running:
            await newcomer.press("escape")
            assert newcomer.app.failure is None
            assert newcomer.app.is_running
