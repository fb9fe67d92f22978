"""Hand a conversation over to another agent and back, with the state kept."""

from typing import Any, Literal

from gemini_live_runtime import Agent, AgentHandoff, AgentSession, State, run_virtual, tool


class Reception(Agent):
    """Answer the phone of a hotel."""

    def __init__(self) -> None:
        super().__init__(
            instructions="Answer the phone of a hotel. Tables are booked by the restaurant.",
            phrases=("ask restaurant", "book table saturday", "what is booked"),
            hands_over_to=[Restaurant],
        )

    @tool
    def ask_restaurant(self) -> Any:
        """Hand over to the restaurant."""
        return Restaurant(), "The restaurant takes over."


class Restaurant(Agent):
    """Book tables."""

    def __init__(self) -> None:
        super().__init__(instructions="Book a table.", greeting="Ask for the day.")

    @tool
    def book_table(self, day: Literal["friday", "saturday", "sunday"], state: State) -> tuple[Agent, str]:
        """Book a table for a day, and hand back."""
        state.set("app:day", day)
        return Reception(), f"A table is booked for {day}."


agent = Reception()


async def main() -> None:
    async with AgentSession(backend="local", fast=True) as session:
        await session.start(agent)
        result = await session.run("ask restaurant")
        result.expect.contains_agent_handoff(new_agent_type=Restaurant)
        result = await session.run("book table saturday")
        result.expect.contains_agent_handoff(new_agent_type=Reception)
        print(session.userdata["app:day"], session.current_agent)
        for item in session.history:
            print(f"-- {item.agent} speaks" if isinstance(item, AgentHandoff) else getattr(item, "text", "(a tool)"))


if __name__ == "__main__":
    run_virtual(main())

# Prints:
# saturday <Reception 'reception'>
# -- reception speaks
# ask restaurant
# (a tool)
# (a tool)
# ask restaurant says: The restaurant takes over.
# -- restaurant speaks
# Hello, this is restaurant. I'm listening.
# book table saturday
# (a tool)
# (a tool)
# book table says: A table is booked for saturday.
# -- reception speaks
