"""Use the phase machine alone: it decides, and changes only by `commit`."""

from gemini_live_runtime import (
    Phase,
    PhaseInstruction,
    PhaseMachine,
    PhaseTransition,
    State,
    Transition,
    TransitionEvaluation,
    TransitionResult,
    TransitionTrigger,
    key,
)

greet = Phase(
    "greet",
    PhaseInstruction(lambda state: f"Greet the caller, it is {state.get('app:time_of_day')}."),
    needs="user:name",
    transitions=[
        Transition("help", key("user:name").is_set(), because="we know who calls"),
        Transition("leave", key("app:wrong_number")),
    ],
)
help_them = Phase("help", "Help.", guard=~key("app:closed"), on_enter_context="[Opening hours] 9 to 17", transitions=[])
machine = PhaseMachine([greet, help_them, Phase("leave", "Say goodbye.", terminal=True)], "greet")
state = State()
state.set("app:time_of_day", "morning")


def enter(plan, now: float) -> TransitionResult:
    """Carry out a plan; without hooks, that is to commit and to resolve."""
    record: PhaseTransition = machine.commit(plan, now)
    machine.resolve(state)
    return machine.result(record, "[Opening hours] 9 to 17" if record.to_phase == "help" else None)


print(enter(machine.enter_initial(), now=0.0).instruction)

state.set("app:closed", True)
state.set("user:name", "Ada")
evaluation: TransitionEvaluation = machine.evaluate(state)
print(evaluation.kind, [(item.to, item.outcome) for item in evaluation.considered])

state.set("app:closed", False)
evaluation = machine.evaluate(state)
result = enter(machine.follow(evaluation, turn=1), now=20.0)
print(evaluation.kind, evaluation.target, result.context)
print(result.transition.because, "after", result.transition.seconds_in_phase, "s")
print(result.transition.trigger == TransitionTrigger.guard(0))

# Prints:
# Greet the caller, it is morning.
# none [('help', "target's guard is false"), ('leave', 'guard is false')]
# ready help ('[Opening hours] 9 to 17',)
# we know who calls after 20.0 s
# True
