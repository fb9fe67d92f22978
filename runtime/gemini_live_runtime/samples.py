"""Samples: values for meters that have no sequence number and may be dropped, the last one wins."""

from __future__ import annotations

from gemini_live_runtime.records import keyword_record


@keyword_record
class MeterSample:
    """One reading of every meter. Levels are dBFS from -60 to 0, None where there is nothing to measure.

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
    buffer_ms: float = 0.0
    underruns: int = 0
    """Times playback ran dry within a turn, since the start."""
    mic_dropped: int = 0
    """Chunks of 20 ms that were dropped because the loop or the connection did not take them, since the start."""
    loop_lag_ms: float = 0.0
    events_per_s: float = 0.0
