"""Decide how a session keeps its link to the server: pure state, without I/O."""
