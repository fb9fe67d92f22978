"""Play a dialogue script: replies, tool calls, what the client has told."""
