"""The engine process: door, life cycle, registry, command handling."""
