"""Decide whether a run is complete, and name what is missing."""
