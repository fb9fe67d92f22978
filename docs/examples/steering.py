"""Steer the model with phases, modifiers and context, sent only on changes."""

from gemini_live_runtime import (
    ContextBuilder,
    ContextDelivery,
    InstructionModifier,
    Live,
    Phase,
    State,
    SteeringMode,
    key,
    run_virtual,
)


def set_mood(mood: str, state: State) -> str:
    """Note the caller's mood, in one word."""
    state.set("app:mood", mood)
    return mood


caller = ContextBuilder().section("Caller").field("user:name", "Name").sentiment("app:mood").gathering("user:address")
agent = (
    Live.builder("desk")
    .instruction("Answer the telephone.")
    .tools(set_mood)
    .state(values={"user:name": "Ada"})
    .phase(Phase("talk", "Be helpful."))
    .in_every_phase(
        caller.as_modifier(),
        InstructionModifier.when(key("app:mood") == "angry", "Stay calm and apologise."),
    )
)


async def main() -> None:
    """Run the same two turns in two modes; unchanged texts are not sent again."""
    for mode, delivery in (
        (SteeringMode.INSTRUCTION_UPDATE, ContextDelivery.IMMEDIATE),
        (SteeringMode.CONTEXT_INJECTION, ContextDelivery.DEFERRED),
    ):
        async with agent.steering(mode, delivery).connect(backend="local", fast=True) as session:
            events = session.events()
            for _ in range(2):
                await session.send_text("set mood angry")
                await session.until_quiet()
        print(f"-- {mode}, {delivery}")
        async for event in events:
            if event.type == "instruction.updated":
                print("instruction:", event.payload.text.replace("\n", " | "))
            elif event.type == "context.sent":
                print("context:", event.payload.texts, "queued" if event.payload.queued else "at once")


run_virtual(main())

# Prints:
# -- instruction_update, immediate
# instruction: Answer the telephone. |  | Be helpful. |  | [Caller] Name: Ada. | [Gathering] address
# instruction: Answer the telephone. |  | Be helpful. |  | [Caller] Name: Ada. Caller seems angry. | [Gathering] address |  | Stay calm and apologise.
# -- context_injection, deferred
# instruction: Answer the telephone.
# context: ('[Caller] Name: Ada.\n[Gathering] address', 'Be helpful.') queued
# context: ('[Caller] Name: Ada.\n[Gathering] address', 'Be helpful.') at once
# context: ('[Caller] Name: Ada. Caller seems angry.\n[Gathering] address', 'Stay calm and apologise.') queued
# context: ('[Caller] Name: Ada. Caller seems angry.\n[Gathering] address', 'Stay calm and apologise.') at once
