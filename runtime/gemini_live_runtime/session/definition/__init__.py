"""Define an agent, check it, and make the plan that a session runs."""
