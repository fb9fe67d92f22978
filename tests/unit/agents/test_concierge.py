"""Test the concierge's tools, and the phases that lead to a table."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.agents.conversation import talk_to
from tests.support.hotel_clock import at_the_hotel

from gemini_live_runtime import LiveHandle
from gemini_live_runtime.agents.climate import CITIES, Climate, typical
from gemini_live_runtime.agents.concierge import concierge, table
from gemini_live_runtime.agents.table_request import table_request
from gemini_live_runtime.agents.table_tools import BOOKING
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.conversation.transcript import TranscriptWindow
from gemini_live_runtime.conversation.transcript_turn import ToolCallSummary, TranscriptTurn
from gemini_live_runtime.events import InstructionUpdated, TranscriptDelta
from gemini_live_runtime.journal.fold.session_fold import fold
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.scripts.script import bundled_script
from gemini_live_runtime.state.store import State
from gemini_live_runtime.tools.dispatch import Outcome, ToolDispatcher
from gemini_live_tui.panes import phase_rows, watcher_rows

TOMORROW = {"day": "tomorrow"}
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


def test_an_unknown_city_that_was_typed_in_haste_gets_its_capital() -> None:
    async def scenario(desk: Desk) -> None:
        assert "data for Cape Coast" in (await desk("get_weather", city="cape coast"))["error"]

    at_the_desk(scenario)


def test_the_warm_season_is_the_other_half_of_the_year_in_the_south() -> None:
    south, north = Climate(27, 17, 8, "winter"), Climate(5, 25, 8, "winter")
    assert typical(south, 1).high == 27
    assert typical(north, 7).high == 25
    assert (typical(south, 7).sky, typical(north, 1).sky) == ("rainy", "rainy")
    assert (typical(south, 1).sky, typical(north, 7).sky) == ("clear", "clear")


async def told_of_timers(root: Path, *texts: str, then_s: float) -> str:
    """Return what the concierge says to typed texts, and in the seconds after."""
    async with concierge().connect(backend="local", fast=True, harness_root=str(root)) as session:
        words: list[str] = []
        listening = asyncio.create_task(_listen(session, words))
        for text in texts:
            await session.send_text(text)
            await session.until_quiet()
        await asyncio.sleep(then_s)
        await session.until_quiet()
        listening.cancel()
    return "".join(words)


async def _listen(session: LiveHandle, words: list[str]) -> None:
    async for event in session.events():
        said_now = event.payload
        words += [said_now.text] if isinstance(said_now, TranscriptDelta) and said_now.side == "model" else []


def test_a_timer_is_announced_aloud_when_its_time_is_over(tmp_path: Path) -> None:
    set_it = "set a tea timer for 10 minutes"
    before = run_virtual(told_of_timers(tmp_path / "short", set_it, "which timers are running", then_s=500))
    assert "Your tea timer is set for 10 minutes." in before
    assert "tea, 10 minutes left" in before
    assert "timer is over" not in before
    after = run_virtual(told_of_timers(tmp_path / "long", set_it, "which timers are running", then_s=620))
    assert after.endswith("Your timer is over: tea.")


@pytest.mark.parametrize(
    ("say", "answer"),
    [
        ("cancel the 12 minute one", "I've cancelled the timer for 12 minutes."),
        ("stop the timer for the egg", "I've cancelled the timer for eggs."),
        ("cancel the tea timer", "No timer for tea is running. These are: eggs and 12 minutes."),
        ("cancel the timer", "I've cancelled the timer for eggs."),
    ],
)
def test_the_timer_that_is_named_is_cancelled_else_the_newest(tmp_path: Path, say: str, answer: str) -> None:
    timers = "set a timer for 12 minutes", "remind me in 9 minutes to eggs"
    assert answer in run_virtual(told_of_timers(tmp_path, *timers, say, then_s=1))


def test_a_timer_of_an_earlier_conversation_is_announced_with_how_late_it_is(tmp_path: Path) -> None:
    run_virtual(told_of_timers(tmp_path, "set a tea timer for 10 minutes", then_s=1))
    later = run_virtual(told_of_timers(tmp_path, then_s=10), wall=1_700_010_800.0)
    assert "Your timer is over: tea. It was due 3 hours ago." in later


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


# --- a table, by phases -----------------------------------------------------------------------------------------------


def said(text: str, *, asked: str = "", answer: str = "", tool: str = "") -> dict[str, Any]:
    """Return what the extractor finds in a turn."""
    calls = (ToolCallSummary.of("c", tool, {}, {}, "ok"),) if tool else ()
    turn = TranscriptTurn(number=1, by="voice", started_at=0.0, user=text, model=answer, tool_calls=calls)
    return table_request(TranscriptWindow((turn,), asked))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Book a table.", {"wants_table": True}),
        ("a reservation for four people, please", {"wants_table": True, "people": 4}),
        ("is there a table for 2 at half past seven", {"wants_table": True, "people": 2, "time": "19:30"}),
        ("there are six of us, at 8 pm", {"people": 6, "time": "20:00"}),
        ("noon would be fine", {"time": "12:00"}),
        ("never mind, no table then", {"wants_table": False}),
        ("set a timer for ten minutes", {}),
        ("the last guest asked for a taxi at six", {}),
        ("suppose I wanted a table for eight", {}),
        ("we'll be there in ten minutes", {}),
        ("we were thinking of half past eight", {"time": "20:30"}),
    ],
)
def test_a_wish_for_a_table_is_read_by_the_words_around_its_numbers(text: str, found: dict[str, Any]) -> None:
    assert said(text, answer="Of course. Anything else?") == found


def test_a_number_alone_answers_the_question() -> None:
    assert said("seven", asked="For how many people?") == {"people": 7}
    assert said("seven", asked="At what time?") == {"time": "19:00"}
    assert said("seven", asked="Good evening.") == {}


def test_speaking_of_a_table_is_no_wish_when_the_model_does_not_ask_on() -> None:
    assert said("the table by the window was lovely", answer="I am glad to hear it.") == {}


def test_words_that_a_tool_has_acted_on_are_not_read_again() -> None:
    assert said("take a note: book a table for four", answer="Noted. What else?", tool="add_note") == {}


def test_a_table_is_asked_for_step_by_step() -> None:
    after = talk_to(concierge(), "book a table", "four", "at seven")
    assert after.phases == ["assist", "booking", "booked"]
    assert after.origin("app:booking") == ("tool", "book_table")
    assert after.state.get("app:booking") == {"people": 4, "time": "19:00"}
    assert "app:people" not in after.state


def test_what_is_known_shows_before_all_is_known() -> None:
    after = talk_to(concierge(), "book a table", "at seven")
    assert after.phases == ["assist", "booking"]
    assert after.origin("app:time") == ("extractor", "table_request")
    assert (after.state.get("app:time"), "app:people" in after.state) == ("19:00", False)


def test_a_question_may_be_answered_with_more_than_was_asked() -> None:
    assert talk_to(concierge(), "book a table", "for four at seven").phases[-1] == "booked"


def test_a_time_when_the_restaurant_is_closed_is_not_kept() -> None:
    after = talk_to(concierge(), "book a table for four", "at eleven", "what is the time")
    assert (after.phases[-1], after.state.get("app:people"), "app:time" in after.state) == ("booking", 4, False)


@pytest.mark.parametrize("said", ["never mind", "oh forget it, we changed our minds", "cancel my booking"])
def test_a_table_is_let_go(said: str) -> None:
    after = talk_to(concierge(), "book a table for four", said)
    assert after.phases == ["assist", "booking", "assist"]
    assert [key for key in ("app:wants_table", "app:people", "app:booking") if key in after.state] == []


def test_a_table_that_nobody_speaks_of_any_more_is_let_go() -> None:
    after = talk_to(concierge(), "book a table", *("tell me a joke", "what time is it") * 2)
    assert after.phases == ["assist", "booking", "assist"]


def test_a_guest_can_ask_for_the_table() -> None:
    after = talk_to(
        concierge(), "what did I book", "book a table for four at seven", "what time is it", "when is my table"
    )
    words = "".join(e.payload.text for e in after.events if isinstance(e.payload, TranscriptDelta))
    assert "You have no table yet." in words
    assert words.endswith("You have a table for 4 at 19:00.")


def test_the_kitchen_is_told_of_a_table_and_of_its_cancellation() -> None:
    after = talk_to(concierge(), "book a table for eight people at seven")
    assert after.state.get("app:kitchen") == "room 12: 8 people at 19:00 with the set menu"
    assert after.origin("app:kitchen") == ("watcher", "tell the kitchen")
    after = talk_to(concierge(), "book a table for eight people at seven", "cancel my booking")
    assert (after.state.get("app:kitchen"), after.phases[-1]) == ("room 12: no table", "assist")


@pytest.mark.parametrize(("people", "menu"), [("seven", False), ("eight", True)])
def test_a_large_party_hears_of_the_set_menu_with_the_answer(people: str, menu: bool) -> None:
    after = talk_to(concierge(), f"book a table for {people} people at seven")
    words = "".join(e.payload.text for e in after.events if isinstance(e.payload, TranscriptDelta))
    assert ("with the set menu" in words) is menu
    told = [e.payload.text for e in after.events if isinstance(e.payload, InstructionUpdated)]
    assert ("with the set menu" in told[-1]) is menu


def test_no_pane_is_empty_after_the_first_minute() -> None:
    after = talk_to(concierge(), "what is the weather in Lisbon", "book a table", "for four at seven")
    agent = fold(after.events).agent_view
    rows = [*phase_rows.rows_of(agent), *watcher_rows.rows_of(agent)]
    assert [row for row in rows if row.startswith("empty:")] == []
    assert [stay.phase for stay in agent.path][-2:] == ["booking", "booked"]
    assert agent.watchers["tell the kitchen"].fired == 1
    assert [run.name for run in agent.tools.values()] == ["get_weather", "book_table"]
    assert {"app:kitchen", "app:booking", "derived:table"} <= set(agent.keys)
    assert len(agent.turns) == 3


@pytest.mark.parametrize("said", ["tell me what it's like out in Oslo", "any idea how warm it is in Oslo"])
def test_a_question_within_a_sentence_is_one(said: str) -> None:
    dialogue = ScriptedDialogue(bundled_script("concierge"))
    dialogue.declare({"get_weather": {}})
    assert [dict(call.args) for call in dialogue.respond(said, typed=True).calls] == [{"city": "Oslo"}]


@pytest.mark.parametrize(("now", "day"), [((18, 59), {}), ((19, 0), {}), ((19, 1), TOMORROW), ((22, 30), TOMORROW)])
def test_a_table_for_a_time_that_has_passed_is_one_for_tomorrow(now: tuple[int, int], day: dict[str, str]) -> None:
    with at_the_hotel(datetime(2026, 11, 20, *now, tzinfo=UTC)):
        after = talk_to(concierge(), "book a table for two at seven")
    assert after.state["app:booking"] == {"people": 2, "time": "19:00", **day}
    assert ("19:00 has passed today" in after.said) == bool(day)


@pytest.mark.parametrize(("people", "said"), [(1, "1 person"), (2, "2 people")])
def test_a_table_is_told_of_in_the_singular_for_one(people: int, said: str) -> None:
    state = State()
    state.set(BOOKING, {"people": people, "time": "21:00"})
    assert table(state) == f"{said} at 21:00 with the usual menu"
