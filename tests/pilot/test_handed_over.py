"""The console shows a hand-off, explains it and goes back before it."""

from __future__ import annotations

import pytest
from tests.session.agents.test_handing_over import handing, hands_over
from tests.session.talking import talk
from tests.support.console_driver import console
from tests.support.scripted_link import ScriptedLink

from gemini_live_runtime import Phase, Transition, key
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual


@pytest.fixture
def held() -> list[ev.Event]:
    """Return a session in which an agent with phases hands over to one without."""

    async def session() -> list[ev.Event]:
        second = Phase("second", "Two.", terminal=True)
        phased = handing().phase(Phase("first", "One.", transitions=Transition("second", key("app:go"))), second)
        async with talk(phased) as t:
            await t.writes(go=True)
            await t.turn()
            await hands_over(t)
            await t.passes(2)
        return list(t.stage.sink.events)

    return run_virtual(session())


async def test_a_hand_off_is_seen_explained_and_looked_back_at(held: list[ev.Event]) -> None:
    link = ScriptedLink()
    link.hello()
    for event in held[:-1]:  # the session goes on
        link.put(event)
    async with console(size=(120, 40), link=link, started=False) as driver:
        await driver.settle()
        assert "specialist" in driver.rows()[0]
        assert "specialist  took over at" in driver.screen()
        assert "first ✓" in driver.screen()
        assert "▶ second" not in driver.screen()

        await driver.press("ctrl+e")
        for said in (
            "Why: test to specialist",
            "The tool escalate returned the agent.",
            "It did not have to wait for the model to finish speaking.",
            "The model was told by another connection, with the agent",
            "It knows what was said before.",
        ):
            assert said in driver.screen()
        await driver.press("escape")

        (asked,) = (event.seq for event in held if isinstance(event.payload, ev.HandoffRequested))
        driver.app.console_screen.time_travel.travel(lambda: driver.app.store.cursor.seek(asked - 1))
        await driver.settle()
        assert "test" in driver.rows()[0]
        assert "specialist" not in driver.rows()[0]
        assert "▶ second" in driver.screen()
        await driver.press("/live")
        assert "specialist" in driver.rows()[0]
