"""Judge hand-offs: nothing of an agent is heard after another one has taken over."""

from __future__ import annotations

from typing import Any

from tests.simulation.rules import Rule


class Agents(Rule):
    """Agents speak one at a time; what each was asked or began to say ends with it.

    `on_enter` runs for the agent that is in place, once each time that it begins; `on_exit` also for those that wait
    for tasks.
    """

    def __init__(self) -> None:
        self.current = ""
        self.begins = True
        """True until the `on_enter` of the agent that is in place has run."""
        self.waiting: list[str] = []
        """Agents that wait for a task; they leave when another agent takes over from it, and at the end."""
        self.before = ""
        self.newest = 0
        """Newest generation of which something came."""
        self.last_of_before = 0
        """Newest generation of the agents before."""
        self.speaker: dict[str, str] = {}
        """Agent that gives each speech."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind in ("queued", "played"):
            self._heard(data["gen"], "sounds")
        elif kind == "entered":
            self.check(data["agent"] == self.current, f"{data['agent']} enters, {self.current} speaks")
            self.check(self.begins, f"{data['agent']} enters twice")
            self.begins = False
        elif kind == "left":
            present = (self.current, *self.waiting)
            self.check(data["agent"] in present, f"{data['agent']} leaves, {present} are present")

    def _heard(self, gen: int, how: str) -> None:
        late = f"generation {gen} of {self.before} {how} after {self.current} has taken over"
        self.check(gen > self.last_of_before, late)
        self.newest = max(self.newest, gen)

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "session.started":
                self.current = data["agent"]
            case "transcript.delta" if data["side"] == "model" and data["channel"] != "thought":
                self._heard(event["gen"], "speaks")
            case "speech.changed" if data["status"] == "queued":
                self.speaker.pop(data["id"], None)
            case "speech.changed" if data["status"] in ("asked", "speaking"):
                speaker = self.speaker.setdefault(data["id"], self.current)
                self.check(speaker == self.current, f"{data['id']} is {speaker}'s, {self.current} speaks")
            case "agent.handed_off":
                self.check(data["previous"] == self.current, f"{data['previous']} hands over, {self.current} speaks")
                self.begins = True
                if data["by"] != "task":
                    self.waiting.clear()
                elif data["agent"] in self.waiting:
                    # It goes on, unless it waited before it had begun.
                    self.begins = False
                    del self.waiting[self.waiting.index(data["agent"]) :]
                else:
                    self.waiting.append(self.current)
                self.before, self.current = self.current, data["agent"]
                self.last_of_before = self.newest
