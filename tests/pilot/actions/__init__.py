"""What every action does, a file for each group of the table."""
