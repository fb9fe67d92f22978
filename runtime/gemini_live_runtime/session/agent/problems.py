"""Find what a program hears of as an error: faults, losses, failed snapshots."""

from __future__ import annotations

from gemini_live_runtime import events as ev

LOSSES = frozenset(("protocol", "media", "snapshot", "value-not-kept", "journal-sync-failed"))
"""Codes of notices below level "error" that report a loss.

Frames that cannot be read, snapshots that were not saved, and what the disk did not take.
"""


class ProblemFinder:
    """Finder of the errors among one session's events."""

    KINDS = (ev.Notice, ev.OutboxChanged, ev.PartHealth, ev.SoundHealth)

    def __init__(self) -> None:
        self._dropped_s = 0.0

    def text_of(self, payload: ev.Payload) -> str:
        """Return the error that an event reports, as a sentence; "" for none."""
        if isinstance(payload, ev.Notice) and (payload.level == "error" or payload.code in LOSSES):
            return payload.text
        if isinstance(payload, ev.SoundHealth) and payload.kind == "lost" and not payload.well:
            return payload.text
        if isinstance(payload, ev.PartHealth):
            return payload.text
        if isinstance(payload, ev.OutboxChanged) and payload.kind == "audio":
            return self._loss_of(payload)
        return ""

    def _loss_of(self, audio: ev.OutboxChanged) -> str:
        # While more waits for a connection, more will be dropped: one outage is one error.
        new_s = audio.dropped - self._dropped_s
        if audio.queued or new_s <= 0:
            return ""
        self._dropped_s = audio.dropped
        return f"{new_s:.1f} s of the microphone's sound were not sent"
