"""Protocols and messages between a session and what hosts it."""
