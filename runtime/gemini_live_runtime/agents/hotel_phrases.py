"""List what one can say to the concierge."""

_TEXT = """
what is the weather in Lisbon; set a timer for ten minutes; book a table; take a note buy milk; what time is it
book a table for eight people at seven; which timers are running; how warm is it in Cairo; read my notes
my name is Ada and I am vegetarian; what do you know about me; forget what you know about me
order a taxi; do I need an umbrella in London; remind me to water the plants; set a tea timer for five minutes
cancel my booking; make a reservation please; delete the last note; tell me a story; count to twenty
tell me a joke; say that again; what can I say; who are you; how are you; please stop talking; never mind
thank you; good morning; goodbye
"""

PHRASES = tuple(phrase.strip() for line in _TEXT.strip().splitlines() for phrase in line.split(";"))
"""Phrases that the embedded server's script understands; Gemini understands more."""
