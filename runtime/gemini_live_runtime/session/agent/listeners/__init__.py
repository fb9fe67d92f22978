"""Call the listeners of callbacks, and deliver events to programs."""
