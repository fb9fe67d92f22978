"""Generated rooms, voices and scenes to judge echo cancellers by."""
