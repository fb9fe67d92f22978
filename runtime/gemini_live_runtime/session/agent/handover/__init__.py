"""Begin and end agents, and put one in place of another."""
