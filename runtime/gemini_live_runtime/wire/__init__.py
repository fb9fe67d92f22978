"""Speak the Live API: messages, codec, endpoints, credentials, connection."""
