"""Run the agent: turns, phases, tools, state and callbacks."""
