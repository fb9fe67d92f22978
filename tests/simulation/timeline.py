"""Timeline of one simulated session, the only input of the reference model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Entry:
    """Entry of the timeline; `kind` says which of the fields below `data` are set."""

    at: int
    kind: str
    data: dict[str, Any]

    def __str__(self) -> str:
        if self.kind == "event":
            rest = {name: value for name, value in self.data["data"].items() if name not in ("explanation", "figures")}
            where = f"turn {self.data['turn']} gen {self.data['gen']} t {self.data['t']:.3f}"
            return f"{self.at:5}   event {self.data['type']} [{where}] {rest!s:.260}"
        arrow = ">>" if self.kind == "action" else "  "
        return f"{self.at:5} {arrow} {self.kind} {self.data!s:.300}"


@dataclass(slots=True)
class Timeline:
    """Entries in the order in which they happened.

    Kinds: `action` (name), `event` (an event as JSON), `sent` and `heard` (a frame by the server, and of the client as
    it arrived), `opened` and `closed` (connection), `command` (id, order, text), `queued` and `played` (samples of an
    audio frame), `captured` (a chunk of the microphone), `ran` (a tool), `leaving` (a phase's on_exit), `moved` (a
    programmatic transition), `hung up`, `reply` and `reply refused` (a speech that the program asks for), `forced` (a
    speech that it interrupts by force), `speech created` and `speech done` (as handles tell), `entered` and
    `left` (hooks of an agent), `paused` and `unpaused` (playback), `detector` (ours finds the user's turns).
    """

    entries: list[Entry] = field(default_factory=list)

    def note(self, kind: str, **data: Any) -> None:
        self.entries.append(Entry(len(self.entries), kind, data))

    def event(self, event: dict[str, Any]) -> None:
        self.entries.append(Entry(len(self.entries), "event", event))
