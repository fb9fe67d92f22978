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
    """

    def __init__(self) -> None:
        self.captured: set[int] = set()
        self.arrived: set[int] = set()
        self.newest: dict[int, int] = {}
        """Newest chunk that arrived, by connection."""
        self.dropped_s = 0.0
        self.over = False
        """True after hanging up: what the microphone hears then is not the session's."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "hung up":
            self.over = True
        elif kind == "captured" and not self.over:
            self.captured.add(data["chunk"])
        elif kind == "heard" and "audio" in data["frame"].get("realtimeInput", {}):
            self._arrived(data["line"], base64.b64decode(data["frame"]["realtimeInput"]["audio"]["data"]))

    def _arrived(self, line: int, pcm: bytes) -> None:
        samples = array("H", pcm)
        self.check(len(samples) % CHUNK == 0, f"{len(samples)} samples are no whole chunks")
        for at in range(0, len(samples), CHUNK):
            chunk = samples[at]
            self.check(samples[at : at + CHUNK].count(chunk) == CHUNK, f"chunk {chunk} was torn")
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

    def end(self, facts: dict[str, Any]) -> None:
        lost = len(self.captured - self.arrived) * CHUNK
        counted = round(self.dropped_s * RATE)
        self.check(lost == counted, f"{lost} of {len(self.captured) * CHUNK} samples were not sent, {counted} counted")
