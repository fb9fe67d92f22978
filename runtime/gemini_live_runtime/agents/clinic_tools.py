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


def is_a_complaint(said: str, state: State) -> bool:
    """Return False for "only a five": that is a pain."""
    return state.get("session:phase") == "symptoms" and parse_number(split_words(said), 0) is None


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
def find_slot(part_of_day: Literal["morning", "afternoon"], state: State) -> dict[str, str]:
    """Find the first free appointment in a part of the day."""
    offer = f"{state.get('app:day', 'tomorrow')} at {state[CALENDAR][part_of_day][0]}"
    state.set(OFFER, offer)
    return {"offer": offer}


@tool
def book_slot(state: State) -> dict[str, str]:
    """Book the appointment that was offered, once the caller has agreed to it."""
    state.set(BOOKING, {"patient": state["user:patient_id"], "at": state[OFFER]})
    return {"booked": state[OFFER]}
