"""Listen to events of a session with callbacks, each isolated from the others."""

import asyncio

from gemini_live_runtime import Live, LiveHandle, run_virtual


def look_up(number: int) -> dict[str, int | str]:
    """Look up an order.

    Args:
        number: The order's number.
    """
    return {"number": number, "card": "4111 1111 1111 1111"}


def hide_card(responses, state):
    """Change the answer of a tool before the model gets it."""
    for response in responses:
        response.response.pop("card", None)
    return responses


async def connected(session: LiveHandle) -> None:
    print("connected", session.phase == "")


async def slow(turn: int) -> None:
    await asyncio.sleep(0.5)
    print("slow listener, turn", turn)


def broken(turn: int) -> None:
    raise RuntimeError("no disk")


agent = (
    Live.builder("orders")
    .instruction("Answer questions about orders.")
    .tools(look_up)
    .on("before_tool_response", hide_card)
    .on("connected", connected)
    .on("output_transcript", lambda text, is_final: print("model:", text) if is_final else None)
    .on("turn_complete", broken)
    .on("turn_complete", slow, concurrent=True)
)


async def main() -> None:
    """Make one listener fail: that is an event, and the call goes on."""
    async with agent.connect(backend="local", fast=True) as session:
        events = session.events()
        await session.send_text("look up 7")
        await session.until_quiet(1.0)
    print([f"{event.payload.where}: {event.payload.error}" async for event in events if event.type == "code.failed"])


run_virtual(main())

# Prints:
# connected True
# model: look up says: number 7.
# slow listener, turn 1
# ['on_turn_complete: RuntimeError: no disk']
