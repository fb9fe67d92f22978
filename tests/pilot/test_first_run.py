"""A first start: each step, the values it stores, and a key that shows nowhere."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.canaries import KEY, leaks
from tests.support.console_driver import Driver, console
from tests.support.set_up_doubles import DEVICES, FakeStarter, Helpers, Newcomer, before_a_session, use_doubles
from textual.widgets import OptionList

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import SetDevices, SetMicrophone
from gemini_live_runtime.errors import AgentError, CredentialError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.wire import key_check
from gemini_live_runtime.wire.credentials import credential_environment
from gemini_live_tui import config
from gemini_live_tui.actions import ACTIONS
from gemini_live_tui.actions.keymap import keys_of
from gemini_live_tui.dialogs.api_key import KeyScreen
from gemini_live_tui.dialogs.first_run import WelcomeScreen
from gemini_live_tui.launcher import Choice
from gemini_live_tui.pickers.palette import CommandsScreen
from gemini_live_tui.set_up import keys, vertex


@pytest.fixture(autouse=True)
def helpers(monkeypatch: pytest.MonkeyPatch) -> Helpers:
    monkeypatch.setitem(sys.modules, "keyring", None)
    return use_doubles(monkeypatch)


def google(monkeypatch: pytest.MonkeyPatch, status: int, body: object) -> list[httpx.Request]:
    """Google answers every check so; what it was asked."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, json=body)

    checked = partial(key_check.check_key, transport=httpx.MockTransport(answer))
    monkeypatch.setattr(keys, "check_key", checked)
    return asked


def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Name or service not known")

    monkeypatch.setattr(keys, "check_key", partial(key_check.check_key, transport=httpx.MockTransport(answer)))


async def paste(newcomer: Newcomer, text: str) -> None:
    from textual import events

    newcomer.app.post_message(events.Paste(text))
    await newcomer.settle()


def settings() -> config.Config:
    return config.load({}).config


@pytest.fixture(autouse=True)
def fresh_redactor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redactor, "_permanent", set())
    monkeypatch.setattr(redactor, "_known", [])


# -- the welcome -----------------------------------------------------------------------------------------------------


async def test_the_first_choice_is_the_demo_and_enter_starts_it_on_the_spot() -> None:
    starter = FakeStarter()
    starter.link.start()
    async with before_a_session(starter=starter) as newcomer:
        assert "Try the demo" in newcomer.rows()[newcomer.screen().split("\n").index(_row(newcomer, "like to do?")) + 1]
        await newcomer.press("enter")
        await super(Newcomer, newcomer).settle()
        assert starter.chosen == [Choice(demo=True)]
        assert newcomer.app.screen is newcomer.app.console_screen
        assert "LISTENING" in newcomer.rows()[0]


def _row(newcomer: Newcomer, text: str) -> str:
    return next(row for row in newcomer.rows() if text in row)


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
    assert settings() == config.Config()


async def test_before_a_session_the_help_names_no_keys_of_the_empty_transcript() -> None:
    async with before_a_session() as newcomer:
        await newcomer.press("f1")
        assert "There is no session yet" in newcomer.screen()
        assert "utterance" not in newcomer.screen()
        assert "^d       Devices" in newcomer.screen()


# -- the key ---------------------------------------------------------------------------------------------------------


async def test_a_key_is_checked_kept_in_a_private_file_and_found_by_the_next_start(
    monkeypatch: pytest.MonkeyPatch, nobodys_home: Path
) -> None:
    path = config.config_path({})
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n[ui]\ntheme = 'paper'  # bright\n")
    asked = google(monkeypatch, 200, {"models": [{"supportedGenerationMethods": ["bidiGenerateContent"]}]})
    async with before_a_session("key") as newcomer:
        await paste(newcomer, f" {KEY}\n")
        assert "it looks like a key" in newcomer.screen()
        await newcomer.press("enter")
        assert "The key works: 1 models, 1 of them live." in newcomer.screen()
        await newcomer.press("enter")
        assert "The key is kept in" in newcomer.screen()
    assert asked[0].headers["x-goog-api-key"] == KEY
    assert keys.key_file().read_text() == f"{KEY}\n"
    assert keys.key_file().stat().st_mode & 0o777 == 0o600
    kept = settings()
    assert (kept.api_key_source, kept.api_key_file, kept.backend) == ("file", str(keys.key_file()), "gemini")
    assert "# mine" in path.read_text()
    assert "# bright" in path.read_text()
    from gemini_live_tui.cli.console_start import key_found

    assert key_found(kept)


async def test_the_key_is_never_on_the_screen_nor_anywhere_but_in_its_file(
    monkeypatch: pytest.MonkeyPatch, nobodys_home: Path
) -> None:
    google(monkeypatch, 400, {"error": {"message": f"API key not valid: {KEY}"}})
    screens: list[str] = []
    async with before_a_session("key") as newcomer:
        await newcomer.press(*KEY)
        screens.append(newcomer.screen())
        await newcomer.press("shift+home", "ctrl+c")
        screens.append(newcomer.screen())
        assert KEY not in newcomer.app.clipboard
        await newcomer.press("enter")
        screens.append(newcomer.screen())
        assert "Google refuses the key" in newcomer.screen()
        screen = newcomer.app.screen
        assert isinstance(screen, KeyScreen)
        screens.extend((repr(screen), repr(vars(screen)), str(newcomer.app.tree), newcomer.app.export_screenshot()))
    assert leaks(nobodys_home, *screens) == []
    assert "•" * 10 in screens[0]


async def test_a_refused_key_is_not_kept_and_another_one_can_be_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    google(monkeypatch, 400, {"error": {"message": "API key not valid."}})
    async with before_a_session("key") as newcomer:
        await paste(newcomer, KEY)
        await newcomer.press("enter")
        assert "Google refuses the key: API key not valid." in newcomer.screen()
        await newcomer.press("tab", "enter")
        assert not keys.key_file().exists()
        google(monkeypatch, 200, {"models": []})
        await paste(newcomer, KEY)
        await newcomer.press("enter")
        assert "Where shall it be kept?" in newcomer.words()


async def test_a_key_that_could_not_be_checked_is_kept_only_when_one_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unreachable(monkeypatch)
    async with before_a_session("key") as newcomer:
        await paste(newcomer, KEY)
        await newcomer.press("enter")
        assert "could not be checked" in newcomer.screen()
        assert "Keep it anyway?" in newcomer.screen()
        assert not keys.key_file().exists()
        await newcomer.press("enter")
        assert keys.key_file().exists()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("hello", "5 characters; a key has at least 20"),
        ("sk-" + "a" * 40, "another provider"),
        (f'"{KEY}"', "quotation"),
    ],
)
async def test_a_wrong_shape_is_said_while_it_is_typed_and_nobody_is_asked(
    typed: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = google(monkeypatch, 200, {"models": []})
    async with before_a_session("key") as newcomer:
        await paste(newcomer, typed)
        assert said in newcomer.screen()
        await newcomer.press("enter")
        assert asked == []
        assert "That is no key" in newcomer.screen()


async def test_what_is_said_is_seen_in_the_smallest_console_too(monkeypatch: pytest.MonkeyPatch) -> None:
    google(monkeypatch, 400, {"error": {"message": "API key not valid."}})
    async with before_a_session("key", size=(60, 16)) as newcomer:
        await paste(newcomer, KEY)
        await newcomer.press("enter")
        await newcomer.settle()
        assert "Google refuses the key: API key not valid." in newcomer.words()


async def test_an_empty_field_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = google(monkeypatch, 200, {"models": []})
    async with before_a_session("key") as newcomer:
        await newcomer.press("enter")
        assert "There is no key yet" in newcomer.screen()
    assert asked == []


async def test_a_key_for_now_reaches_engines_alone_and_the_line_for_good_is_shown_without_it(
    monkeypatch: pytest.MonkeyPatch, nobodys_home: Path
) -> None:
    google(monkeypatch, 200, {"models": []})
    monkeypatch.setenv("SHELL", "/bin/zsh")
    monkeypatch.setenv("GEMINI_API_KEY", "")
    async with before_a_session("key") as newcomer:
        await paste(newcomer, KEY)
        await newcomer.press("enter")
        await newcomer.press("down", "enter")
        assert "export GEMINI_API_KEY=YOUR-KEY" in newcomer.screen()
        assert "~/.zshrc" in newcomer.screen()
        shown = newcomer.screen()
    assert credential_environment()["GEMINI_API_KEY"] == KEY
    assert KEY not in os.environ.values()
    assert settings().api_key_source == "env"
    assert leaks(nobodys_home, shown) == []


async def test_without_a_keyring_the_reason_is_shown_and_it_cannot_be_chosen() -> None:
    async with before_a_session("key") as newcomer:
        assert "It needs the extra `keyring`." in newcomer.words()


async def test_a_file_that_cannot_be_written_keeps_the_key_and_offers_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    google(monkeypatch, 200, {"models": []})
    keys.key_file().mkdir(parents=True)
    async with before_a_session("key") as newcomer:
        await paste(newcomer, KEY)
        await newcomer.press("enter")
        await newcomer.press("enter")
        assert "cannot be written" in newcomer.words()
        monkeypatch.setenv("GEMINI_API_KEY", "")
        await newcomer.press("down", "enter")
        assert "kept for this run" in newcomer.screen()


async def test_after_the_key_the_welcome_offers_to_talk_first(monkeypatch: pytest.MonkeyPatch) -> None:
    google(monkeypatch, 200, {"models": []})
    starter = FakeStarter()
    async with before_a_session(starter=starter) as newcomer:
        await newcomer.press("down", "down", "enter")
        await paste(newcomer, KEY)
        await newcomer.press("enter")
        await newcomer.press("enter")
        starter.key = True
        await newcomer.press("escape")
        assert "Talk to Gemini" in newcomer.screen()
        assert starter.forgotten == ["backend"]
        await newcomer.press("enter")
        assert starter.chosen == [Choice()]


# -- Vertex ----------------------------------------------------------------------------------------------------------


def login(monkeypatch: pytest.MonkeyPatch, found: bool, sentence: str) -> None:
    async def find() -> vertex.Login:
        return vertex.Login(found, sentence)

    monkeypatch.setattr(vertex, "find_login", find)


async def test_a_project_with_a_login_is_saved_as_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    login(monkeypatch, True, "Logged in, by application default credentials.")
    async with before_a_session("vertex") as newcomer:
        await newcomer.press(*"my-project", "enter")
        assert "Saved: my-project in us-central1." in newcomer.words()
        await newcomer.press("enter")
        assert not newcomer.app.screen.is_modal
    kept = settings()
    assert (kept.backend, kept.vertex_project, kept.vertex_location) == ("vertex", "my-project", "us-central1")


async def test_without_a_login_the_reason_is_said_and_a_second_enter_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    login(monkeypatch, False, "Vertex needs google-auth, which is not installed.")
    async with before_a_session("vertex") as newcomer:
        await newcomer.press(*"my-project", "enter")
        assert "needs google-auth" in newcomer.screen()
        assert settings().backend == ""
        await newcomer.press("enter")
        assert "Saved: my-project" in newcomer.screen()
    assert settings().backend == "vertex"


@pytest.mark.parametrize(("typed", "said"), [("", "needs a project"), ("a project!", "cannot use the project")])
async def test_what_cannot_be_a_project_is_said_at_once(typed: str, said: str) -> None:
    async with before_a_session("vertex") as newcomer:
        await newcomer.press(*typed, "enter")
        assert said in newcomer.screen()
    assert settings().backend == ""


# -- devices ---------------------------------------------------------------------------------------------------------


async def test_devices_stand_below_each_other_at_80_columns_and_beside_each_other_from_100_on() -> None:
    for size, beside in (((80, 24), False), ((100, 30), True)):
        async with before_a_session("devices", size=size) as newcomer:
            assert ("Speaker" in _row(newcomer, " Microphone  ")) is beside


async def test_the_level_is_that_of_the_microphone_under_the_cursor(helpers: Helpers) -> None:
    async with before_a_session("devices") as newcomer:
        helper = helpers.last
        assert helper.orders[-1] == ("levels", "", "")
        helper.level(-18.0, speech=True)
        await newcomer.settle()
        assert "-18 dB voice" in newcomer.screen()
        await newcomer.press("down")
        assert helper.orders[-1] == ("levels", "Built-in Audio", "")
        helper.problem("Microphone 'Built-in Audio' is in use by another program.")
        await newcomer.settle()
        assert "in use by another program" in newcomer.screen()
    assert helper.closed


async def test_enter_saves_one_side_after_the_other_and_the_next_start_has_both() -> None:
    starter = FakeStarter()
    async with before_a_session("devices", starter=starter) as newcomer:
        await newcomer.press("down", "down", "enter")
        assert "Microphone: USB Headset. Saved." in newcomer.screen()
        await newcomer.press("end", "enter")
        assert "Speaker: HDMI. Saved." in newcomer.screen()
    kept = settings()
    assert (kept.audio_input, kept.audio_output) == ("USB Headset", "HDMI")
    assert starter.forgotten == ["audio.input", "audio.output"]


async def test_a_variable_that_overrides_the_choice_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_LIVE_TUI_AUDIO_INPUT", "HDMI")
    async with before_a_session("devices", size=(120, 36)) as newcomer:
        await newcomer.press("home", "enter")
        assert "GEMINI_LIVE_TUI_AUDIO_INPUT in the environment overrides" in newcomer.screen()


async def test_without_devices_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    use_doubles(monkeypatch, devices=(), problem="PortAudio is not installed, so there is no sound.")
    async with before_a_session("devices") as newcomer:
        assert "PortAudio is not installed" in newcomer.screen()
        assert "no microphone was found" in newcomer.screen()


# -- the tests of sound ----------------------------------------------------------------------------------------------


async def test_the_microphone_test_shows_levels_time_and_a_verdict(helpers: Helpers) -> None:
    async with before_a_session("microphone-test") as newcomer:
        await newcomer.press("enter")
        helper = helpers.last
        helper.level(-22.0, left_s=3.2)
        await newcomer.settle()
        assert "3 s left" in newcomer.screen()
        assert "-22 dB" in newcomer.screen()
        await newcomer.press("enter")
        assert helper.orders == [("microphone", "", "")]
        helper.result("fair", "Your voice is very quiet.", "Come closer", voice_db=-50, floor_db=-60, peak_db=-40)
        await newcomer.settle()
        for words in (
            "FAIR  Your voice is very quiet.",
            "Come closer.",
            "voice -50 dBFS, room -60 dBFS, peak -40 dBFS",
        ):
            assert words in newcomer.screen()
        await newcomer.press("enter")
        assert len(helper.orders) == 2


async def test_the_echo_test_says_what_comes_back_and_what_is_taken_out(helpers: Helpers) -> None:
    async with before_a_session("echo-test", size=(120, 36)) as newcomer:
        await newcomer.press("enter")
        helpers.last.level(-30.0, out_db=-20.0, left_s=4.0)
        await newcomer.settle()
        assert "Playing: please be quiet. 4 s left." in newcomer.screen()
        helpers.last.result("good", "The echo is taken out.", return_db=-12.3, reduction_db=31.0)
        await newcomer.settle()
        assert "echo return -12 dB" in newcomer.screen()
        assert "31 dB of it is taken out" in newcomer.screen()


async def test_a_test_without_devices_says_what_is_missing_and_can_be_tried_again(helpers: Helpers) -> None:
    async with before_a_session("echo-test") as newcomer:
        await newcomer.press("enter")
        helpers.last.problem("No sound device was found.")
        await newcomer.settle()
        assert "No sound device was found." in newcomer.screen()
        await newcomer.press("enter")
        assert len(helpers.last.orders) == 2


async def test_what_a_device_is_called_cannot_harm_the_screen(helpers: Helpers) -> None:
    from tests.support.canaries import HOSTILE

    async with before_a_session("echo-test") as newcomer:
        await newcomer.press("enter")
        helpers.last.problem(f"The microphone {HOSTILE} went away.")
        await newcomer.settle()
        text: Any = newcomer.screen()
        assert "\x1b" not in text
        assert "[bold]markup[/bold]" in newcomer.words()


# -- during a call ---------------------------------------------------------------------------------------------------


async def _choosing(driver: Driver, *keys: str) -> None:
    driver.app.action_open("devices")
    for press in ((), keys):
        await driver.press(*press)
        await driver.app.workers.wait_for_complete()
        await driver.settle()


async def test_during_a_call_the_devices_change_at_once_and_are_kept_when_that_went_well() -> None:
    async with console() as driver:
        await _choosing(driver, "down", "down", "enter")
        assert driver.link.orders == [SetDevices(input="USB Headset", output="")]
        assert "Changing the devices" in driver.screen()
        assert settings().audio_input == ""
        opened = {"input_rate": 44_100, "output_rate": 48_000, "echo_canceller": "x"}
        driver.link.emit(ev.AudioOpened(input="USB Headset", output="Speakers", **opened))
        await driver.settle()
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "Microphone: USB Headset. Saved. The call goes on with it." in driver.screen()
        assert settings().audio_input == "USB Headset"
        await driver.press("escape")
        assert driver.app.store._listeners.get(ev.AudioOpened, []) == []


async def test_the_open_dialog_follows_a_device_that_is_lost_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = {"input_rate": 44_100, "output_rate": 48_000, "echo_canceller": "x"}
    async with console() as driver:
        await _choosing(driver)
        use_doubles(monkeypatch, devices=DEVICES[:1])
        driver.link.emit(ev.AudioLost(direction="input", reason="The microphone 'USB Headset' was disconnected."))
        await driver.settle()
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "was disconnected" in driver.screen()
        assert "44.1 kHz" not in driver.screen()
        use_doubles(monkeypatch)
        driver.link.emit(ev.AudioOpened(input="USB Headset", output="Speakers", again=True, **opened))
        await driver.settle()
        await driver.app.workers.wait_for_complete()
        await driver.settle()
        assert "The call uses USB Headset and Speakers." in driver.screen()
        assert "44.1 kHz" in driver.screen()


async def test_a_device_that_the_engine_refuses_is_not_kept_and_the_reason_is_said() -> None:
    async with console() as driver:
        driver.link.refusing = "Microphone 'USB Headset' is in use by another program. The devices stay as they were."
        await _choosing(driver, "down", "down", "enter")
        assert "The devices stay as they were" in " ".join(driver.screen().replace("│", " ").split())
        assert settings().audio_input == ""


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


async def test_a_key_in_the_keyring_is_kept_there_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, nobodys_home: Path
) -> None:
    google(monkeypatch, 200, {"models": []})
    kept: list[str] = []
    monkeypatch.setattr(keys, "keyring_problem", lambda: "")
    monkeypatch.setattr(keys, "save_to_keyring", lambda credential, _: kept.append(credential.secret))
    async with before_a_session("key") as newcomer:
        await paste(newcomer, KEY)
        await newcomer.press("enter")
        await newcomer.press("enter")
        assert "The key is kept in the keyring." in newcomer.words()
        shown = newcomer.screen()
    assert kept == [KEY]
    assert settings().api_key_source == "keyring"
    assert leaks(nobodys_home, shown) == []


async def test_leaving_a_test_in_a_call_gives_the_microphone_back(helpers: Helpers) -> None:
    async with console() as driver:
        driver.app.action_open("microphone-test")
        await driver.settle()
        await driver.press("enter")
        assert driver.link.orders == [SetMicrophone(on=False)]
        await driver.press("escape")
        assert driver.link.orders[-1] == SetMicrophone(on=True)
        assert helpers.last.closed


async def test_a_muted_microphone_stays_muted_after_a_test(helpers: Helpers) -> None:
    async with console() as driver:
        await driver.press("space")
        driver.app.action_open("echo-test")
        await driver.settle()
        await driver.press("enter")
        await driver.press("escape")
        assert driver.link.orders == [SetMicrophone(on=False)]


async def test_a_microphone_that_the_call_does_not_share_is_no_fault(helpers: Helpers) -> None:
    async with console() as driver:
        opened = {"input_rate": 44_100, "output_rate": 48_000, "echo_canceller": "x"}
        driver.link.emit(ev.AudioOpened(input="USB Headset", output="Speakers", **opened))
        await driver.settle()
        await _choosing(driver)
        for press in ((), ("down",), ("down",)):
            await driver.press(*press)
            helpers.last.problem("Microphone is in use by another program.")
            await driver.settle()
            said = "the call uses it" in driver.screen()
            assert said is ("Built-in Audio" not in _under_the_cursor(driver))


def _under_the_cursor(driver: Driver) -> str:
    options = driver.app.screen.query_one("#devices-input", OptionList)
    assert options.highlighted is not None
    return str(options.get_option_at_index(options.highlighted).prompt)
