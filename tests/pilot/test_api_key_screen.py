"""The API key's screen: checked, kept where the user wants, and shown nowhere."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import httpx
import pytest
from tests.support.canaries import KEY, leaks
from tests.support.set_up_doubles import FakeStarter, Newcomer, before_a_session, saved_settings

from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.wire import key_check
from gemini_live_runtime.wire.credentials import credential_environment
from gemini_live_tui import config
from gemini_live_tui.dialogs.api_key import KeyScreen
from gemini_live_tui.launcher import Choice
from gemini_live_tui.set_up import keys

pytestmark = pytest.mark.usefixtures("helpers")


def google(monkeypatch: pytest.MonkeyPatch, status: int, body: object) -> list[httpx.Request]:
    """Let Google answer every check so; return what it was asked."""
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


@pytest.fixture(autouse=True)
def fresh_redactor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redactor, "_permanent", set())
    monkeypatch.setattr(redactor, "_known", [])


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
    kept = saved_settings()
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
    assert saved_settings().api_key_source == "env"
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
    assert saved_settings().api_key_source == "keyring"
    assert leaks(nobodys_home, shown) == []
