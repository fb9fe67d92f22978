"""The session: a pure core that decides, and one executor that performs."""
