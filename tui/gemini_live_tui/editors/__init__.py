"""Screens that change the agent, its breakpoints or an exported file."""
