"""The demo agent: a small hotel concierge with weather, timers, notes, a table and the time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from gemini_live_runtime.agents.climate import CITIES, typical
from gemini_live_runtime.session.agent import Agent
from gemini_live_runtime.tools.declaration import ToolContext, tool

MAX_TIMERS = 20
MAX_NOTES = 100

PHRASES = (
    "what is the weather in Lisbon",
    "how warm is it in Cairo",
    "do I need an umbrella in London",
    "set a timer for ten minutes",
    "set a tea timer for five minutes",
    "which timers are running",
    "take a note buy milk",
    "remind me to water the plants",
    "read my notes",
    "delete the last note",
    "book a table for four people at seven",
    "make a reservation please",
    "cancel my booking",
    "what time is it",
    "tell me a story",
    "count to twenty",
    "tell me a joke",
    "what did I say before",
    "say that again",
    "what can I say",
    "who are you",
    "how are you",
    "please stop talking",
    "never mind",
    "thank you",
    "good morning",
    "goodbye",
)
"""What one can say, in the words that the embedded server's script understands; Gemini understands more."""

_TIME = re.compile(r"^\s*(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm)?\s*$", re.IGNORECASE)


def _local_time() -> datetime:
    return datetime.now().astimezone()


@dataclass(slots=True)
class _Timer:
    label: str
    ends_at: float


@dataclass(slots=True)
class Desk:
    """What the concierge remembers during one session."""

    notes: list[str] = field(default_factory=list)
    timers: list[_Timer] = field(default_factory=list)
    booking: dict[str, Any] | None = None
    wall_clock: Callable[[], datetime] = _local_time
    """Date and time of day at the hotel; timers run on the event loop's time."""

    def tools(self) -> list[Any]:
        """The concierge's tools, bound to this desk."""
        desk = self

        @tool
        def get_weather(city: str) -> dict[str, Any]:
            """Typical weather of a city for this time of the year.

            Args:
                city: Name of the city, in English.
            """
            climate = CITIES.get(" ".join(city.lower().split()))
            if climate is None:
                return {"error": f"I have no weather for {city}.", "known_cities": len(CITIES)}
            now = desk.wall_clock()
            weather = typical(climate, now.month)
            month = now.strftime("%B")
            return {
                "city": city,
                "month": month,
                "high_c": weather.high,
                "low_c": weather.low,
                "sky": weather.sky,
                "source": "climate normals, not a forecast",
                "summary": f"In {month} it is typically {weather.sky} in {city}, with {_degrees(weather.high)} "
                f"by day and {_degrees(weather.low)} at night.",
            }

        @tool
        async def set_timer(
            minutes: Annotated[float, Field(gt=0, le=24 * 60)], context: ToolContext, label: str = ""
        ) -> dict[str, Any]:
            """Set a timer that reminds the guest when it ends.

            Args:
                minutes: How long, in minutes.
                label: What it is for.
            """
            if len(desk.timers) >= MAX_TIMERS:
                return {"error": f"There are already {MAX_TIMERS} timers."}
            loop = asyncio.get_running_loop()
            timer = _Timer(label, loop.time() + minutes * 60)
            desk.timers.append(timer)

            def ring() -> None:
                desk.timers.remove(timer)
                context.notify(f"The {_minutes(minutes)} timer{f' for {label}' if label else ''} is over.")

            loop.call_at(timer.ends_at, ring)
            return {"minutes": _plain(minutes), "label": label, "running": len(desk.timers)}

        @tool
        async def list_timers() -> dict[str, Any]:
            """List the running timers with the minutes left."""
            now = asyncio.get_running_loop().time()
            left = [f"{timer.label or 'timer'}, {_left(timer.ends_at - now)} left" for timer in desk.timers]
            return {"count": len(left), "timers": left}

        @tool
        async def add_note(text: Annotated[str, Field(min_length=1, max_length=2000)]) -> dict[str, Any]:
            """Keep a note for the guest during this conversation.

            Args:
                text: What to note.
            """
            if len(desk.notes) >= MAX_NOTES:
                return {"error": f"There are already {MAX_NOTES} notes."}
            desk.notes.append(text)
            return {"text": text, "count": len(desk.notes)}

        @tool
        async def list_notes() -> dict[str, Any]:
            """List the notes of this conversation."""
            return {"count": len(desk.notes), "notes": list(desk.notes)}

        @tool
        async def delete_last_note() -> dict[str, Any]:
            """Delete the newest note."""
            if not desk.notes:
                return {"error": "There are no notes."}
            return {"deleted": desk.notes.pop(), "count": len(desk.notes)}

        @tool
        async def book_table(people: Annotated[int, Field(ge=1, le=12)], time: str) -> dict[str, Any]:
            """Book a table in the hotel's restaurant, open from 12:00 to 22:00.

            Args:
                people: How many guests, 1 to 12.
                time: When, for example 19:00 or 7 pm. Bare hours below 11 are taken as evening.
            """
            clock = _clock(time)
            if clock is None:
                return {"error": f"I did not understand the time {time}."}
            if not 12 * 60 <= clock <= 22 * 60:
                return {"error": "The restaurant is open from 12:00 to 22:00."}
            desk.booking = {"people": people, "time": f"{clock // 60:02d}:{clock % 60:02d}"}
            return dict(desk.booking)

        @tool
        async def cancel_booking() -> dict[str, Any]:
            """Cancel the table."""
            if desk.booking is None:
                return {"error": "There is no booking."}
            cancelled, desk.booking = desk.booking, None
            return {"cancelled": cancelled}

        @tool
        def get_time() -> dict[str, Any]:
            """The time and date at the hotel, which is where this program runs."""
            now = desk.wall_clock()
            return {"time": now.strftime("%H:%M"), "date": now.strftime("%A, %B %d")}

        return [
            get_weather,
            set_timer,
            list_timers,
            add_note,
            list_notes,
            delete_last_note,
            book_table,
            cancel_booking,
            get_time,
        ]


def _plain(minutes: float) -> int | float:
    return int(minutes) if minutes == int(minutes) else minutes


def _minutes(minutes: float) -> str:
    return f"{_plain(minutes)}-minute"


def _left(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} minute{'' if minutes == 1 else 's'}"


def _degrees(celsius: int) -> str:
    return f"minus {-celsius} degrees" if celsius < 0 else f"{celsius} degrees"


def _clock(time: str) -> int | None:
    """Minutes since midnight of `19:00`, `7 pm` or `7`; bare hours below 11 are evening. None when unreadable."""
    match = _TIME.match(time)
    if match is None:
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), (match[3] or "").lower()
    if hour > 23 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    elif 1 <= hour < 11 and match[2] is None:
        hour += 12
    return hour * 60 + minute


def concierge() -> Agent:
    """A fresh concierge with an empty desk."""
    return Agent(
        name="concierge",
        description="A hotel concierge: weather, timers, notes, a table, the time.",
        instruction=(
            "You are the concierge of a small hotel. Be brief and friendly, answer in one or two sentences. "
            "Use the tools for weather, timers, notes, table bookings and the time; never make up their results. "
            "The weather tool gives what is typical for the month, so say that it is typical."
        ),
        tools=Desk().tools(),
        voice="Puck",
        phrases=PHRASES,
    )
