"""Judge consent, which a user can give only after the price was presented."""

from __future__ import annotations

from typing import Any

from tests.simulation.reference_speech import Words
from tests.simulation.rules import Rule

AGREED = "app:agreed"
PRESENTED = "session:presented:price"


class Consent(Rule):
    """Consent counts when it was said in a turn after the newest presentation.

    Then it is not lost.
    """

    def __init__(self, words: Words) -> None:
        self.words = words
        self.last: int | None = None
        """The turn in which the price was presented, of several the newest."""
        self.heard = False
        self.agreed = False
        self._presentations = 0
        self._typed: dict[str, int] = {}
        """Presentations so far when each text was typed, by its command."""
        self._oldest: dict[int, int] = {}
        """The lowest of these figures among the texts of each turn."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "command" and data["order"] == "text.send":
            self._typed[data["id"]] = self._presentations

    def event(self, event: dict[str, Any]) -> None:
        data, turn = event["data"], event["turn"]
        if event["type"] == "phase.entered" and data["phase"] == "pay":
            self.last = turn
            self._presentations += 1
        elif event["type"] == "text.sent":
            typed = self._typed.get(data["command_id"], self._presentations)
            self._oldest[turn] = min(typed, self._oldest.get(turn, typed))
        elif event["type"] == "state.changed" and data["key"] == PRESENTED:
            self.last = max(turn, self.last or 0)
        elif event["type"] == "state.changed" and data["key"] == AGREED:
            self.check(self.last is not None, "consent without a price")
            said = self._said()
            self.check(any(number > (self.last or 0) for number in said), f"agreed in {said}, told in {self.last}")
            self.agreed = True
        elif event["type"] == "promotion.decided" and data["key"] == AGREED:
            self.check(not data["accepted"] or self.last is not None, "consent without a price was accepted")
        elif event["type"] == "extraction.finished" and data["extractor"] == "read_consent":
            self._read(data["of_turn"], data["value"])

    def _read(self, turn: int, value: dict[str, Any]) -> None:
        said = [number for number in self._said() if number <= turn]
        if value.get("agreed") and self.last is not None and said and said[-1] > self.last:
            # A turn that also has a text from before the presentation is not told apart from it: the user is asked.
            self.heard = self.heard or self._oldest.get(said[-1], self._presentations) >= self._presentations

    def _said(self) -> list[int]:
        """Return the turns in which the user agreed, in order."""
        return sorted(number for number, text in self.words.user.items() if "agreed" in text)

    def end(self, facts: dict[str, Any]) -> None:
        if facts["rest"]:
            self.check(self.agreed or not self.heard, "consent after the price was presented is lost")
