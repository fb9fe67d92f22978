"""Call screener: asks who calls and why, connects only urgent calls from contacts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from gemini_live_runtime import (
    ContextBuilder,
    FieldPromotion,
    FunctionExtractor,
    Live,
    LlmExtractor,
    Phase,
    PhasePreparation,
    SteeringMode,
    SustainedDetector,
    TemporalPattern,
    Transition,
    called_ok,
    key,
)
from gemini_live_runtime.agents.call_tools import (
    CALLER,
    CONTACT,
    REASON,
    correction,
    is_a_reason,
    is_the_same_caller,
    look_up,
    take_message,
)


class Call(BaseModel):
    """Facts that a text model extracts from the caller's words."""

    caller: str | None = Field(None, description="The caller's full name.")
    reason: str | None = Field(None, description="What it is about, in a few words.")
    urgency: Literal["low", "high"] | None = Field(None, description="High when it cannot wait until tonight.")
    spam: bool | None = Field(None, description="They are selling something, or it is a recording.")
    leaves: bool | None = Field(None, description="They leave no message, and want no more.")


ASKED = key("session:phase").one_of("screen", "ask_again")
FACTS = [
    FieldPromotion.true_only("leaves"),
    FieldPromotion.overwrite("caller").to(CALLER).when(is_the_same_caller),
    FieldPromotion.non_empty("reason").to(REASON).when(is_a_reason).when(ASKED),  # later words are a message
    FieldPromotion.overwrite("urgency").when(key("session:phase") == "decide"),  # only when the agent has asked
    FieldPromotion.true_only("spam"),
]
LISTENER = LlmExtractor(Call, window=1, promotions=FACTS)
CORRECTED = FieldPromotion.overwrite("correction").to(CALLER).when(CALLER.is_set())


def nameless(phase: str, seconds: float, mark: str) -> TemporalPattern:
    """Set `mark` after `seconds` of silence in `phase` without a caller's name."""
    guard = CALLER.is_missing() & (key("session:phase") == phase) & ~key("session:is_model_speaking")
    return TemporalPattern(mark, SustainedDetector(guard, seconds), lambda state: state.set(mark, True))


ABOUT = ContextBuilder().section("Caller").field(CALLER, "Name").field(CONTACT, "To Sam").field(REASON, "About")

OUT = (
    Transition("rejected", key("app:spam"), because="the caller is selling something"),
    Transition("left", key("app:leaves"), because="the caller leaves no message"),
)
KNOWN = Transition("decide", CALLER.is_set() & REASON.is_set(), because="the caller gave a name and a reason")
UNCLEAR = Transition("message", key("session:repair:escalation"), because="it is not understood who calls, or why")

PHASES = [
    Phase(
        "screen",
        "Answer the call: say that you answer for Sam, and ask who is calling and what it is about.",
        needs=[CALLER, REASON],
        tools=[],
        prompt_on_enter=True,
        transitions=[*OUT, KNOWN, UNCLEAR, Transition("ask_again", key("app:silent"), because="there is no name yet")],
    ),
    Phase(
        "ask_again",
        "Ask again, kindly: is anyone there, and who is it?",
        needs=[CALLER, REASON],
        tools=[],
        prompt_on_enter=True,
        transitions=[*OUT, KNOWN, UNCLEAR, Transition("rejected", key("app:gone"), because="there is still no name")],
    ),
    Phase(
        "decide",
        "Find out whether it is urgent, or can wait until tonight.",
        needs="app:urgency",
        tools=[],
        on_enter_context=ABOUT.render,
        prompt_on_enter=True,
        transitions=[
            *OUT,
            Transition("connected", key("app:urgency") == "high", because="it is urgent, and Sam knows them"),
            Transition("message", key("app:urgency").is_set(), because="it can wait, or Sam does not know them"),
        ],
    ),
    Phase(
        "message",
        "Sam cannot come to the phone now: offer to take a message.",
        tools=take_message,
        prompt_on_enter=True,
        transitions=[*OUT, Transition("message_taken", called_ok("take_message"), because="Sam has their message")],
    ),
    Phase(
        "connected",
        "Say that you are putting them through, and then be silent.",
        requires=CONTACT,
        preparations=PhasePreparation("look up the caller", look_up, produces=CONTACT),
        tools=[],
        on_enter_context=ABOUT.render,
        prompt_on_enter=True,
        terminal=True,
    ),
    Phase("message_taken", "Say goodbye: Sam will read it tonight.", tools=[], prompt_on_enter=True, terminal=True),
    Phase("left", "Say goodbye: there is no message.", tools=[], prompt_on_enter=True, terminal=True),
    Phase("rejected", "Say that Sam does not take such calls. Goodbye.", tools=[], prompt_on_enter=True, terminal=True),
]


def call_screening() -> Live:
    """Return a new call screener."""
    return (
        Live.builder("call_screening")
        .description("A call screener: asks who and why, then connects, takes a message, or declines.")
        .instruction("You answer the phone for Sam, who is busy. Be short, warm, and tell nothing about Sam.")
        .phrases("this is Peter Brown", "it is about the contract", "it is urgent", "tell him I called")
        .steering(SteeringMode.CONTEXT_INJECTION)  # the instruction stays as it is, phases are told on the way
        .state(CALLER, REASON, CONTACT)
        .tools(take_message)
        .extract(LISTENER)
        .extract(FunctionExtractor(correction, window=1, promotions=[CORRECTED]))
        .pattern(nameless("screen", 20, "app:silent"), nameless("ask_again", 60, "app:gone"))
        .repair(nudge_after=2, escalate_after=3)
        .phase(*PHASES)
    )
