"""Inspect and change a running agent: breakpoints, previews, edits, hot reload."""
