"""Keep the model's instruction and context in step with the agent."""
