"""Judge the microphone's sound: each sample is sent, or counted as dropped."""

from __future__ import annotations

import base64
from array import array
from typing import Any

from tests.simulation.rules import Rule

CHUNK = 320
"""Samples of a chunk, which all have the chunk's number as their value."""

RATE = 16_000


class Audio(Rule):
    """Captured is sent and counted, to the sample.

    A connection gets it in order, and no sample twice. Another one may get again what the one before it was sent.
    During a protected speech it is silence.
    """

    def __init__(self) -> None:
        self.captured: set[int] = set()
        self.arrived: set[int] = set()
        self.newest: dict[int, int] = {}
        """Newest chunk that arrived, by connection."""
        self.dropped_s = 0.0
        self.silent = 0
        """Chunks that arrived as silence."""
        self.protected = ""
        """Speech of which the events say that it may not be interrupted."""
        self.may_be_protected = False
        """True once a speech may have been protected."""
        self.hidden: set[int] = set()
        """Chunks that were captured during a protected speech."""
        self.is_detected = False
        """True where our detector decides what is sent: only what it takes for speech, and that with its beginning."""
        self.over = False
        """True after hanging up: what the microphone hears then is not the session's."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "detector":
            self.is_detected = True
        elif kind == "hung up":
            self.over = True
        elif kind == "captured" and not self.over:
            self.captured.add(data["chunk"])
            if self.protected:
                self.hidden.add(data["chunk"])
        elif kind == "ran" and data["name"] == "protect":
            self.may_be_protected = True
        elif kind == "heard" and not self.is_detected and "audio" in data["frame"].get("realtimeInput", {}):
            self._arrived(data["line"], base64.b64decode(data["frame"]["realtimeInput"]["audio"]["data"]))

    def _arrived(self, line: int, pcm: bytes) -> None:
        samples = array("H", pcm)
        self.check(len(samples) % CHUNK == 0, f"{len(samples)} samples are no whole chunks")
        for at in range(0, len(samples), CHUNK):
            chunk = samples[at]
            self.check(samples[at : at + CHUNK].count(chunk) == CHUNK, f"chunk {chunk} was torn")
            if chunk == 0:
                self.check(self.may_be_protected, "silence was sent, and no speech is protected")
                self.silent += 1
                continue
            self.check(chunk not in self.hidden, f"chunk {chunk} was sent, which a protected speech hides")
            self.check(chunk in self.captured, f"chunk {chunk} was never captured")
            newest = self.newest.get(line, 0)
            self.check(chunk > newest, f"connection {line} got chunk {chunk} after {newest}")
            self.newest[line] = chunk
            self.arrived.add(chunk)

    def event(self, event: dict[str, Any]) -> None:
        if event["type"] == "outbox.changed" and event["data"]["kind"] == "audio":
            dropped_s = event["data"]["dropped"]
            self.check(dropped_s >= self.dropped_s, f"{dropped_s} s are counted, it was {self.dropped_s} s")
            self.dropped_s = dropped_s
        elif event["type"] == "session.ending":
            self.over = True
        elif event["type"] == "speech.changed":
            speech = event["data"]
            if speech["status"] == "speaking" and speech["protected"]:
                self.protected, self.may_be_protected = speech["id"], True
            elif speech["id"] == self.protected:
                self.protected = ""

    def end(self, facts: dict[str, Any]) -> None:
        if self.is_detected:
            return
        lost = len(self.captured - self.arrived) * CHUNK
        counted = round(self.dropped_s * RATE)
        # Silence has no number: a later connection may have got the same again.
        hidden = min(self.silent * CHUNK, lost)
        fits = lost - hidden <= counted <= lost
        self.check(fits, f"{lost} of {len(self.captured) * CHUNK} samples were not sent, {counted} counted")
