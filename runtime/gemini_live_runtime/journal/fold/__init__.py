"""The fold: a sequence of events becomes a view."""
