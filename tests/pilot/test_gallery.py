"""Bundled and recent agents start at once, or after the call was hung up."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.console_driver import Driver, console
from tests.support.set_up_doubles import FakeStarter, before_a_session, use_doubles

from gemini_live_runtime.agents.catalogue import CATALOGUE
from gemini_live_runtime.commands import HangUp
from gemini_live_runtime.errors import AgentError
from gemini_live_tui.dialogs.confirm import ConfirmScreen
from gemini_live_tui.launcher import Choice
from gemini_live_tui.pickers.gallery import GalleryScreen
from gemini_live_tui.set_up.recent import recent_agents, remember


@pytest.fixture(autouse=True)
def doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    use_doubles(monkeypatch)


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "my_agent.py"
    path.write_text("agent = None\n")
    return f"{path}:agent"


async def test_every_bundled_agent_is_there_with_its_parts_and_a_sentence() -> None:
    async with before_a_session("gallery") as newcomer:
        for agent in CATALOGUE:
            assert agent.name in newcomer.screen()
            assert agent.description in newcomer.words()
            await newcomer.press("down")


async def test_enter_starts_a_bundled_agent_on_the_spot() -> None:
    starter = FakeStarter()
    starter.link.start()
    async with before_a_session("gallery", starter=starter) as newcomer:
        await newcomer.press("down", "down", "down", "enter")
        assert starter.chosen == [Choice("debt_collection", demo=True)]
        assert newcomer.app.screen is newcomer.app.console_screen


async def test_ones_own_agents_are_listed_the_latest_first_and_a_missing_one_is_marked(
    own: str, tmp_path: Path
) -> None:
    gone = tmp_path / "gone.py"
    gone.write_text("")
    remember(f"{gone}:agent", now=1.0)
    gone.unlink()
    remember(own, now=2.0)
    starter = FakeStarter()
    async with before_a_session("gallery", starter=starter) as newcomer:
        rows = [row for row in newcomer.rows() if ".py:agent" in row]
        assert "my_agent.py:agent" in rows[0]
        assert "the file is gone" in rows[1]
        await newcomer.press("end")
        assert own.replace("/", "") in newcomer.words().replace("/", "").replace(" ", "")
        await newcomer.press("enter")
        assert starter.chosen == [Choice(own)]


async def test_what_cannot_be_started_is_said_and_the_list_stays() -> None:
    starter = FakeStarter(refusing=AgentError("There is no file x.py", remedy="Check the path"))
    async with before_a_session("gallery", starter=starter) as newcomer:
        await newcomer.press("enter")
        assert "There is no file x.py. Check the path." in newcomer.screen()


async def test_a_hostile_name_is_shown_harmlessly() -> None:
    remember(f"module{HOSTILE}:agent")
    async with before_a_session("gallery") as newcomer:
        assert "\x1b" not in newcomer.screen()
        assert "OWNED" not in newcomer.screen()


async def test_leaving_the_gallery_it_began_with_quits() -> None:
    async with before_a_session("gallery") as newcomer:
        await newcomer.press("escape")
    assert newcomer.app.return_value is not None
    assert newcomer.app.return_value.exit_code == 0


async def _asked(driver: Driver) -> None:
    driver.app.action_open("gallery")
    await driver.settle()
    await driver.press("down", "enter")
    assert isinstance(driver.app.screen, ConfirmScreen)
    assert "begins a new session" in driver.screen()
    assert "present call" in driver.screen()


async def test_during_a_call_another_agent_is_started_only_after_a_yes_that_hangs_up() -> None:
    starter = FakeStarter()
    async with console(starter=starter) as driver:
        await _asked(driver)
        driver.tap("enter")
        for _ in range(200):
            await driver.pilot.pause(0)
            if driver.app.leaving.hanging_up is not None:
                break
        assert driver.app.leaving.hanging_up is not None
        await driver.app.leaving.hanging_up
        assert driver.link.orders == [HangUp()]
    assert driver.app.return_value is not None
    assert driver.app.return_value.next == Choice("clinic", demo=True)


async def test_a_no_leaves_the_call_as_it_is() -> None:
    async with console(starter=FakeStarter()) as driver:
        await _asked(driver)
        await driver.press("escape")
        assert isinstance(driver.app.screen, GalleryScreen)
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen
        assert driver.link.orders == []


async def test_a_console_that_only_looks_on_says_how_to_start_another() -> None:
    async with console(attached=True) as driver:
        driver.app.action_open("gallery")
        await driver.settle()
        await driver.press("enter")
        assert "This console only attaches to sessions" in driver.screen()
        assert driver.link.orders == []


def test_the_list_of_ones_own_is_private_bounded_and_survives_damage(own: str, nobodys_home: Path) -> None:
    for number in range(20):
        remember(f"module{number}:agent", now=float(number))
    remember(own, now=100.0)
    remember(own, now=101.0)
    kept = recent_agents()
    assert [agent.reference for agent in kept[:2]] == [own, "module19:agent"]
    assert len(kept) == 12
    (path,) = (nobodys_home / "state").rglob("recent-agents.json")
    assert path.stat().st_mode & 0o777 == 0o600
    for damage in ("", "[]", '{"agents": 3}', '{"agents": [{"reference": 1}, {}]}', "{" * 100_000):
        path.write_text(damage)
        assert recent_agents() == []
    remember(own)
    assert [agent.reference for agent in recent_agents()] == [own]
