"""Show and change tasks, notifications and memory."""
