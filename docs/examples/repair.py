"""Repair a phase whose needs stay open: nudge the model, then escalate."""

from gemini_live_runtime import Live, NeedsFulfillment, Phase, RepairAction, RepairConfig, State, Transition, key
from gemini_live_runtime.clock import run_virtual


def give_name(name: str, state: State) -> dict[str, str]:
    """Note the caller's name.

    Args:
        name: The name.
    """
    state.set("user:name", name)
    return {"name": name}


agent = (
    Live.builder("desk")
    .instruction("Answer the telephone.")
    .tools(give_name)
    .phase(
        Phase(
            "name",
            "Ask for the name.",
            needs="user:name",
            transitions=Transition("person", key("session:repair:escalation"), because="nothing helps"),
        ),
        Phase("person", "Say that a person takes over.", terminal=True),
    )
    .repair(nudge_after=2, escalate_after=3)
)


async def main() -> None:
    """Talk past the open need until the agent escalates."""
    async with agent.connect(backend="local", fast=True) as session:
        events = session.events()
        for text in ("hello", "how are you", "tell me a joke", "hello"):
            await session.send_text(text)
            await session.until_quiet()
    async for event in events:
        if event.type == "repair.acted":
            print(f"turn {event.turn}: {event.payload.action}, missing {', '.join(event.payload.unfulfilled)}")
        elif event.type == "context.sent" and "repair" in event.payload.reasons:
            print(f"  {event.payload.texts[0]}")
        elif event.type == "phase.entered" and event.payload.previous:
            print(f"turn {event.turn}: {event.payload.previous} -> {event.payload.phase}")


run_virtual(main())

# The counter alone: a need that is newly filled is progress and resets it.
needs, state = NeedsFulfillment(RepairConfig(nudge_after=1, escalate_after=3)), State()
wanted = ("user:name", "user:date")
for step in ("", "user:name", "", "", ""):
    if step:
        state.set(step, "known")
    action: RepairAction = needs.evaluate("intake", wanted, state)
    print(action.kind, action.keys)

# Prints:
# turn 2: nudge, missing user:name
#   [Still needed] name. Ask for this next.
# turn 3: escalate, missing user:name
# turn 3: name -> person
#   [No longer needed] name.
# nudge ['user:name', 'user:date']
# none []
# nudge ['user:date']
# nudge ['user:date']
# escalate ['user:date']
