"""Name the events that reactor rules and temporal patterns do not get."""

from __future__ import annotations

INSPECTION = frozenset(
    (
        "agent.described",
        "agent.held",
        "agent.holding",
        "agent.released",
        "breakpoints.changed",
        "edit.previewed",
        "guards.read",
        "mark.set",
        "patterns.read",
        "phase.previewed",
    )
)
"""Events of inspection: an agent must behave the same while it is looked at."""

NOT_FOR_RULES = INSPECTION | {
    "state.changed",
    "wire.message",
    "wire.audio",
    "meters",
    "playback.heard",
    "telemetry.reported",
    "log",
}
"""Events that rules do not get; changes of state reach them as `StateChanged`."""

NOT_FOR_PATTERNS = NOT_FOR_RULES | {"transcript.delta", "session.state"}
"""Events that temporal patterns are not shown."""
