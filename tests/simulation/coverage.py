"""Count which actions follow which over many sessions, and plan the rare ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.simulation.actions import ACTIONS

CLOSING = ("drop", "close_for_good", "refuse")
"""Actions after which no connection is open."""

IMPOSSIBLE: dict[tuple[str, str], str] = {
    (first, then): "the connection has just ended, and only connect makes an open one"
    for first in CLOSING
    for then, action in ACTIONS.items()
    if action.needs == ("open",)
}
"""Pairs that cannot be, with the reason."""

POSSIBLE: tuple[tuple[str, str], ...] = tuple(
    (first, then) for first in ACTIONS for then in ACTIONS if (first, then) not in IMPOSSIBLE
)

RARE: tuple[tuple[str, str], ...] = tuple(
    (first, then) for first, then in POSSIBLE if ACTIONS[then].needs == ("pending",) or first in CLOSING
)
"""Pairs around a connection that is yet to be accepted, which chance hardly makes."""


@dataclass(frozen=True, slots=True)
class Step:
    """An action with the seed of its own choices.

    `pause`: what is waited for afterwards: "" as the seed says, "none", or "pending", a connection that waits to be
    accepted. `directed` actions choose what lets the next one follow.
    """

    name: str
    seed: int
    pause: str = ""
    directed: bool = False


@dataclass(slots=True)
class Director:
    """Brings one pair of actions about in a session."""

    pair: tuple[str, str]
    after: int
    """Steps before it begins."""
    queue: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        first, then = self.pair
        waits = ACTIONS[then].needs == ("pending",) or (then == "drop" and first in CLOSING)
        # What can happen while a connection is pending leaves it so; the others have to wait for one.
        leaves = "none" in ACTIONS[first].needs
        pause = "pending" if waits and not leaves else "none"
        self.queue = [(first, pause), (then, "")]
        if first == "refuse":
            # Only a session that was connected once tries again.
            self.queue[:0] = [("connect", "none"), ("drop", "pending")]
        if self.pair == ("drop", "drop"):
            # A session that was never connected gives up with its first connection.
            self.queue[:0] = [("connect", "none")]
        if waits and first == "close_for_good":
            # An end that was announced is followed by another connection.
            self.queue[:0] = [("go_away", "none")]
        if not waits or first in CLOSING or leaves:
            return
        if first == "connect":
            # A new instruction that the setup does not carry has some models connect once more.
            self.queue[:0] = [("offer_handle", "none"), ("drop", "pending"), ("steer", "none")]
        else:
            # The session leaves this connection while the action is under way.
            self.queue[:0] = [("offer_handle", "none"), ("go_away", "none")]

    @property
    def reconnects(self) -> bool:
        """Return True when the plan needs a model that is instructed by reconnecting."""
        return self.pair[0] == "connect" and ACTIONS[self.pair[1]].needs == ("pending",)

    def next(self, wire: str, made: int, seed: int) -> Step | None:
        """Return the next step of the plan, or None to let chance choose."""
        if made < self.after or not self.queue:
            return None
        name, pause = self.queue[0]
        then = self.queue[1][0] if len(self.queue) == 2 else ""
        needs = set(ACTIONS[name].needs)
        if then and pause == "none" and name not in ("connect", *CLOSING):
            # What follows at once needs the wire as it is now.
            needs &= set(ACTIONS[then].needs)
        if wire in needs:
            self.queue.pop(0)
            return Step(name, seed, pause, directed=True)
        if len(self.queue) == 1:
            self.queue.clear()
            return None
        if wire == "pending" and "open" in needs:
            return Step("connect", seed, "none", directed=True)
        if wire == "open":
            return Step("drop", seed, "pending", directed=True)
        return Step("wait", seed, "pending", directed=True)


@dataclass(slots=True)
class Coverage:
    """Counts of actions, pairs of actions and events over many sessions."""

    sessions: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    """Sessions in which an event of a type occurred."""

    def add(self, names: Sequence[str], events: Iterable[str]) -> None:
        """Add a session's actions, in order, and the types of its events."""
        self.sessions += 1
        self.actions.update(names)
        self.pairs.update(pairwise(names))
        self.events.update(set(events))

    def merge(self, other: Coverage) -> None:
        """And another's."""
        self.sessions += other.sessions
        self.actions += other.actions
        self.pairs += other.pairs
        self.events += other.events

    @property
    def missing(self) -> list[tuple[str, str]]:
        """Possible pairs that never occurred."""
        return [pair for pair in POSSIBLE if not self.pairs[pair]]

    @property
    def surprising(self) -> list[tuple[str, str]]:
        """Pairs that occurred and were said to be impossible."""
        return [pair for pair in IMPOSSIBLE if self.pairs[pair]]

    def report(self) -> list[str]:
        """Return the lines of a report."""
        rarest = sorted((self.pairs[pair], pair) for pair in POSSIBLE)[:5]
        occurred = len(POSSIBLE) - len(self.missing)
        return [
            f"{self.sessions} simulated sessions, {self.actions.total()} actions of {len(ACTIONS)} kinds: "
            + ", ".join(f"{name} {count}" for name, count in self.actions.most_common()),
            f"{occurred} of {len(POSSIBLE)} possible pairs occurred ({len(IMPOSSIBLE)} are impossible); rarest: "
            + ", ".join(f"{first} then {then} {count}" for count, (first, then) in rarest),
            f"{len(self.events)} types of events; rarest: "
            + ", ".join(f"{name} in {count}" for name, count in self.events.most_common()[:-9:-1]),
        ]
