"""Run the agent: turns, phases, tools, state and callbacks, one step after the other."""
