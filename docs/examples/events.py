"""Read all events of a session; a slow reader never holds up the session."""

from collections import Counter

from gemini_live_runtime import (
    Delivery,
    DeliveryConfig,
    EmitEvent,
    Live,
    LiveEffect,
    LiveEvent,
    ReactorEvent,
    ReactorRule,
    run_virtual,
)
from gemini_live_runtime.events import Notice


def bell(event: ReactorEvent, voice: object, state: object) -> list[LiveEffect]:
    """Emit an event of the agent's own at the first turn."""
    first = getattr(getattr(event, "event", None), "type", "") == "turn.started"
    return [EmitEvent(Notice(level="info", code="bell", text="Somebody is there"))] if first else []


agent = (
    Live.builder("desk")
    .instruction("Answer the telephone.")
    .rule(ReactorRule("bell", bell))
    .delivery(DeliveryConfig(transcript=Delivery(limit=3)))
)


async def main() -> None:
    """Read after the end: of the transcript only the last three deltas are kept."""
    async with agent.connect(backend="local", fast=True) as session:
        reader = session.events("late reader")
        await session.send_text("count to twenty")
        await session.until_quiet()
    kinds: Counter[str] = Counter()
    event: LiveEvent
    async for event in reader:
        kinds[event.type] += 1
        if event.type == "notice":
            print(event.payload.code, event.payload.text)
    print(kinds["transcript.delta"], reader.dropped["transcript"] > 10, kinds["turn.completed"])


run_virtual(main())

# Prints:
# bell Somebody is there
# 3 True 1
