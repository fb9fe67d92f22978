"""Await a survey inside a tool: a task is an agent with a result."""

from typing import Literal

from gemini_live_runtime import Agent, AgentSession, InlineTask, RunContext, run_virtual, tool


class Survey(InlineTask[str]):
    """Ask how it was."""

    def __init__(self) -> None:
        super().__init__(instructions="Ask how the stay was.", greeting="Ask how the stay was.")

    @tool
    def give_answer(self, answer: Literal["good", "bad"]) -> str:
        """Note the answer of the guest."""
        self.complete(answer)
        return "Thank you."


class Checkout(Agent):
    """Check guests out."""

    def __init__(self) -> None:
        super().__init__(
            instructions="Check the guest out.",
            phrases=("check out", "give answer good"),
            hands_over_to=[Survey],
        )

    @tool
    async def check_out(self, context: RunContext) -> str:
        """Check the guest out, after a survey."""
        answer = await Survey()
        context.userdata.set("app:answer", answer)
        return f"The stay was {answer}, and the guest is checked out."


agent = Checkout()


async def main() -> None:
    async with AgentSession(backend="local", fast=True) as session:
        await session.start(agent)
        result = await session.run("check out")
        result.expect.next_event().is_function_call(name="check_out")
        result.expect.next_event().is_agent_handoff(new_agent_type=Survey)
        result = await session.run("give answer good")
        result.expect.contains_agent_handoff(new_agent_type=Checkout)
        print(session.userdata["app:answer"], *result.messages, sep="\n")


if __name__ == "__main__":
    run_virtual(main())

# Prints:
# good
# give answer says: Thank you.
# Hello, this is checkout. I'm listening.
