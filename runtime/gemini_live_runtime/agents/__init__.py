"""Bundled agents."""
