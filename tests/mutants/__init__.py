"""Mutations of the session: each takes one part's call site away, and a session-level test has to notice."""
