"""Judge speeches: one at a time, each with one end, as its handle tells."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.simulation.rules import Rule

NEXT: dict[str, set[str]] = {
    "": {"queued", "asked", "speaking"},
    "queued": {"queued", "asked", "speaking", "dropped"},
    "asked": {"queued", "asked", "speaking", "done", "dropped"},
    "speaking": {"speaking", "done", "interrupted"},
}
"""Statuses that may follow each status; the others end a speech."""

OVER = ("done", "interrupted", "dropped")
"""Statuses that end a speech."""


class Speeches(Rule):
    """At most one speech goes on; what is played follows the order of the speeches.

    Each speech ends once, and so does its handle.
    """

    def __init__(self) -> None:
        self.status: dict[str, str] = {}
        self.of_gen: dict[int, str] = {}
        """Speech of each generation that was heard to begin."""
        self.order: list[str] = []
        """Speeches in the order in which they began."""
        self.newest = -1
        """Place in `order` of the newest speech that was played."""
        self.created: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.cut_protected = ""
        """Speech that may not be interrupted, and just was."""
        self.forced: set[str] = set()
        """Speeches that the program has interrupted by force."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "forced":
            self.forced.add(data["id"])
        if kind == "speech created":
            self.created[data["id"]] += 1
            self.check(self.created[data["id"]] == 1, f"{data['id']} has two handles")
        elif kind == "speech done":
            ident = data["id"]
            self.ended[ident] += 1
            self.check(self.ended[ident] == 1, f"the handle of {ident} is done twice")
            self.check(self.status.get(ident) in OVER, f"the handle of {ident} is done, and it is not over")
        elif kind == "played" and data["gen"] in self.of_gen:
            place = self.order.index(self.of_gen[data["gen"]])
            self.check(place >= self.newest, f"{self.order[place]} is played after {self.order[self.newest]}")
            self.newest = place

    def event(self, event: dict[str, Any]) -> None:
        if event["type"] == "turn.interrupted":
            may_cut = event["data"]["by"] not in ("voice", "operator") or self.cut_protected in self.forced
            self.check(may_cut or not self.cut_protected, f"{self.cut_protected} may not be interrupted")
            self.cut_protected = ""
        if event["type"] != "speech.changed":
            return
        ident, status = event["data"]["id"], event["data"]["status"]
        before = self.status.get(ident, "")
        self.check(status in NEXT.get(before, ()), f"{ident} was {before} and is {status}")
        self.status[ident] = status
        self.cut_protected = ident if event["data"]["protected"] and status == "interrupted" else ""
        going_on = [other for other, now in self.status.items() if now in ("asked", "speaking")]
        self.check(len(going_on) <= 1, f"{going_on} go on at once")
        if status == "speaking":
            self.of_gen[event["gen"]] = ident
            if ident not in self.order:
                self.order.append(ident)

    def end(self, facts: dict[str, Any]) -> None:
        left = {ident: status for ident, status in self.status.items() if status not in OVER}
        self.check(not left, f"{left} never ended")
        handles = [set(self.created), set(self.ended)]
        self.check(handles == [set(self.status)] * 2, f"of {sorted(self.status)} there are handles {handles}")
        if facts["rest"] and facts["rest"]["quiet"]:
            self.check(not facts["rest"]["speech"], f"at rest, and {facts['rest']['speech']} goes on")
