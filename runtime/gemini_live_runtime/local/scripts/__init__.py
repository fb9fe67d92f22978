"""Dialogue scripts: their format, reading them, the sentences they understand."""
