"""Connect a session to its socket, its devices and its host."""
