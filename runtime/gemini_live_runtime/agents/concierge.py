"""Hotel concierge with weather, timers, notes, table bookings and the time.

The default demo agent. It has no phases; its memory is the session's state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from gemini_live_runtime import Live, State, ToolContext, tool
from gemini_live_runtime.agents.climate import weather_in
from gemini_live_runtime.agents.times import minutes_left, minutes_since_midnight

MAX_TIMERS, MAX_NOTES = 20, 100

PHRASES = """
what is the weather in Lisbon; how warm is it in Cairo; do I need an umbrella in London; set a timer for ten minutes
set a tea timer for five minutes; which timers are running; take a note buy milk; remind me to water the plants
read my notes; delete the last note; book a table for four people at seven; make a reservation please
cancel my booking; what time is it; tell me a story; count to twenty; tell me a joke; what did I say before
say that again; what can I say; who are you; how are you; please stop talking; never mind; thank you; good morning
goodbye
"""
"""Phrases that the embedded server's script understands; Gemini understands more."""


@tool
async def set_timer(
    minutes: Annotated[float, Field(gt=0, le=24 * 60)], context: ToolContext, state: State, label: str = ""
) -> dict[str, Any]:
    """Set a timer that reminds the guest when it ends.

    Args:
        minutes: How long, in minutes.
        label: What it is for.
    """
    timers = state.get("app:timers", [])
    if len(timers) >= MAX_TIMERS:
        return {"error": f"There are already {MAX_TIMERS} timers."}
    loop = asyncio.get_running_loop()
    timer = {"label": label or "timer", "ends_at": loop.time() + minutes * 60}

    def ring() -> None:
        state.modify("app:timers", [], lambda timers: [item for item in timers if item != timer])
        context.notify(f"The {minutes:g}-minute timer{f' for {label}' if label else ''} is over.")

    state.set("app:timers", [*timers, timer])
    loop.call_later(minutes * 60, ring)
    return {"minutes": int(minutes) if minutes == int(minutes) else minutes, "label": label, "running": len(timers) + 1}


@tool
async def list_timers(state: State) -> dict[str, Any]:
    """List the running timers with the minutes left."""
    now = asyncio.get_running_loop().time()
    left = [f"{timer['label']}, {minutes_left(timer['ends_at'] - now)} left" for timer in state.get("app:timers", [])]
    return {"count": len(left), "timers": left}


@tool
async def add_note(text: Annotated[str, Field(min_length=1, max_length=2000)], state: State) -> dict[str, Any]:
    """Keep a note for the guest during this conversation.

    Args:
        text: What to note.
    """
    if len(state.get("app:notes", [])) >= MAX_NOTES:
        return {"error": f"There are already {MAX_NOTES} notes."}
    notes = state.modify("app:notes", [], lambda notes: [*notes, text])
    return {"text": text, "count": len(notes)}


@tool
async def list_notes(state: State) -> dict[str, Any]:
    """List the notes of this conversation."""
    notes = state.get("app:notes", [])
    return {"count": len(notes), "notes": notes}


@tool
async def delete_last_note(state: State) -> dict[str, Any]:
    """Delete the newest note."""
    if not (notes := state.get("app:notes", [])):
        return {"error": "There are no notes."}
    state.set("app:notes", notes[:-1])
    return {"deleted": notes[-1], "count": len(notes) - 1}


@tool
async def book_table(people: Annotated[int, Field(ge=1, le=12)], time: str, state: State) -> dict[str, Any]:
    """Book a table in the hotel's restaurant, open from 12:00 to 22:00.

    Args:
        people: How many guests, 1 to 12.
        time: When, for example 19:00 or 7 pm. Bare hours below 11 are taken as evening.
    """
    if (clock := minutes_since_midnight(time)) is None:
        return {"error": f"I did not understand the time {time}."}
    if not 12 * 60 <= clock <= 22 * 60:
        return {"error": "The restaurant is open from 12:00 to 22:00."}
    booking = {"people": people, "time": f"{clock // 60:02d}:{clock % 60:02d}"}
    state.set("app:booking", booking)
    return booking


@tool
async def cancel_booking(state: State) -> dict[str, Any]:
    """Cancel the table."""
    booking = state.get("app:booking")
    state.remove("app:booking")
    return {"cancelled": booking} if booking else {"error": "There is no booking."}


def concierge(wall_clock: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> Live:
    """Return a concierge; `wall_clock` returns the date and time at the hotel."""

    @tool
    def get_weather(city: str) -> dict[str, Any]:
        """Look up the typical weather of a city for this time of the year.

        Args:
            city: Name of the city, in English.
        """
        return weather_in(city, wall_clock())

    @tool
    def get_time() -> dict[str, Any]:
        """Tell the time and date at the hotel, which is where this program runs."""
        now = wall_clock()
        return {"time": now.strftime("%H:%M"), "date": now.strftime("%A, %B %d")}

    return (
        Live.builder("concierge")
        .description("A hotel concierge: weather, timers, notes, a table, the time.")
        .instruction(
            "You are the concierge of a small hotel. Be brief and friendly, answer in one or two sentences. "
            "Use the tools for weather, timers, notes, table bookings and the time; never make up their results. "
            "The weather tool gives what is typical for the month, so say that it is typical."
        )
        .tools(get_weather, set_timer, list_timers, add_note, list_notes, delete_last_note)
        .tools(book_table, cancel_booking, get_time)
        .voice("Puck")
        .phrases(*(phrase.strip() for line in PHRASES.strip().splitlines() for phrase in line.split(";")))
    )
