"""Queue context for the model, by what the model supports."""
