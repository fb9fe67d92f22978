"""What stands on the rows of panes and rooms: pure functions from a view to styled runs of text."""
