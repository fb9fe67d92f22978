"""Debt collector under rules: notice, identity check, and only then money.

Until the identity is verified the model does not know the amount and has no tool to take it. A dispute ends the call.
"""

from __future__ import annotations

from pydantic import BaseModel, Field

from gemini_live_runtime import (
    ComputedVar,
    FieldPromotion,
    InstructionModifier,
    Live,
    LlmExtractor,
    Phase,
    RateDetector,
    TemporalPattern,
    Transition,
    TurnCountDetector,
    Watcher,
    called_ok,
    key,
)
from gemini_live_runtime.agents.debt_tools import OWED, PAID, take_payment, verify_identity


class Said(BaseModel):
    """Facts that a text model extracts from the caller's last words."""

    understood: bool | None = Field(None, description="They understood the notice.")
    disputed: bool | None = Field(None, description="They say that the debt is wrong, or not theirs.")
    resumed: bool | None = Field(None, description="They take back that the debt is wrong.")
    no_calls: bool | None = Field(None, description="They want no more calls.")
    refused: bool | None = Field(None, description="They refuse to pay, or cannot.")
    monthly: int | None = Field(None, gt=0, description="The dollars that they can pay each month.")
    agreed: bool | None = Field(None, description="They agree to the plan, or do not.")
    day: str | None = Field(None, description="The day on which they want to be called again.")
    anger: float | None = Field(None, description="How angry they sound, from 0 to 1.")


PHASE = key("session:phase")
LISTENER = LlmExtractor(
    Said,
    window=1,
    promotions=[
        FieldPromotion.true_only("understood").after_presented("notice"),
        FieldPromotion.true_only("disputed"),
        FieldPromotion.true_only("resumed").when(PHASE == "disputed"),
        FieldPromotion.true_only("no_calls"),
        FieldPromotion.true_only("refused").to("turn:refused"),  # cleared when the next turn begins
        FieldPromotion.overwrite("agreed").after_presented("plan").when(PHASE == "plan"),
        FieldPromotion.overwrite("monthly").when(PHASE.one_of("negotiate", "plan") & key("turn:verified").is_missing()),
        FieldPromotion.non_empty("day").when(PHASE.one_of("negotiate", "plan")),
        FieldPromotion.overwrite("anger"),
    ],
)

STOP = Transition("disputed", key("app:disputed"), because="they dispute the debt")
LATER = Transition("call_back", key("app:day").is_set(), because="they want to be called another day")
RESUMED = ["app:disputed", "app:resumed"]
NO_CALLS = Transition("no_calls", key("app:no_calls"), because="they want no more calls")
PHASES = [
    Phase(
        "notice",
        "Read the notice: this call is recorded, and its purpose is to collect a debt. Ask whether they understand.",
        presents="notice",
        tools=[],
        prompt_on_enter=True,
        transitions=[STOP, Transition("verify", key("app:understood"), because="they understood the notice"), NO_CALLS],
    ),
    Phase(
        "verify",
        "Verify the identity: ask for the full name and the last two digits of the account. Do not speak of money.",
        needs="user:name",
        tools=verify_identity,
        prompt_on_enter=True,
        clear_on_enter=RESUMED,
        transitions=[
            STOP,
            Transition("negotiate", called_ok("verify_identity"), because="we know who they are"),
            Transition("call_back", key("session:repair:escalation"), because="we cannot find out who they are"),
            NO_CALLS,
        ],
    ),
    Phase(
        "negotiate",
        lambda state: f"Find a way to pay the {state['derived:left']} dollars that are left, now or by the month.",
        tools=take_payment,
        modifiers=InstructionModifier.when(key("app:tired"), "Stop asking for money. Offer to call another day."),
        clear_on_enter=["app:monthly", "app:agreed", *RESUMED],
        transitions=[
            STOP,
            Transition("paid", called_ok("take_payment") & (key("derived:left") == 0), because="nothing is left"),
            Transition("plan", key("app:monthly").is_set(), because="they can pay by the month"),
            LATER,
            NO_CALLS,
        ],
    ),
    Phase(
        "plan",
        lambda state: f"Read the plan back: {state['app:monthly']} dollars a month until all is paid. Do they agree?",
        presents="plan",
        tools=[],
        prompt_on_enter=True,
        transitions=[
            STOP,
            LATER,
            Transition("arranged", key("app:agreed"), because="they agreed to the plan"),
            Transition("negotiate", key("app:agreed").is_false(), because="the plan does not suit them"),
            NO_CALLS,
        ],
    ),
    Phase("paid", "The debt is paid: thank them.", terminal=True, tools=[], prompt_on_enter=True),
    Phase("arranged", "The plan is agreed: thank them.", terminal=True, tools=[], prompt_on_enter=True),
    Phase("call_back", "Say that we call on that day.", terminal=True, tools=[], prompt_on_enter=True),
    Phase("no_calls", "Say that no one calls them again.", terminal=True, tools=[], prompt_on_enter=True),
    Phase(
        "disputed",
        "Stop collecting. Say that proof follows.",
        tools=[],
        prompt_on_enter=True,
        transitions=[
            Transition("negotiate", key("app:resumed") & OWED.is_set(), because="it is their debt after all"),
            Transition("verify", key("app:resumed"), because="it is their debt after all"),
        ],
    ),
]


def debt_collection() -> Live:
    """Return a new debt collector."""
    return (
        Live.builder("debt_collection")
        .description("A debt collector: notice, identity check, then payment, a plan, or no more calls.")
        .instruction("You collect a debt for Harbor Bank. Be brief and kind, and never threaten.")
        .phrases("yes I understand", "my name is Maria Lopez", "forty two", "I can pay fifty dollars a month")
        .state(OWED, PAID, values={"app:anger": 0.0})
        .tools(verify_identity, take_payment)
        .extract(LISTENER)
        .computed(ComputedVar("left", lambda s: s[OWED] - s.get(PAID) if OWED in s else None, [OWED, PAID]))
        .watch(Watcher(key("app:anger").crossed_above(0.7), lambda s: s.set("app:gentle", True), blocking=True))
        .in_every_phase(InstructionModifier.when(key("app:gentle"), "They are upset: apologise, slow down, listen."))
        .watch(Watcher(key("app:monthly").changed(), lambda s: s.remove("app:agreed"), blocking=True))
        .pattern(TemporalPattern("noes", TurnCountDetector(key("turn:refused"), 3), lambda s: s.set("app:tired", True)))
        .pattern(TemporalPattern("cuts", RateDetector("turn.interrupted", 3, 60), lambda s: s.set("app:gentle", True)))
        .repair(nudge_after=3, escalate_after=7)
        .phase(*PHASES)
    )
