"""Set up keys, Google Cloud, sound devices and agents, apart from the screens."""
