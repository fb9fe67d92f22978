"""Samples: values for meters that have no sequence number and may be dropped, the last one wins."""

from __future__ import annotations

from gemini_live_runtime.records import keyword_record


@keyword_record
class MeterSample:
    """One reading of every meter. Levels are dBFS from -60 to 0, None where there is nothing to measure."""

    t: float = 0.0
    mic_db: float | None = None
    mic_peak_db: float | None = None
    clean_db: float | None = None
    out_db: float | None = None
    clipped: bool = False
    speech: bool = False
    erle_db: float | None = None
    buffer_ms: float = 0.0
    underruns: int = 0
    mic_dropped: int = 0
    loop_lag_ms: float = 0.0
    events_per_s: float = 0.0
