"""Judge that nothing of the user's is lost: each input ends once, and it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tests.simulation.rules import Rule

SHOWN = {
    ("text", "resent"): "Your message had no answer when the connection was lost, and was sent again",
    ("text", "prompted"): "Your message had no answer when the connection was lost. The model was asked to answer",
    ("text", "told"): "The model was told your message",
    ("text", "unknown"): "Your message may not have arrived",
    ("speech", "resent"): "Your words had no answer when the connection was lost",
    ("speech", "prompted"): "Your words had no answer when the connection was lost. The model was asked to answer",
    ("speech", "told"): "The model was told your words",
    ("speech", "unknown"): "Your words may not have arrived",
    ("reply", "continued"): "The model was asked to go on with its answer",
    ("answer", "unknown"): "A tool's result may not have arrived",
    ("answer", "told"): "A tool's result was given as text",
}
"""Words of the transcript by what a lost connection has left open, and its end."""


@dataclass
class Input:
    """Text or utterance of the user: its turn, and how it ended."""

    kind: str
    turn: int
    connection: int
    """Number of the connection whose server knows it for certain."""
    text: str = ""
    end: str = ""
    is_told: bool = False
    """True when the server knows it from the conversation so far."""
    is_under_way: bool = False
    """True for words that were sent again: they may not have arrived."""
    may_be_answered: bool = False


class Answered(Rule):
    """Each text, call and utterance ends once: answered, told, counted or refused.

    On the way it may be sent again or the model be prompted; the transcript shows which.
    """

    def __init__(self, arrived: Collection[tuple[int, str]]) -> None:
        """`arrived` has each text that arrived, with the number of its connection."""
        self.arrived = arrived
        self.line = 0
        self.texts: dict[str, Input] = {}
        self.words: dict[int, Input] = {}
        """Utterances with a transcript, by turn."""
        self.calls: set[str] = set()
        self.settled: Counter[tuple[str, str]] = Counter()
        self.connection = 0

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "opened":
            self.line = data["line"]

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "text.sent":
                self.texts[data["command_id"]] = Input("text", event["turn"], self.connection, data["text"])
            case "transcript.delta" if data["side"] == "user":
                self.words.setdefault(event["turn"], Input("speech", event["turn"], self.connection))
            case "tool.called":
                self.calls.add(data["call_id"])
            case "command.refused" if data["command"] == "text.send" and not data["command_id"]:
                self.check(False, "a text of no command was refused")
            case "command.refused" if data["command_id"] in self.texts:
                self._ends(self.texts[data["command_id"]], "refused")
            case "connection.ready":
                self.connection += 1
            case "send.settled":
                self._settled(data["kind"], data["outcome"], data["ref"])
            case "turn.completed":
                self._completed(event["turn"], data["outcome"])

    @property
    def inputs(self) -> list[Input]:
        """All texts and utterances."""
        return [*self.texts.values(), *self.words.values()]

    def _ends(self, one: Input, how: str) -> None:
        self.check(not one.end, f"the {one.kind} of turn {one.turn} ended as {how} after it was {one.end}")
        one.end = how

    def _settled(self, kind: str, outcome: str, ref: str) -> None:
        if kind == "context":
            # It is no input of the user's; what was to be told goes with the next connection.
            return
        self.settled[kind, outcome] += 1
        if kind == "reply":
            return
        if kind == "answer":
            self.check(ref in self.calls, f"{ref} was settled, and never called")
            return
        if kind == "text":
            found = [self.texts[ref]] if ref in self.texts else []
        else:
            # Utterances have no ids: the oldest that is not settled on this connection comes first.
            left = [one for one in self.words.values() if not one.end]
            found = sorted(left, key=lambda one: (one.connection == self.connection, one.turn))[:1]
        self.check(bool(found), f"{kind} {ref} was settled as {outcome}, and is not open")
        for one in found:
            self.check(not one.end, f"{kind} {ref} was {outcome} after it was {one.end}")
            is_new = outcome != "resent" or one.connection < self.connection
            self.check(is_new, f"{kind} {ref} was sent again to the server that had got it")
            one.connection, one.may_be_answered = self.connection, False
            one.is_under_way = kind == "speech" and outcome == "resent"
            one.is_told = one.is_told or outcome in ("told", "prompted")
            if outcome == "unknown":
                one.end = "unknown"

    def _completed(self, turn: int, outcome: str) -> None:
        for one in self.inputs:
            if one.end or one.turn > turn:
                continue
            is_known = one.kind == "speech" or one.is_told or (self.line, one.text) in self.arrived
            is_present = one.connection == self.connection and not one.is_under_way
            if outcome == "complete" and is_known and is_present:
                one.end = "answered"
            else:
                # The transcript shows a turn with an answer, cut short, or without one. Whether it was to this input
                # only the server knows: it may have spoken before it got it, or know it from an earlier connection.
                one.may_be_answered = True

    def end(self, facts: dict[str, Any]) -> None:
        shown = " ".join(facts["notices"])
        for kind, outcome in self.settled:
            if words := SHOWN.get((kind, outcome)):
                self.check(words in shown, f"the transcript does not show that a {kind} was {outcome}")
        rest = facts["rest"]
        if rest and rest["quiet"] and rest["wire"] == "open" and not rest["gave_up"]:
            left = [f"{one.kind} of turn {one.turn}" for one in self.inputs if not (one.end or one.may_be_answered)]
            self.check(not left, f"nothing became of {left}")


class AskedOnce(Rule):
    """A resumed session gets no text twice; it is asked, once, to answer it."""

    def __init__(self, arrived: Collection[tuple[int, str]]) -> None:
        """`arrived` has each text that arrived, with the number of its connection."""
        self.arrived = arrived
        self.texts: dict[str, str] = {}
        self.asked: Counter[str] = Counter()
        self.turns_with_calls: set[int] = set()
        self.is_resumed = self.is_due = False
        self.line = 0
        self.lines: set[int] = set()
        """Connections of the present server session."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "opened":
            self.line = data["line"]

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "text.sent":
                self.texts[data["command_id"]] = data["text"]
                # It follows what the model was told at once, and is answered with it.
                self.is_due = False
            case "tool.called":
                self.turns_with_calls.add(event["turn"])
            case "connection.ready":
                self.is_resumed = data["resumed"]
                self.lines = {self.line} | (self.lines if self.is_resumed else set())
            case "connection.closed":
                self.is_due = False
            case "prompt.changed" if data["state"] == "sent":
                self.is_due = False
            case "send.settled" if data["outcome"] == "resent" and data["ref"] in self.texts and self.is_resumed:
                text = self.texts[data["ref"]]
                known = {text for line, text in self.arrived if line in self.lines}
                self.check(text not in known, f"{text!r} may be doubled")
            case "send.settled" if data["outcome"] == "prompted" and event["turn"] not in self.turns_with_calls:
                self.check(self.is_resumed, f"{data['ref']} was asked for of a server that does not know it")
                self.asked[data["ref"]] += bool(data["ref"])
                self.check(self.asked[data["ref"]] <= 1, f"{data['ref']} was asked for twice")
                self.is_due = True

    def end(self, facts: dict[str, Any]) -> None:
        self.check(not self.is_due, "the model was not asked for the answer")
