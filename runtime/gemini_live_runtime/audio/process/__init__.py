"""Run the devices in a process of their own, with shared rings."""
