"""Hold the transcript, and decide phases, steering, needs and extraction."""
