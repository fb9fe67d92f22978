"""Run tools: consent, execution, stand-ins of a test."""
