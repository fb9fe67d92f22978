"""Tools: declarations from functions, and dispatch."""
