"""A session's past: the view at any event, and the events between."""
