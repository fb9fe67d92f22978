"""Define the tools that book and cancel a table in the hotel's restaurant."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from gemini_live_runtime import State, StateKey, Tool, Within, tool
from gemini_live_runtime.agents.times import minutes_since_midnight

MAX_PEOPLE = 12
"""The largest table."""

WANTED = StateKey("app:wants_table", bool, description="whether they want a table")
BOOKING = StateKey("app:booking", dict[str, Any], description="the table that is booked")
OPENS, CLOSES = 12 * 60, 22 * 60
"""Minutes since midnight between which the restaurant takes bookings."""


@tool
async def cancel_booking(state: State) -> dict[str, Any]:
    """Cancel the table."""
    booking = state.get(BOOKING)
    state.remove(BOOKING)
    state.set(WANTED, False)
    return {"cancelled": booking} if booking else {"error": "There is no booking."}


def table_tools(wall_clock: Callable[[], datetime]) -> tuple[Tool, ...]:
    """Return the tools.

    `wall_clock` returns the date and time at the hotel.
    """

    @tool
    async def book_table(
        people: Annotated[int, Within(ge=1, le=MAX_PEOPLE)], time: str, state: State
    ) -> dict[str, Any]:
        """Book a table in the hotel's restaurant, open from 12:00 to 22:00.

        It is one for today, or for tomorrow when the time has passed today.

        Args:
            people: How many guests, 1 to 12.
            time: When, for example 19:00 or 7 pm. Bare hours below 11 are taken as evening.
        """
        if (clock := minutes_since_midnight(time)) is None:
            return {"error": f"I did not understand the time {time}."}
        if not OPENS <= clock <= CLOSES:
            return {"error": "The restaurant is open from 12:00 to 22:00."}
        told, now = f"{clock // 60:02d}:{clock % 60:02d}", wall_clock()
        booking: dict[str, Any] = {"people": people, "time": told}
        if clock < now.hour * 60 + now.minute:
            booking["day"] = "tomorrow"
        state.set(BOOKING, booking)
        return booking

    return book_table, cancel_booking
