"""Sound: devices, echo cancelling, playback, voice detection, meters, WAV files."""
