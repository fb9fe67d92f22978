"""Reactor rules: what to do when something happens in the conversation."""
