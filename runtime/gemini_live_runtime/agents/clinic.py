"""Clinic intake: identity, symptoms, then an appointment or an ambulance.

It shows typed state keys, tools that write state, facts that a text model extracts, a computed value, a watcher, a
preparation, and a consent that counts only after the appointment was offered.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    FieldPromotion,
    Live,
    LlmExtractor,
    Phase,
    PhasePreparation,
    State,
    StateKey,
    Transition,
    Watcher,
    key,
    tool,
)

PATIENTS = {("anna", 1982): "P-17", ("david", 1971): "P-23", ("maria", 1990): "P-42"}
FREE = {"morning": ["nine", "eleven"], "afternoon": ["two", "four"]}

NAME = StateKey("user:name", str, description="the caller's name")
SYMPTOM = StateKey("app:symptom", str, description="what is wrong")
PAIN = StateKey("app:pain", int, description="how bad the pain is, from zero to ten")
CALENDAR = StateKey("app:calendar", dict[str, list[str]])
OFFER = StateKey("app:offer", str, description="an appointment to offer")
AGREED = StateKey("app:agreed", bool)
BOOKING = StateKey("app:booking", dict[str, str])


@tool
def find_patient(name: str, birth_year: int, state: State) -> dict[str, str]:
    """Look a patient up by first name and year of birth."""
    patient = PATIENTS.get((name.lower(), birth_year))
    if patient is None:
        return {"error": f"There is no {name} born in {birth_year}"}
    state.set(NAME, name)
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


class Intake(BaseModel):
    """Facts that a text model extracts; it reads the descriptions."""

    symptom: str | None = Field(None, description="the complaint in one or two words, such as fever or chest pain")
    pain: int | None = Field(None, ge=0, le=10, description="how bad the pain is")
    agrees: bool | None = Field(None, description="whether the caller takes the offered appointment")


def urgency(state: State) -> str | None:
    """Return the urgency, None while unknown; computed when one of its keys changes."""
    symptom, pain = state.get(SYMPTOM, ""), state.get(PAIN, -1)
    if not symptom or pain < 0:
        return None
    return "emergency" if "chest" in symptom and pain >= 5 else "routine"


def clinic() -> Live:
    """Return the agent; it enters a phase when the guard of a transition turns true."""
    urgent = Transition("emergency", key("derived:urgency") == "emergency", because="it is too urgent to wait")
    identify = Phase(
        "identify",
        "Ask for the caller's first name and year of birth, and look the patient up.",
        needs=NAME,
        tools=find_patient,
        transitions=Transition("symptoms", key("user:patient_id").is_set(), because="the patient was found"),
    )
    symptoms = Phase(
        "symptoms",
        "Ask what is wrong, then how bad the pain is, from zero to ten.",
        needs=[SYMPTOM, PAIN],
        tools=(),
        transitions=[
            urgent,
            Transition("schedule", key("derived:urgency").is_set(), because="there is time for an appointment"),
        ],
    )
    schedule = Phase(
        "schedule",
        "Ask whether the morning or the afternoon suits them, and find a free appointment.",
        requires=CALENDAR,  # a phase is entered only with what it requires; the preparation fetches it
        preparations=PhasePreparation("calendar", lambda state: state.set(CALENDAR, FREE), produces=CALENDAR),
        tools=find_slot,
        prompt_on_enter=True,
        clear_on_enter=[OFFER, AGREED, BOOKING],
        transitions=[urgent, Transition("confirm", OFFER.is_set(), because="there is something to offer")],
    )
    confirm = Phase(
        "confirm",
        lambda state: f"Offer this appointment: {state.get(OFFER)}. Book it when the caller says yes.",
        presents="appointment",  # from now on a "yes" answers this offer: see after_presented
        tools=book_slot,
        transitions=[
            urgent,
            Transition("booked", AGREED & BOOKING.is_set(), because="they agreed and it is booked"),
            Transition("schedule", AGREED.is_false(), because="it does not suit them"),
        ],
    )
    booked = Phase("booked", "Say when to come and wish them well.", terminal=True)
    emergency = Phase("emergency", "Tell them to call an ambulance now.", terminal=True, prompt_on_enter=True)
    intake = LlmExtractor(
        Intake,
        window=1,  # an earlier "no" answered another offer
        promotions=[
            FieldPromotion.keep_known("symptom").to(SYMPTOM),
            FieldPromotion.overwrite("pain").to(PAIN),
            FieldPromotion.overwrite("agrees").to(AGREED).after_presented("appointment"),
        ],
    )
    return (
        Live.builder("clinic")
        .description("A clinic's intake: what is wrong, how urgent it is, an appointment.")
        .instruction("You answer the phone of a small clinic. Ask one thing at a time. You give no diagnosis.")
        .greeting("Greet the caller and ask who it is.")
        .phrases("my name is Anna and I was born in 1982", "I have a fever", "the pain is a four", "in the morning")
        .phase(identify, symptoms, schedule, confirm, booked, emergency)
        .tools(find_patient, find_slot, book_slot)
        .extract(intake)
        .computed(ComputedVar("urgency", urgency, depends_on=[SYMPTOM, PAIN]))
        # Watchers run when a value changes, by a tool, the extractor or the operator.
        .watch(Watcher((PAIN >= 8).became_true(), lambda state: state.set("app:day", "today"), name="great pain"))
        .in_every_phase(ContextBuilder().section("Caller").field(NAME, "Name").field(PAIN, "Pain").as_modifier())
        .repair(nudge_after=3, escalate_after=5)
    )
