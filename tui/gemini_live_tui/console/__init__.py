"""The main screen with its controllers and its own widgets."""
