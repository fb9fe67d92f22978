"""Cancel echo, and tell the person from what is left of it."""
