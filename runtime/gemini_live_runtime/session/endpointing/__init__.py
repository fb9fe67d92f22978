"""Decide from edges of speech when the user takes the floor and gives it back."""
