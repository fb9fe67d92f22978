"""Take orders with tools among an agent's methods, and expect what follows a text."""

from typing import Literal

from gemini_live_runtime import Agent, AgentSession, RunContext, State, run_virtual, tool

PRICES = {"soup": 6, "fish": 14, "salad": 8}


class Ordering(Agent):
    """Take orders."""

    def __init__(self) -> None:
        super().__init__(
            instructions="Take orders for soup, fish and salad. Send the order when the guest says so.",
            phrases=("order dish soup", "send order"),
        )

    @tool
    def order_dish(self, dish: Literal["soup", "fish", "salad"], state: State) -> str:
        """Add a dish to the order."""
        dishes = state.modify("app:dishes", [], lambda dishes: [*dishes, dish])
        return f"One {dish}, that is {sum(PRICES[dish] for dish in dishes)} dollars so far."

    @tool
    async def send_order(self, context: RunContext) -> str:
        """Send the order to the kitchen."""
        count = len(context.userdata.get("app:dishes") or [])
        if not count:
            return "There is nothing to send."
        context.session.shutdown()
        return f"The order of {count} is on its way. Goodbye."


agent = Ordering()


async def main() -> None:
    async with AgentSession(backend="local", fast=True) as session:
        session.on("function_tools_executed", lambda event: print([call.name for call, _ in event.zipped()]))
        session.on("close", lambda event: print("closed:", event.reason.value))
        await session.start(agent)
        for text, called in (("order dish soup", "order_dish"), ("order dish fish", "order_dish")):
            result = await session.run(text)
            result.expect.next_event().is_function_call(name=called)
            result.expect.next_event().is_function_call_output(is_error=False)
            result.expect.next_event().is_message(role="assistant")
            result.expect.no_more_events()
            print(*result.messages)
        await session.handle.send_text("send order")
        await session.handle.done
        print(session.history.messages()[-1].text)


if __name__ == "__main__":
    run_virtual(main())

# Prints:
# ['order_dish']
# order dish says: One soup, that is 6 dollars so far.
# ['order_dish']
# order dish says: One fish, that is 20 dollars so far.
# ['send_order']
# closed: task_completed
# send order says: The order of 2 is on its way. Goodbye.
