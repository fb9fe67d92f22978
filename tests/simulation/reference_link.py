"""Judge the link: a server is left for its silence only where silence is a fault."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.simulation.rules import Rule

NO_ANSWER_S = 20.0
"""Seconds of silence after which a server is left (the session's documented patience)."""

NOTE = "Your last answer broke off"
"""Beginning of the context that asks for the rest of an answer."""

MOST_ASKS = 2
"""Times that the model is asked for the rest of an answer to the same input."""


class Silence(Rule):
    """A silent server is left after 20 s, once for each question, or in an answer.

    Never while the model waits for a call, or the agent is held. A call that awaits a task leaves the talk to it. Only
    for a call that the model waits for does the session say that it runs a tool.
    """

    def __init__(self) -> None:
        self.calls: set[str] = set()
        self.asking: set[str] = set()
        """Calls that await a task."""
        self.declared: frozenset[str] = frozenset()
        """Tools of the newest setup for whose calls the model does not wait."""
        self.beside: frozenset[str] = frozenset()
        """Those of the present connection: another agent may call a tool that only the one before it has."""
        self.held = False
        self.said_at = 0.0
        self.cut_below = 0
        """First generation that is not cut: what still comes of the others is no answer."""
        self.asks = False
        self.left = False
        self.asked_again: Counter[str] = Counter()

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "heard" and "setup" in data["frame"]:
            declared = [one for tool in data["frame"]["setup"].get("tools", ()) for one in tool["functionDeclarations"]]
            self.declared = frozenset(one["name"] for one in declared if one.get("behavior") == "NON_BLOCKING")

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "connection.ready":
                self.beside = self.declared
            case "tool.called" if data["name"] not in self.beside:
                (self.asking if data["name"] in ("ask", "deepen") else self.calls).add(data["call_id"])
            case "tool.finished":
                self.calls.discard(data["call_id"])
                self.asking.discard(data["call_id"])
                self.said_at = event["t"]
            case "session.state" if data["reason"] == "running a tool":
                self.check(bool(self.calls | self.asking), "the session says that it runs a tool and waits for none")
            case "agent.held" | "agent.released":
                self.held = event["type"] == "agent.held"
                self.said_at = event["t"]
            case "text.sent":
                self.asks, self.said_at = True, event["t"]
            case "transcript.delta":
                self.asks = self.asks or data["side"] == "user"
                if data["side"] == "model" and event["gen"] >= self.cut_below:
                    self.said_at = event["t"]
            case "turn.started" if data["by"] == "model":
                # What it says unasked may stop in the middle as well.
                self.asks = True
            case "turn.interrupted":
                self.cut_below = max(self.cut_below, data["cut_below"])
            case "link.restarting" if data["reason"] == "stalled":
                self._left_at(event["t"])
            case "link.restarting":
                self.left = False
            case "send.settled" if data["outcome"] == "resent" and data["ref"] and self.left:
                self.asked_again[data["ref"]] += 1
                self.check(self.asked_again[data["ref"]] == 1, f"{data['ref']} was asked again twice for silence")

    def _left_at(self, t: float) -> None:
        self.left = True
        self.check(not self.calls, f"a server was left while {self.calls} ran")
        self.check(not self.held, "a server was left while the agent was held")
        self.check(self.asks, "a server was left that was never asked anything")
        waited = t - self.said_at
        self.check(waited > NO_ANSWER_S - 0.01, f"a server was left {waited:.1f} s after the last word")


class Continued(Rule):
    """The model is asked for the rest of an answer that broke off, by one prompt.

    Twice at most, and never once the talk has gone on without it.
    """

    def __init__(self) -> None:
        self.broken = False
        self.asks = 0
        self.is_due = False

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "turn.completed":
                # A turn in which the model only thought leaves the rest to be said.
                self.broken = data["broke_off"] or (self.broken and data["outcome"] == "empty")
                is_cut_short = data["outcome"] == "interrupted" or not data["broke_off"]
                self.check(is_cut_short, "an answer that broke off is complete")
            case "turn.started":
                self.broken = self.broken and data["by"] == "model"
                self.asks = self.asks if data["by"] == "model" else 0
            case "turn.interrupted":
                self.broken = False
            case "send.settled" if data["kind"] == "reply":
                self.check(self.broken, "the model was asked for the rest of an answer that is over")
                self.asks += 1
                self.check(self.asks <= MOST_ASKS, f"the model was asked {self.asks} times for the rest of an answer")
                self.is_due = True
            case "prompt.changed" if data["state"] == "sent":
                self.is_due = False
            case "connection.closed":
                self.is_due = False
            case "context.sent" if self.is_due and not any(text.startswith(NOTE) for text in data["texts"]):
                self.check(False, "something else came between the answer's beginning and the prompt")

    def end(self, facts: dict[str, Any]) -> None:
        self.check(not self.is_due, "the model was not asked for the rest of its answer")
