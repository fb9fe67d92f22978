"""The embedded Live server and its model parts: recogniser, dialogue, speech."""
