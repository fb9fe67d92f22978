"""Meter readings: no events, so without a sequence number.

The link may drop them; the console shows the last one.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter

from gemini_live_runtime.records import keyword_record


@keyword_record
class MeterSample:
    """Reading of every meter. Levels are dBFS from -60 to 0, None without a signal.

    The audio side fills the sound's fields; the engine adds `t`, `loop_lag_ms` and `events_per_s`.
    """

    t: float = 0.0
    """Seconds since the session's start."""
    mic_db: float | None = None
    mic_peak_db: float | None = None
    clean_db: float | None = None
    out_db: float | None = None
    clipped: bool = False
    speech: bool = False
    erle_db: float | None = None
    """Echo return loss enhancement while the model plays; None when nothing is playing."""
    echo_filter: str = ""
    """State of the canceller's linear filter: learning, proven or disturbed; "" without one."""
    buffer_ms: float = 0.0
    underruns: int = 0
    """Times playback ran dry within a turn, since the start."""
    jitter_ms: float = 0.0
    """Speech with which an answer begins to play, from the measured lateness of frames."""
    mic_dropped: int = 0
    """Chunks of 20 ms dropped since the start because the loop or the connection was too slow."""
    audio_priority: str = ""
    """Scheduling of the audio process: real-time, raised or normal; "" without one."""
    audio_restarts: int = 0
    """Times the audio process was replaced since the start."""
    far_missing: int = 0
    """Frames of 10 ms rendered to the echo canceller as silence, because the loudspeaker's callback was late."""
    far_dropped: int = 0
    """Played frames of 10 ms that the echo canceller did not get, because microphone samples were lost."""
    xruns: int = 0
    """Underflows of the speaker and overflows of the microphone, as the devices in use report them."""
    drift_ppm: float | None = None
    """Millionths by which the microphone's clock runs faster than the loudspeaker's; None before a minute."""
    heard_itself: int = 0
    """Voices in the microphone, since the start, whose level followed the loudspeaker's."""
    probe: str = ""
    """Voice over the model's: paused while the loudspeaker is silent to decide whose, then person; "" without one."""
    false_pauses: int = 0
    """Times the loudspeaker was paused for an echo, with the echo canceller in use."""
    answer: str = ""
    """State of what the model says: protected from the user's voice, or paused by it; "" otherwise."""
    loop_lag_ms: float = 0.0
    events_per_s: float = 0.0


UNSTEADY = ("t", "loop_lag_ms", "events_per_s")
"""Fields that always differ a little, also in a quiet session."""

_steady = attrgetter(*(one.name for one in fields(MeterSample) if one.name not in UNSTEADY))


def have_changed(now: MeterSample, before: MeterSample) -> bool:
    """Return True when meters differ in more than what is unsteady."""
    return bool(_steady(now) != _steady(before))
