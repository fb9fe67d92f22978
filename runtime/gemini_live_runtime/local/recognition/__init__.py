"""Recognise speech: a grammar of phrases, then dictation."""
