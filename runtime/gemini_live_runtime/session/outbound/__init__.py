"""Queue what the model is still to be told, and know what it can take."""
