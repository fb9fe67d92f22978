"""What is said and where the conversation stands: transcript, phases, steering, needs, extraction."""
