"""Technical support: line test, router restart, a specialist, or a technician."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gemini_live_runtime import (
    ComputedVar,
    ConsecutiveFailureDetector,
    FieldPromotion,
    InstructionModifier,
    Live,
    LlmExtractor,
    Phase,
    State,
    SteeringMode,
    TemporalPattern,
    Transition,
    Watcher,
    called_ok,
    key,
    tool,
)
from gemini_live_runtime.agents.line_specialist import LineSpecialist
from gemini_live_runtime.agents.line_tools import LINE, PROBLEM, Problem, check_line, restart_router


@tool
def call_specialist() -> LineSpecialist:
    """Put the caller through to the specialist, who can reset the connection."""
    return LineSpecialist(tech_support)


@tool
def hand_over(name: str, state: State) -> dict[str, str]:
    """Hand over to a technician, who calls back and asks for `name`."""
    state["user:name"] = name
    return {"ticket": state["derived:ticket"], "when": "in ten minutes"}


class Report(BaseModel):
    """Facts that a text model extracts from the caller's words."""

    problem: Problem | None = Field(None, description="What does not work.")
    works: bool | None = Field(None, description="They say that it works again.")
    wants_person: bool | None = Field(None, description="They ask for a person.")
    broken_again: bool | None = Field(None, description="They say that it does not work any more.")


LISTENER = LlmExtractor(
    Report,
    window=1,  # "it works again" counts only after something was tried
    promotions=[
        FieldPromotion.overwrite("problem").to(PROBLEM),
        FieldPromotion.true_only("works").when(called_ok("restart_router") | (LINE == "good")),
        FieldPromotion.true_only("wants_person"),
        FieldPromotion.true_only("broken_again").when(key("session:phase") == "solved"),
    ],
)


def ticket(state: State) -> str | None:
    """Return a ticket such as `internet-broken`: the problem and the line's state."""
    problem = state.get(PROBLEM)
    return f"{problem.split()[-1]}-{state.get(LINE) or 'untested'}" if problem else "unclear"


def give_up(state: State) -> None:
    """Stop restarting the router."""
    state["app:hopeless"] = True


def forget_that_it_worked(state: State) -> None:
    """Begin anew with a line or router that worked for a while only."""
    state.remove("app:works")
    state.remove("app:broken_again")


TO_PERSON = (
    Transition("escalate", key("app:wants_person"), because="they ask for a person"),
    Transition("escalate", key("session:repair:escalation"), because="we do not understand each other"),
)

PHASES = [
    Phase(
        "describe",
        "Ask what does not work: the internet, its speed, or the telephone.",
        needs=PROBLEM,
        tools=[],
        prompt_on_enter=True,
        transitions=[Transition("diagnose", PROBLEM.is_set(), because="we know what does not work"), *TO_PERSON],
    ),
    Phase(
        "diagnose",
        "Find the cause: offer to test the line or to restart the router, and ask whether it works.",
        needs=[LINE, "app:works"],
        tools=[check_line, restart_router, call_specialist],
        modifiers=[
            InstructionModifier.with_state(PROBLEM, LINE, label="So far"),
            InstructionModifier.when(key("bg:restart_router_failed"), "The restart failed: say so, and try it again."),
        ],
        prompt_on_enter=True,
        transitions=[
            Transition("solved", key("app:works"), because="it works again"),
            Transition("escalate", LINE == "broken", because="the line is broken, which no restart will fix"),
            Transition("escalate", key("app:hopeless"), because="nothing more can be done from afar"),
            *TO_PERSON,
        ],
    ),
    Phase(
        "escalate",
        "A technician takes over: say so, and ask who they should ask for.",
        needs="user:name",
        tools=hand_over,
        prompt_on_enter=True,
        transitions=Transition("handed_over", called_ok("hand_over"), because="a technician has the ticket"),
    ),
    Phase(
        "solved",
        "It works again: say goodbye.",
        tools=[],
        prompt_on_enter=True,
        on_exit=forget_that_it_worked,
        transitions=[Transition("diagnose", key("app:broken_again"), because="it is broken again"), *TO_PERSON],
    ),
    Phase("handed_over", "Say when the technician calls, and goodbye.", tools=[], prompt_on_enter=True, terminal=True),
]


def tech_support() -> Live:
    """Return a new technical support agent."""
    return (
        Live.builder("tech_support")
        .description("Technical support: tests the line, restarts the router, and calls a technician if that fails.")
        .instruction("You are the technical support of Harbor Telecom. One step at a time, in plain words.")
        .phrases("my internet is slow", "test the line", "please restart the router", "it works again")
        .steering(SteeringMode.HYBRID)  # phases change the instruction, modifiers arrive as notes
        .state(PROBLEM, LINE)
        .tools(check_line, restart_router, call_specialist, hand_over)
        .hands_over_to(lambda: LineSpecialist(tech_support))
        .extract(LISTENER)
        .computed(ComputedVar("ticket", ticket, [PROBLEM, LINE]))
        .watch(Watcher(PROBLEM.changed(), lambda state: state.remove(LINE), name="another problem", blocking=True))
        .pattern(TemporalPattern("no router", ConsecutiveFailureDetector("restart_router", 2), give_up))
        .repair(nudge_after=3, escalate_after=8)
        .phase(*PHASES)
    )
