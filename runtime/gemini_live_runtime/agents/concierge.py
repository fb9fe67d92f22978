"""Hotel concierge with weather, timers, notes, table bookings, taxis and the time.

The default demo agent: phases for a table with needs that an extractor fills, tools, a computed value, a watcher, and
a memory of the guest from one conversation to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    FieldPromotion,
    FunctionExtractor,
    Live,
    Phase,
    State,
    StateKey,
    Transition,
    Watcher,
    key,
)
from gemini_live_runtime.agents.hotel_phrases import PHRASES
from gemini_live_runtime.agents.hotel_tools import hotel_tools, time_at_the_hotel
from gemini_live_runtime.agents.table_request import table_request
from gemini_live_runtime.agents.table_tools import BOOKING, CLOSES, MAX_PEOPLE, OPENS, WANTED, table_tools
from gemini_live_runtime.agents.times import minutes_since_midnight

MANY = 8
"""Number of guests from which the kitchen makes a set menu."""

PEOPLE = StateKey("app:people", int, description="people")
TIME = StateKey("app:time", str, description="time")


def can_be_booked(time: str, state: State) -> bool:
    """Return True when the restaurant is open at `time`."""
    return OPENS <= (minutes_since_midnight(time) or 0) <= CLOSES


def table(state: State) -> str | None:
    """Return the booking in words, or None; computed when the booking changes."""
    if not (booking := state.get(BOOKING)):
        return None
    menu = "set" if booking["people"] >= MANY else "usual"
    people = "1 person" if booking["people"] == 1 else f"{booking['people']} people"
    return f"{people} at {booking['time']} with the {menu} menu"


def tell_kitchen(state: State) -> None:
    """Write the kitchen's slip, or take it back; called when the booking changes."""
    slip = f"room {state['app:room']}: {state.get('derived:table', 'no table')}"
    known = {one["key"]: one["value"] for one in state.get("session:memory:user", [])}
    state.set("app:kitchen", f"{slip}, {known['diet']}" if BOOKING in state and "diet" in known else slip)


PROMOTIONS = [
    FieldPromotion.true_only("wants_table").to(WANTED).when(BOOKING.is_missing()),
    FieldPromotion.overwrite("wants_table").to(WANTED).when(WANTED),
    FieldPromotion.overwrite("people").to(PEOPLE).when(WANTED).when(lambda people, state: 1 <= people <= MAX_PEOPLE),
    FieldPromotion.overwrite("time").to(TIME).when(WANTED).when(can_be_booked),
]

PHASES = [
    Phase(
        "assist",
        "Help with whatever they ask for.",
        clear_on_enter=[WANTED, PEOPLE, TIME],
        transitions=[
            Transition("booked", BOOKING.is_set(), because="they have a table"),
            Transition("booking", WANTED, because="they want a table"),
        ],
    ),
    Phase(
        "booking",
        "They want a table: ask for what is missing, then book it. Help with other things meanwhile.",
        needs=[PEOPLE, TIME],
        transitions=[
            Transition("booked", BOOKING.is_set(), because="they have a table"),
            Transition("assist", ~WANTED | key("session:repair:escalation"), because="they have let it go"),
        ],
    ),
    Phase(
        "booked",
        lambda state: f"Their table: {state.get('derived:table') or 'none yet'}. Help with whatever else they ask for.",
        clear_on_enter=[WANTED, PEOPLE, TIME],
        transitions=Transition("assist", BOOKING.is_missing(), because="the table is cancelled"),
    ),
]


def concierge(wall_clock: Callable[[], datetime] | None = None) -> Live:
    """Return a concierge; `wall_clock` returns the hotel's date and time."""
    clock = wall_clock or time_at_the_hotel
    return (
        Live.builder("concierge")
        .description("A hotel concierge: weather, timers, notes, a table, a taxi, the time.")
        .instruction(
            "You are the concierge of a small hotel. Be brief and friendly, answer in one or two sentences. "
            "Use the tools for weather, timers, notes, tables, taxis and the time; never make up their results. "
            "The weather tool gives what is typical for the month, so say that it is typical. "
            "Remember the guest's name as name and what they do not eat as diet, and use what you know of them."
        )
        .tools(*hotel_tools(clock), *table_tools(clock))
        .memory("user")
        .task_tools()
        .in_every_phase(ContextBuilder().memory("user").as_modifier())
        .voice("Puck")
        .phrases(*PHRASES)
        .state(WANTED, PEOPLE, TIME, BOOKING, values={"app:room": 12})
        .phase(*PHASES)
        .extract(FunctionExtractor(table_request, window=1, promotions=PROMOTIONS))
        .computed(ComputedVar("table", table, depends_on=BOOKING))
        .watch(Watcher(BOOKING.changed(), tell_kitchen, name="tell the kitchen", blocking=True))
        .repair(nudge_after=2, escalate_after=4)
    )
