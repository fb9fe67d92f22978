"""The Live protocol on one connection: setup, content, turns, faults."""
