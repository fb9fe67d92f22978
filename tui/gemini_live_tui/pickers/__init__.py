"""Screens that choose one item of a list."""
