"""Bound every wait of a test for other processes, threads and terminals."""

PATIENCE_S = 120
"""Seconds after which what did not happen is a fault, on a machine as busy as can be."""
