"""Define the concierge's everyday tools: weather, timers, notes, the time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from gemini_live_runtime import State, StateKey, Tool, ToolContext, Within, tool
from gemini_live_runtime.agents.climate import weather_in
from gemini_live_runtime.agents.times import duration_in_words
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.context import Notifications

MAX_NOTES = 100
COMPANIES = ("City Cabs", "Harbor Taxi", "Night Owl Cars", "Blue Line")
OWN_TIMERS = StateKey("app:timers", list[str], description="timers set in this conversation")
TAXI_S = 10.0
"""Seconds until a taxi is found."""


@tool
async def set_timer(
    minutes: Annotated[float, Within(gt=0, le=24 * 60)],
    context: ToolContext,
    label: str = "",
    instead: bool = False,
) -> dict[str, Any]:
    """Set a timer, whose end you will announce, also in a later conversation.

    Args:
        minutes: How long, in minutes.
        label: What it is for.
        instead: Put it in the place of the timer that was set last in this conversation.
    """
    if instead:
        await _cancel_newest(context, only_own=True)
    minutes = int(minutes) if minutes == int(minutes) else minutes
    length = duration_in_words(minutes)
    timer = await _notifications(context).set_timer(label or length, seconds=minutes * 60)
    if context.state is not None:
        waiting = {one["timer"] for one in (await _notifications(context).timers())["timers"]}
        own = [name for name in context.state.get(OWN_TIMERS, []) if name in waiting]
        context.state.set(OWN_TIMERS, [*own, timer["timer"]])
    return {"minutes": minutes, "label": label, "length": length}


@tool
async def list_timers(context: ToolContext) -> dict[str, Any]:
    """List the running timers with the time left."""
    waiting = (await _notifications(context).timers())["timers"]
    return {"count": len(waiting), "timers": [f"{one['text']}, {one['left']} left" for one in waiting]}


@tool
async def cancel_timer(
    context: ToolContext, label: str = "", minutes: Annotated[float, Within(ge=0, le=24 * 60)] = 0
) -> dict[str, Any]:
    """Cancel the timer that was set last, or the one that is named.

    Args:
        label: What it is for.
        minutes: How long it was set, in minutes.
    """
    name = label or (duration_in_words(minutes) if minutes else "")
    cancelled = await _cancel_newest(context, name)
    if cancelled:
        return {"cancelled": cancelled}
    waiting = [str(one["text"]) for one in (await _notifications(context).timers())["timers"]]
    running = f"These are: {' and '.join(waiting)}." if waiting else ""
    return {"error": f"No timer for {name} is running. {running}".strip() if name else "No timer is running."}


async def _cancel_newest(context: ToolContext, name: str = "", *, only_own: bool = False) -> str:
    """Return the text of the timer that is cancelled, "" where none waits.

    That is the one set last in this conversation; without one, and unless `only_own`, the newest of an earlier one.
    With a `name`, of those whose text has its words.
    """
    waiting = {str(one["timer"]): str(one["text"]) for one in (await _notifications(context).timers())["timers"]}
    waiting = {timer: text for timer, text in waiting.items() if _words(name) <= _words(text)}
    set_here = context.state.get(OWN_TIMERS, []) if context.state is not None else []
    own = [timer for timer in set_here if timer in waiting]
    # The names begin with the time of setting.
    newest = own[-1] if own else max(waiting, default="") if not only_own else ""
    if not newest:
        return ""
    await _notifications(context).cancel_timer(newest)
    return waiting[newest]


def _words(text: str) -> set[str]:
    """Return the words of a timer's name: the timer "for the eggs" is "the egg timer"."""
    return {word.removesuffix("s") for word in text.lower().split()}


def _notifications(context: ToolContext) -> Notifications:
    if context.notifications is None:
        raise AgentError("The timers need a session", remedy="Call them in one", field="notifications")
    return context.notifications


@tool
async def add_note(text: Annotated[str, Within(min_length=1, max_length=2000)], state: State) -> dict[str, Any]:
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


def time_at_the_hotel() -> datetime:
    """Return the date and time here: the hotel is where this program runs."""
    return datetime.now().astimezone()


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

    # In its own announcement a timer cannot set another one.
    timer = replace(set_timer, after_notification=False)
    return get_weather, timer, list_timers, cancel_timer, add_note, list_notes, delete_last_note, order_taxi, get_time
