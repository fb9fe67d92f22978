"""Synthesise speech by espeak-ng in another process."""
