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


YES = ("yes", "yes please", "yeah", "sure", "go ahead", "please do", "of course", "certainly")
NO = ("no", "no thanks", "nope", "not now")


class SpokenConsent(Rule):
    """A spoken answer counts only when the user gave it to the question.

    The entries `spoke` are the truth: what the user said, and when they began. A call runs after a yes only.
    """

    def __init__(self) -> None:
        self.asked: dict[str, dict[str, Any]] = {}
        self.yes: set[str] = set()
        """Calls that may run."""
        self.spoke: list[tuple[float, str]] = []
        self.said: dict[int, str] = {}
        """Words of the model since the question, by generation."""
        self.heard: dict[int, float] = {}
        """Time at which each generation was heard last."""
        self.begun: dict[int, float] = {}
        """Time at which each generation was heard first."""
        self.drained: dict[int, float] = {}
        self.spoilt: set[int] = set()
        self.answers = 0

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "spoke":
            self.spoke.append((data["t"], data["words"]))

    def event(self, event: dict[str, Any]) -> None:
        data, t, gen = event["data"], event["t"], event["gen"]
        match event["type"]:
            case "consent.asked":
                self.asked[data["id"]] = data
                self.said.clear()
            case "transcript.delta" if data["side"] == "model":
                self.said[gen] = self.said.get(gen, "") + data["text"]
            case "playback.heard":
                self.begun.setdefault(data["of"], t)
                self.heard[data["of"]] = t
                self.spoilt |= {data["of"]} if data["muted"] else set()
            case "playback.drained":
                self.drained.setdefault(data["of"], t)
            case "turn.interrupted":
                self.spoilt |= {one for one in self.begun if one < data["cut_below"] and one not in self.drained}
            case "consent.given":
                if data["by"] == "voice":
                    self._answered(data, t)
                if data["yes"]:
                    self.yes.add(data["call_id"])
            case "tool.finished" if data["status"] == "ok" and data["call_id"] in self._calls:
                self.check(data["call_id"] in self.yes, f"{data['call_id']} ran without a yes")

    @property
    def _calls(self) -> set[str]:
        return {asked["call_id"] for asked in self.asked.values()}

    def _answered(self, given: dict[str, Any], t: float) -> None:
        self.answers += 1
        asked = self.asked[given["id"]]
        self.check(asked["voice"], "an answer by voice to a question that was not asked aloud")
        self.check(not given["remembered"], "an answer by voice was remembered")
        question = _plain(asked["question"])
        asking = [gen for gen, text in self.said.items() if _plain(text).endswith(question)]
        asking = [gen for gen in asking if gen in self.drained and gen in self.begun and gen not in self.spoilt]
        self.check(bool(asking), f"the question was not heard, only {self.said}")
        words = _plain(given["said"])
        self.check(words in (YES if given["yes"] else NO), f"{given['said']} was taken for {given['yes']}")
        began = [at for at, text in self.spoke if _plain(text) == words]
        pairs = [(gen, at) for gen in asking for at in began if self.drained[gen] <= at]
        ends = {gen: self.drained[gen] for gen in asking}
        self.check(bool(pairs), f"{words} was begun at {began}, the question ended at {ends}")
        calm = [pair for pair in pairs if not self._is_between(*pair)]
        self.check(bool(calm), f"the model was heard again before {words}, which was begun at {began}")

    def _is_between(self, gen: int, until: float) -> bool:
        """Return True when the model was heard after a generation and before a time."""
        return any(other > gen and self.drained[gen] < at < until for other, at in self.begun.items())


def _plain(text: str) -> str:
    return " ".join("".join(sign for sign in text.lower() if sign.isalnum() or sign == " ").split())
