"""Step microphone and loudspeaker on a worker of their own."""
