"""Define the concierge's everyday tools: weather, timers, notes, the time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from gemini_live_runtime import State, Tool, ToolContext, tool
from gemini_live_runtime.agents.climate import weather_in
from gemini_live_runtime.agents.times import minutes_left

MAX_TIMERS, MAX_NOTES = 20, 100
COMPANIES = ("City Cabs", "Harbor Taxi", "Night Owl Cars", "Blue Line")
TAXI_S = 10.0
"""Seconds until a taxi is found."""


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


@tool(spillable=True, side_effects=True, voice_consent="Shall I order a taxi?")
async def order_taxi(context: ToolContext) -> str:
    """Order a taxi for the guest.

    The companies are phoned one after the other, which takes a while.
    """
    for asked, company in enumerate(COMPANIES, 1):
        context.progress((asked - 0.5) / len(COMPANIES), f"phoning {company}")
        await asyncio.sleep(TAXI_S / len(COMPANIES))
    return f"A taxi of {COMPANIES[-1]} will be at the door in 8 minutes."


def hotel_tools(wall_clock: Callable[[], datetime]) -> tuple[Tool, ...]:
    """Return the tools; `wall_clock` returns the date and time at the hotel."""

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

    return get_weather, set_timer, list_timers, add_note, list_notes, delete_last_note, order_taxi, get_time
