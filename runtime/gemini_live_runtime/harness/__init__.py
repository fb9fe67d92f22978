"""Keep work that outlives a session, as files that other programs can read."""
