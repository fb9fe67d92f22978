"""Check every action, a file for each group of the action table."""
