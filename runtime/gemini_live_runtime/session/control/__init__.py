"""Carry out the operator's commands: edits, previews, breakpoints, hot reload."""
