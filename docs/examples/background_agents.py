"""Run text agents beside the conversation and find their results in the state."""

import asyncio

from gemini_live_runtime import BackgroundAgentDispatcher, Live, Phase, State, TextAgent, Transition, key, run_virtual


class Summary:
    """A long job, such as a request to a large model."""

    async def run(self, state: State) -> str:
        await asyncio.sleep(15)
        return f"{state.get('user:name', 'Somebody')} wants a refund."


summary: TextAgent = Summary()
agent = (
    Live.builder("refunds")
    .instruction("Help with refunds.")
    .background_agents(at_most=2)
    .state(values={"user:name": "Ada"})
    .phase(
        Phase("wait", "Keep the caller company.", transitions=Transition("done", key("bg:summary:result").is_set())),
        Phase("done", "Read out the summary.", terminal=True),
    )
)


async def main() -> None:
    """Let a background agent's result move the conversation on without speech."""
    async with agent.connect(backend="local", fast=True) as session:
        agents: BackgroundAgentDispatcher = session.agents
        agents.dispatch("summary", summary, session.state, timeout_s=60)
        print(session.phase, agents.is_running("summary"), agents.available_permits)
        await session.until_quiet()
        print(session.phase, session.state.get("bg:summary:result"))


run_virtual(main())

# Prints:
# wait True 1
# done Ada wants a refund.
