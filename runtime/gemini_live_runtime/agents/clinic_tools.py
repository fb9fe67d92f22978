"""Tools of the clinic: patients, free appointments and bookings."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime import State, StateKey, tool
from gemini_live_runtime.local.language.words import parse_number, split_words

PATIENTS = {("anna", 1982): "P-17", ("david", 1971): "P-23", ("maria", 1990): "P-42"}
FREE = {"morning": ["nine", "eleven"], "afternoon": ["two", "four"]}

NAME = StateKey("user:name", str, description="the caller's name")
SYMPTOM = StateKey("app:symptom", str, description="what is wrong")
PAIN = StateKey("app:pain", int, description="how bad the pain is, from zero to ten")
CALENDAR = StateKey("app:calendar", dict[str, list[str]])
OFFER = StateKey("app:offer", str, description="an appointment to offer")
AGREED = StateKey("app:agreed", bool)
BOOKING = StateKey("app:booking", dict[str, str])
OFFERED_IN = StateKey("temp:offered_in", int, description="the turn in which the appointment was offered")


def is_a_complaint(said: str, state: State) -> bool:
    """Return False for "only a five": that is a pain."""
    return state.get("session:phase") == "symptoms" and parse_number(split_words(said), 0) is None


def answers_the_offer(_: object, state: State) -> bool:
    """Return False for the turn in which the appointment was offered.

    "No, eleven" declines nine, not the offer of eleven that it leads to. A turn is counted when it is complete.
    """
    turns = int(state.get("session:turn_count", 0)) - int(state.get(OFFERED_IN, 0))
    return state.get("session:phase") == "confirm" and turns > 1


@tool
def find_patient(name: str, birth_year: int, state: State) -> dict[str, str]:
    """Look a patient up by first name and year of birth."""
    first, *_ = [*name.split(), ""]
    patient = PATIENTS.get((first.lower(), birth_year))
    if patient is None:
        return {"error": f"There is no {name} born in {birth_year}"}
    state.set(NAME, first)
    state.set("user:patient_id", patient)
    return {"patient_id": patient}


@tool
def find_slot(part_of_day: Literal["morning", "afternoon"], state: State, hour: str | None = None) -> dict[str, str]:
    """Find a free appointment in a part of the day: the first, or the one at an hour."""
    free = state[CALENDAR][part_of_day]
    if hour is not None and hour not in free:
        return {"error": f"In the {part_of_day} only {' and '.join(free)} are free, not {hour}"}
    offer = f"{state.get('app:day', 'tomorrow')} at {hour or free[0]}"
    state.set(OFFER, offer)
    state.set(OFFERED_IN, state.get("session:turn_count", 0))
    return {"offer": offer}


@tool
def book_slot(state: State) -> dict[str, str]:
    """Book the appointment that was offered, once the caller has agreed to it."""
    state.set(BOOKING, {"patient": state["user:patient_id"], "at": state[OFFER]})
    return {"booked": state[OFFER]}
