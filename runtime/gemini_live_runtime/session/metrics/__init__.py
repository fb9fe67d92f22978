"""Measure latency, tokens and rates."""
