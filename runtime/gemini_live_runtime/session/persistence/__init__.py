"""Save and restore sessions."""
