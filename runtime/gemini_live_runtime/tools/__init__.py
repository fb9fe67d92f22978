"""Declare functions as tools and run the model's calls."""
