"""Find what a sentence asks for, and the values in it."""
