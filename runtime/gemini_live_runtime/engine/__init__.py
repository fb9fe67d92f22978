"""The engine process: life cycle, console server and links, registry."""
