"""Sound: devices, rings, worker, echo cancelling, voice activity, resampling, playback clock, WAV devices, meters."""
