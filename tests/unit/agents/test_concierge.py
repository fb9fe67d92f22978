"""Test the concierge's tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from gemini_live_runtime.agents.climate import CITIES, Climate, typical
from gemini_live_runtime.agents.concierge import concierge
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.local.dialogue import ScriptedDialogue
from gemini_live_runtime.local.script import bundled_script
from gemini_live_runtime.state.store import State
from gemini_live_runtime.tools.dispatch import Outcome, ToolDispatcher

PHRASES = concierge().definition.phrases


class Desk:
    """A fresh concierge whose tools are called by name."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._outcomes: asyncio.Queue[Outcome] = asyncio.Queue()
        self._tools = ToolDispatcher(
            concierge().plan().declared,
            clock=LoopClock(),
            state=State(),
            on_finished=self._outcomes.put_nowait,
            on_notify=lambda name, text: self.notes.append(text),
        )

    async def __call__(self, name: str, **args: Any) -> dict[str, Any]:
        self._tools.start("c", name, args)
        return (await self._outcomes.get()).result


def at_the_desk(scenario: Callable[[Desk], Awaitable[None]]) -> None:
    async def main() -> None:
        await scenario(Desk())

    run_virtual(main())


def test_there_is_weather_for_fifty_cities_and_more() -> None:
    assert len(CITIES) >= 50


def test_weather_says_that_it_is_typical() -> None:
    async def scenario(desk: Desk) -> None:
        weather = await desk("get_weather", city=" new  York ")
        assert "typically" in weather["summary"]
        assert weather["source"].endswith("not a forecast")

    at_the_desk(scenario)


def at(moment: datetime) -> dict[str, Any]:
    """Return the functions of the concierge's tools, with a stopped clock."""
    return {tool.name: tool.function for tool in concierge(wall_clock=lambda: moment).plan().declared}


def test_weather_is_that_of_the_month_it_is_asked_in() -> None:
    january, july = (at(datetime(2026, month, 15, tzinfo=UTC))["get_weather"](city="Lisbon") for month in (1, 7))
    assert (january["month"], july["month"]) == ("January", "July")
    assert january["high_c"] < july["high_c"]


def test_the_time_and_the_date_are_those_of_the_clock() -> None:
    told = at(datetime(2026, 11, 20, 9, 5, tzinfo=UTC))["get_time"]()
    assert told == {"time": "09:05", "date": "Friday, November 20"}


def test_an_unknown_city_is_an_error_by_name() -> None:
    async def scenario(desk: Desk) -> None:
        assert "Atlantis" in (await desk("get_weather", city="Atlantis"))["error"]

    at_the_desk(scenario)


def test_the_warm_season_is_the_other_half_of_the_year_in_the_south() -> None:
    south, north = Climate(27, 17, 8, "winter"), Climate(5, 25, 8, "winter")
    assert typical(south, 1).high == 27
    assert typical(north, 7).high == 25
    assert (typical(south, 7).sky, typical(north, 1).sky) == ("rainy", "rainy")
    assert (typical(south, 1).sky, typical(north, 7).sky) == ("clear", "clear")


def test_a_timer_rings_when_its_time_is_over() -> None:
    async def scenario(desk: Desk) -> None:
        await desk("set_timer", minutes=10, label="tea")
        assert (await desk("list_timers"))["timers"] == ["tea, 10 minutes left"]
        await asyncio.sleep(599)
        assert desk.notes == []
        await asyncio.sleep(2)
        assert desk.notes == ["The 10-minute timer for tea is over."]
        assert (await desk("list_timers"))["count"] == 0

    at_the_desk(scenario)


def test_notes_are_kept_listed_and_deleted_from_the_end() -> None:
    async def scenario(desk: Desk) -> None:
        await desk("add_note", text="milk")
        await desk("add_note", text="bread")
        assert (await desk("list_notes"))["notes"] == ["milk", "bread"]
        assert (await desk("delete_last_note"))["deleted"] == "bread"
        await desk("delete_last_note")
        assert "no notes" in (await desk("delete_last_note"))["error"]

    at_the_desk(scenario)


@pytest.mark.parametrize(
    ("said", "booked"),
    [("7", "19:00"), ("7 pm", "19:00"), ("19:30", "19:30"), ("12", "12:00"), ("8:15 pm", "20:15"), ("12 pm", "12:00")],
)
def test_a_table_is_booked_at_the_time_meant(said: str, booked: str) -> None:
    async def scenario(desk: Desk) -> None:
        assert await desk("book_table", people=4, time=said) == {"people": 4, "time": booked}
        assert (await desk("cancel_booking"))["cancelled"]["time"] == booked
        assert "no booking" in (await desk("cancel_booking"))["error"]

    at_the_desk(scenario)


@pytest.mark.parametrize(
    ("said", "word"),
    [("noonish", "noonish"), ("11:00", "open"), ("23:00", "open"), ("25:00", "25:00"), ("7 am", "open")],
)
def test_a_time_that_cannot_be_booked_is_an_error(said: str, word: str) -> None:
    async def scenario(desk: Desk) -> None:
        assert word in (await desk("book_table", people=4, time=said))["error"]

    at_the_desk(scenario)


def test_two_concierges_share_no_notes() -> None:
    async def scenario(desk: Desk) -> None:
        await desk("add_note", text="milk")
        assert (await Desk()("list_notes"))["count"] == 0

    at_the_desk(scenario)


def test_at_least_25_phrases_are_shown() -> None:
    assert len(PHRASES) >= 25


@pytest.mark.parametrize("phrase", PHRASES)
def test_every_phrase_shown_is_understood_by_the_script(phrase: str) -> None:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    dialogue.declare({declared.name: declared.parameters for declared in concierge().plan().declared})
    reply = dialogue.respond(phrase, typed=True)
    assert "didn't catch" not in reply.text
    for call in reply.calls:
        assert call.name in {declared.name for declared in concierge().plan().declared}
