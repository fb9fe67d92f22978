"""Redact personal data and secrets in what was recorded."""
