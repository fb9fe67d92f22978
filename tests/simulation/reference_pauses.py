"""Judge pauses: what is paused is silent, and goes on unless it was cut."""

from __future__ import annotations

from typing import Any

from tests.simulation.rules import Rule


class Pauses(Rule):
    """A speech that is paused is silent until it goes on, and what was cut never does.

    Each pause ends: by going on, by a cut, by the loss of the device, or with the session.
    """

    def __init__(self) -> None:
        self.paused = 0
        """Generation that is paused, 0 for none."""
        self.at = 0
        self.is_silent = False
        self.cut_below = 0
        self.ending = False

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind in ("paused", "unpaused"):
            self.check(not (self.ending and kind == "unpaused"), "what is paused goes on while everything is closed")
            self.is_silent = kind == "paused"
        elif kind == "played":
            self.check(not self.is_silent, f"generation {data['gen']} sounds in a pause")
        elif kind == "hung up":
            self.ending = True

    def event(self, event: dict[str, Any]) -> None:
        data, kind = event["data"], event["type"]
        if kind == "playback.paused":
            self.check(not self.paused, f"generation {data['of']} is paused twice")
            self.paused, self.at = data["of"], data["at"]
        elif kind == "playback.resumed":
            self.check(self.paused == data["of"], f"generation {data['of']} goes on and was not paused")
            self.check(self.at == data["at"], f"it was paused at {self.at} and goes on at {data['at']}")
            self.check(data["of"] >= self.cut_below, f"generation {data['of']} was cut and goes on")
            self.paused = 0
        elif kind == "turn.interrupted":
            self.cut_below = max(self.cut_below, data["cut_below"])
            if self.paused < self.cut_below:
                self.paused = 0
        elif kind == "session.ending":
            self.ending = True

    def end(self, facts: dict[str, Any]) -> None:
        self.check(not self.paused or self.ending, f"generation {self.paused} was left paused")
