"""Write a session's recording without blocking it, and read it back."""
