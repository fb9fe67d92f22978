"""Decide what follows from each message: pure functions of state, event and time."""
