"""Recorded sessions: list, summarise, keep under a cap, delete, restore."""
