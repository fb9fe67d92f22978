"""Calibration, sound checks, and playing for the console, in child processes."""
