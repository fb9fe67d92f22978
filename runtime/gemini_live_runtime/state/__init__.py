"""Keep an agent's state, and decide from it: guards, watchers, patterns."""
