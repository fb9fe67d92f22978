"""Mutations of the session: each takes one part away, and a test has to notice."""
