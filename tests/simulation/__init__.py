"""Whole sessions in virtual time, judged by a model that knows nothing of how they work."""
