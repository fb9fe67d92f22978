"""Files of a recording: lines, tracks, large values, whole replacement."""
