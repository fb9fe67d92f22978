"""Tasks, notifications and memory in a session."""
