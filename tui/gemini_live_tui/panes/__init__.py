"""Panes of the console, each with the rows that it paints."""
