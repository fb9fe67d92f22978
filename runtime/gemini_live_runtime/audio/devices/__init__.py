"""Find PortAudio's devices, choose among them, open their streams."""
