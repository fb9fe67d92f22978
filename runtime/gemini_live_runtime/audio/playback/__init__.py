"""Play generations: buffer, jitter, concealment, what was heard."""
