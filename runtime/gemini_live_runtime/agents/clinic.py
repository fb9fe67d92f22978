"""Clinic intake: identity, symptoms, then an appointment or an ambulance.

It shows typed state keys, tools that write state, facts that a text model extracts, a computed value, a watcher, a
preparation, and a consent that counts only after the appointment was offered.
"""

from __future__ import annotations

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
    Transition,
    Watcher,
    key,
)
from gemini_live_runtime.agents.clinic_tools import (
    AGREED,
    BOOKING,
    CALENDAR,
    FREE,
    NAME,
    OFFER,
    PAIN,
    SYMPTOM,
    answers_the_offer,
    book_slot,
    find_patient,
    find_slot,
    is_a_complaint,
)

OUT = (
    Transition("call_back", key("app:wants_call"), because="they would rather talk to a nurse"),
    Transition("call_back", key("session:repair:escalation"), because="we do not understand each other"),
)


class Intake(BaseModel):
    """Facts that a text model extracts; it reads the descriptions."""

    symptom: str | None = Field(None, description="the complaint in one or two words, such as fever or chest pain")
    corrected_symptom: str | None = Field(None, description="the complaint, where the caller corrects an earlier one")
    pain: int | None = Field(None, ge=0, le=10, description="how bad the pain is")
    agrees: bool | None = Field(None, description="whether the caller takes the offered appointment")
    grave: bool | None = Field(None, description="whether somebody's life is in danger now")
    wants_call: bool | None = Field(None, description="whether the caller asks to be called back")


def urgency(state: State) -> str | None:
    """Return the urgency, None while unknown; computed when one of its keys changes."""
    symptom, pain = state.get(SYMPTOM, ""), state.get(PAIN, -1)
    if state.get("app:grave"):
        return "emergency"
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
        transitions=[
            urgent,
            Transition("symptoms", key("user:patient_id").is_set(), because="the patient was found"),
            *OUT,
        ],
    )
    symptoms = Phase(
        "symptoms",
        "Ask what is wrong, then how bad the pain is, from zero to ten.",
        needs=[SYMPTOM, PAIN],
        tools=(),
        transitions=[
            urgent,
            Transition("schedule", key("derived:urgency").is_set(), because="there is time for an appointment"),
            *OUT,
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
        transitions=[urgent, Transition("confirm", OFFER.is_set(), because="there is something to offer"), *OUT],
    )
    confirm = Phase(
        "confirm",
        lambda state: f"Offer this appointment: {state.get(OFFER)}. Book it at a yes, or find another one.",
        presents="appointment",  # from now on a "yes" answers this offer: see after_presented
        tools=[book_slot, find_slot],
        transitions=[
            urgent,
            Transition("booked", AGREED & BOOKING.is_set(), because="they agreed and it is booked"),
            Transition("schedule", AGREED.is_false(), because="it does not suit them"),
            *OUT,
        ],
    )
    booked = Phase("booked", "Say when to come and wish them well.", terminal=True)
    call_back = Phase(
        "call_back", "Say that a nurse calls them back, and goodbye.", terminal=True, prompt_on_enter=True
    )
    emergency = Phase("emergency", "Tell them to call an ambulance now.", terminal=True, prompt_on_enter=True)
    intake = LlmExtractor(
        Intake,
        window=1,  # an earlier "no" answered another offer
        promotions=[
            FieldPromotion.keep_known("symptom").to(SYMPTOM),
            FieldPromotion.overwrite("corrected_symptom").to(SYMPTOM).when(is_a_complaint),
            FieldPromotion.overwrite("pain").to(PAIN),
            FieldPromotion.true_only("grave"),
            FieldPromotion.true_only("wants_call"),
            FieldPromotion.overwrite("agrees").to(AGREED).after_presented("appointment").when(answers_the_offer),
        ],
    )
    return (
        Live.builder("clinic")
        .description("A clinic's intake: what is wrong, how urgent it is, an appointment.")
        .instruction("You answer the phone of a small clinic. Ask one thing at a time. You give no diagnosis.")
        .greeting("Greet the caller and ask who it is.")
        .phrases("my name is Anna and I was born in 1982", "I have a fever", "the pain is a four", "in the morning")
        .phase(identify, symptoms, schedule, confirm, booked, call_back, emergency)
        .tools(find_patient, find_slot, book_slot)
        .extract(intake)
        .computed(ComputedVar("urgency", urgency, depends_on=[SYMPTOM, PAIN, "app:grave"]))
        # Watchers run when a value changes, by a tool, the extractor or the operator.
        .watch(Watcher((PAIN >= 8).became_true(), lambda state: state.set("app:day", "today"), name="great pain"))
        .in_every_phase(ContextBuilder().section("Caller").field(NAME, "Name").field(PAIN, "Pain").as_modifier())
        .repair(nudge_after=3, escalate_after=5)
    )
