"""Answer events with effects: rules decide, one executor performs."""

from collections.abc import Iterable

from gemini_live_runtime import (
    EffectMode,
    EffectPolicy,
    Live,
    LiveEffect,
    Phase,
    Reaction,
    ReactorEvent,
    ReactorRule,
    SendContext,
    State,
    Transition,
    TransitionPhase,
    VoiceRuntimeState,
    key,
    run_virtual,
)
from gemini_live_runtime.session.rules.reactor import StateChanged


def report_fire() -> str:
    """Note a fire."""
    return "noted"


def alarm(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> Iterable[Reaction | LiveEffect]:
    """Change the phase as soon as a key is set, before the turn ends."""
    if isinstance(event, StateChanged) and any(m.key == "session:called_ok:report_fire" for m in event.mutations):
        yield SendContext(("[Alarm] The fire brigade is on its way.",), reason="alarm")
        yield Reaction("alarm", TransitionPhase("alarm"), EffectPolicy(EffectMode.CONCURRENT, timeout_s=2.0))


agent = (
    Live.builder("desk")
    .tools(report_fire)
    .phase(
        Phase("talk", "Be helpful.", transitions=Transition("alarm", key("app:fire"))),
        Phase("alarm", "Tell everybody to leave the house.", terminal=True),
    )
    .rule(ReactorRule("alarm", alarm))
)


async def main() -> None:
    """Print the effects that rules had performed."""
    async with agent.connect(backend="local", fast=True) as session:
        events = session.events()
        await session.send_text("report fire")
        await session.until_quiet()
    print(session.phase)
    async for event in events:
        if event.type == "reaction.performed":
            print(event.payload.rule, event.payload.effect)


run_virtual(main())

# Prints:
# alarm
# alarm SendContext
# alarm TransitionPhase
