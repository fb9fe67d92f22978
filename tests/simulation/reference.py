"""Judge a session by a small model of it: timeline in, broken promises out.

The model knows the promises made to users (an answer to every call, one turn at a time, the played part is the kept
part) and the agent's table of phases. It knows nothing of the implementation: it reads a timeline of plain values,
imports nothing of the runtime, and raises `Broken` at the first entry that breaks a promise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tests.simulation.reference_agents import Agents
from tests.simulation.reference_answered import Answered, AskedOnce
from tests.simulation.reference_audio import Audio
from tests.simulation.reference_calls import Calls
from tests.simulation.reference_consent import Consent
from tests.simulation.reference_link import Continued, Silence
from tests.simulation.reference_pauses import Pauses
from tests.simulation.reference_speech import Sound, Turns, Words
from tests.simulation.reference_speeches import Speeches
from tests.simulation.rules import Broken, Rule
from tests.simulation.timeline import Timeline

State = Mapping[str, Any]


def _number(state: State, key: str) -> float:
    value = state.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")


def _enough(state: State) -> bool:
    return _number(state, "app:items") >= 2 and _number(state, "app:items") * 10 < 1000


WAYS: dict[str, list[tuple[str, Callable[[State], bool]]]] = {
    "greet": [
        ("help", lambda state: _number(state, "app:anger") > 0.7),
        ("order", lambda state: "user:name" in state and state["user:name"] is not None),
    ],
    "help": [("greet", lambda state: not _number(state, "app:anger") > 0.3)],
    "order": [("help", lambda state: _number(state, "app:anger") > 0.7), ("pay", _enough)],
    "pay": [
        ("done", lambda state: _number(state, "session:called_ok:pay") > 0),
        ("order", lambda state: state.get("app:reopen") is True),
    ],
    "done": [],
}
"""The agent's transitions, in their order."""

ENTRY_CONDITIONS: dict[str, Callable[[State], bool]] = {
    "order": lambda state: state.get("app:closed") is not True,
    "pay": lambda state: state.get("app:total") is not None,
}
"""Conditions, beside its guard, for a phase to be entered by a guard."""


def _opens(phase: str, state: State) -> bool:
    condition = ENTRY_CONDITIONS.get(phase)
    return condition is None or condition(state)


FIRST = "simulated"
"""Agent that has the phases."""

ON_PURPOSE = (
    "on purpose",
    "took longer than",
    "dropped the answer",
    "already",
    "ConnectionClosedError",
    "NotConnectedError",
)
"""Texts of the intended faults of the agent's code."""


class Numbers(Rule):
    """Events are numbered densely from 1, in order of time, from start to end event."""

    def __init__(self) -> None:
        self.seq = 0
        self.t = 0.0
        self.over = False

    def event(self, event: dict[str, Any]) -> None:
        self.seq += 1
        self.check(event["seq"] == self.seq, f"event {event['seq']} where {self.seq} was due")
        self.check(event["t"] >= self.t, f"time went back from {self.t} to {event['t']}")
        # A command that comes too late is owed its answer all the same.
        self.check(not self.over or event["type"] == "command.refused", "an event after the session's end")
        self.check((self.seq == 1) == (event["type"] == "session.started"), "a session begins with session.started")
        self.t, self.over = event["t"], self.over or event["type"] == "session.ended"

    def end(self, facts: dict[str, Any]) -> None:
        self.check(self.over, "the session ended without saying so")
        self.check(facts["view_seq"] == self.seq, "the view has not seen every event")


class Faults(Rule):
    """All faults are intended: the session has none of its own."""

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["type"] == "code.failed":
            self.check(
                not data["where"].startswith("step") and any(word in data["error"] for word in ON_PURPOSE),
                f"a fault nobody made: {data['where']}: {data['error']}",
            )
        elif event["type"] == "state.changed":
            self.check(data["key"] != "app:written_by_instruction", "an instruction wrote state")
        elif event["type"] == "notice":
            codes = ("internal", "watchers", "event-lost", "meters-failed")
            self.check(data["code"] not in codes, f"the session failed: {data['text']}")


class Edits(Rule):
    """An operator's edit is applied once or refused as a whole, and can be undone.

    Its events report the values that were written.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.open: dict[str, str] = {}
        self.undo = self.redo = 0

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "command" and data["order"] in ("state.edit", "state.undo", "state.redo"):
            self.open[data["id"]] = data["order"]

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["type"] == "command.refused":
            self.open.pop(data["command_id"], None)
        elif event["type"] == "edit.applied":
            order = self.open.pop(data["command_id"], "")
            self.check(order == f"state.{data['how']}", f"{data['command_id']} was {order}, told as {data['how']}")
            for value in data["values"]:
                now = self.memory.values.get(value["key"])
                self.check(now == value["new"], f"{value['key']} is {now!r}, told as {value['new']!r}")
            made = bool(data["values"])
            steps = {"edit": (made, -self.redo if made else 0), "undo": (-1, 1), "redo": (1, -1)}[data["how"]]
            self.undo, self.redo = self.undo + steps[0], self.redo + steps[1]
            self.check((data["undo"], data["redo"]) == (self.undo, self.redo), f"{data} after {self.undo}, {self.redo}")

    def end(self, facts: dict[str, Any]) -> None:
        self.check(not self.open, f"nothing came of {self.open}")


class Memory(Rule):
    """State changes of a key form a dense chain that ends in the final state."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.mutation = 0

    def event(self, event: dict[str, Any]) -> None:
        if event["type"] != "state.changed":
            return
        data = event["data"]
        key = data["key"]
        self.mutation += 1
        self.check(data["mutation"] == self.mutation, f"mutation {data['mutation']} where {self.mutation} was due")
        self.check(data["added"] == (key not in self.values), f"{key} was there before, or was not")
        self.check(data["added"] or data["old"] == self.values[key], f"{key} was {self.values.get(key)!r}")
        if data["removed"]:
            del self.values[key]
        else:
            self.values[key] = data["new"]

    def end(self, facts: dict[str, Any]) -> None:
        told, real = self.values, facts["state"]
        differing = {key for key in {*told, *real} - facts["late"] if told.get(key) != real.get(key)}
        self.check(not differing, f"the state is not what was told: {sorted(differing)}")
        self.check("app:too late" not in told, "what was written after the end was told")


class Phases(Rule):
    """Phases change along transitions whose condition holds, or by command.

    One phase is current at a time.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.current = ""
        self.leaving: dict[str, Any] | None = None
        self.agent = FIRST
        """Agent in place."""
        self.paused = ""
        """Phase in which the first agent waits for a task."""
        self.goes_on = False
        """True when the newest request for a hand-off is that the first agent goes on after its task."""
        self.asked: list[str] = []
        self.ordered: dict[str, str] = {}
        self.told = ""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "moved":
            self.asked.append(data["phase"])
        elif kind == "command" and data["order"] == "phase.go":
            self.ordered[data["id"]] = data["text"]
        elif kind == "leaving":
            # Its on_exit takes time, in which anything may be written: the decision fell here.
            self.leaving = dict(self.memory.values)

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["type"] == "phase.entered":
            self._entered(data)
        elif event["type"] == "agent.handoff_requested" and not data["problem"]:
            self.goes_on = data["by"] == "task" and data["agent"] == FIRST
        elif event["type"] == "agent.described" and data["agent"] != self.agent:
            if self.agent == FIRST:
                self.paused = self.current
            self.agent = data["agent"]
            self.current = self.paused if self.agent == FIRST and self.goes_on else ""
        elif event["type"] == "state.changed" and data["key"] == "session:phase":
            # The parts of another agent are put in place before it is told.
            due = self.paused if self.agent != FIRST and self.goes_on else self.current
            self.check(data["removed"] or data["new"] == due, f"session:phase is {data['new']} in phase {due}")
            self.told = "" if data["removed"] else data["new"]
        elif event["type"] == "command.refused":
            self.ordered.pop(data["command_id"], None)
        elif event["type"] == "phase.blocked":
            self.check(data["phase"] == self.current, f"{data['phase']} is blocked, the phase is {self.current}")

    @property
    def place(self) -> str:
        """Phase, or the agent without phases that is in place."""
        return self.current if self.agent == FIRST else f"@{self.agent}"

    def _entered(self, data: dict[str, Any]) -> None:
        state = self.memory.values if self.leaving is None else self.leaving
        self.leaving = None
        phase, before = data["phase"], self.current
        if data["trigger"] == "restored":
            self.check(phase == before, f"it goes on in {phase} after its task, it was in {before}")
            return
        self.check(data["previous"] == before, f"{phase} followed {data['previous']}, the phase was {before}")
        self.check(phase != before, f"{phase} was entered twice")
        if data["trigger"] == "guard":
            for target, condition in WAYS[before]:
                if condition(state) and _opens(target, state):
                    self.check(target == phase, f"{before} was left for {phase}, {target} comes first")
                    break
            else:
                self.check(False, f"{before} was left for {phase} without a condition that holds")
            self.check(data["explanation"] is not None, "a guard without its explanation")
        elif data["trigger"] == "programmatic":
            self.check(phase in self.asked, f"nobody asked for {phase}")
            self.asked.remove(phase)
            self.check(before != "done", "a terminal phase was left")
        elif data["trigger"] == "operator":
            found = next((ident for ident, wanted in self.ordered.items() if wanted == phase), None)
            self.check(found is not None, f"the operator did not ask for {phase}")
            del self.ordered[found or ""]
        else:
            self.check(data["trigger"] == "initial" and (before, phase) == ("", "greet"), f"{phase} by {data}")
        self.current = phase

    def end(self, facts: dict[str, Any]) -> None:
        self.check(facts["phase"] in (self.current, "greet"), f"the machine is in {facts['phase']}")
        state = facts["state"]
        self.check(state.get("session:phase", "") == self.told, "session:phase was not told")
        # The end of a session may come between entering and publishing.
        if facts["rest"]:
            self.check(self.told == self.current, f"session:phase is {self.told} in phase {self.current}")
        if self.current and facts["rest"] and facts["rest"]["wire"] == "open" and not facts["rest"]["gave_up"]:
            due = [
                target
                for target, condition in WAYS[self.current]
                if condition(self.memory.values) and _opens(target, self.memory.values)
            ]
            self.check(not due, f"{self.current} was never left for {due}")


class GuardStatus(Rule):
    """Guard status events are true, and the last one still holds at the end."""

    def __init__(self, memory: Memory, phases: Phases) -> None:
        self.memory = memory
        self.phases = phases
        self.told: dict[str, Any] | None = None

    def event(self, event: dict[str, Any]) -> None:
        if event["type"] == "agent.described":
            self.told = None
            if event["data"]["agent"] != FIRST:
                return
            ways = {phase["name"]: [way["to"] for way in phase["ways"]] for phase in event["data"]["phases"]}
            self.check(ways == {name: [to for to, _ in way] for name, way in WAYS.items()}, f"it has {ways}")
        elif event["type"] == "guards.read":
            data = event["data"]
            self.check(data != self.told, "the same was told twice")
            self.told = data
            phase = self.phases.current
            self.check(data["phase"] == phase, f"the ways of {data['phase']} were told in {phase}")
            self._agree(data)

    def _agree(self, data: dict[str, Any]) -> None:
        told = [(way["to"], way["outcome"]) for way in data["ways"]]
        real = [(target, self._outcome(target, condition)) for target, condition in WAYS[data["phase"]]]
        self.check(told == real, f"told {told}, it is {real}")
        for way in data["ways"]:
            for read in _reads(way["guard"]):
                value = self.memory.values.get(read["key"])
                self.check(read["value"] == value, f"told {read['key']} is {read['value']!r}, it is {value!r}")

    def _outcome(self, target: str, condition: Callable[[State], bool]) -> str:
        state = self.memory.values
        # The way to pay reads a computed value, which follows its inputs when the state settles.
        holds = state.get("derived:enough") is True if target == "pay" else condition(state)
        if not holds:
            return "guard is false"
        if _opens(target, state):
            return "ready"
        return "blocked" if target == "pay" else "target's guard is false"

    def end(self, facts: dict[str, Any]) -> None:
        if facts["rest"] and not facts["rest"]["gave_up"] and self.phases.current:
            self.check(self.told is not None, "the ways out were never told")
            assert self.told is not None
            self.check(self.told["phase"] == self.phases.current, f"the ways of {self.phases.current} were not told")
            self._agree(self.told)


def _reads(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [*tree.get("reads", ()), *(read for child in tree.get("children", ()) for read in _reads(child))]


class Texts(Rule):
    """A typed text is sent, or refused with a reason; never both, never neither.

    It is sent once on a connection, and again only on another one, where nothing has answered it.
    """

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.typed: dict[str, str] = {}
        self.turn_of: dict[str, int] = {}
        self.answered: set[str] = set()
        self.line = 0
        self.resent: Counter[str] = Counter()
        self.unknown: set[str] = set()
        self.lines: set[tuple[int, str]] = set()
        self.sent: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.arrived: Counter[str] = Counter()

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if (kind == "command" and data["order"] == "text.send") or (kind == "reply" and data["text"]):
            self.typed[data["id"]] = data["text"]
        elif kind == "reply refused":
            self.typed.pop(data["id"], None)
        elif kind == "opened":
            self.line = data["line"]
        elif kind == "heard":
            frame = data["frame"]
            typed = frame.get("realtimeInput", {}).get("text")
            if typed is not None and typed.startswith("[Context] "):
                # Context that does not travel by itself goes in front of the text, a paragraph of its own.
                typed = typed.rpartition("\n\n")[2]
            said = [typed]
            for turn in frame.get("clientContent", {}).get("turns", ()):
                said += [part.get("text") for part in turn["parts"]]
            for text in said:
                if text is not None and text in self.typed.values():
                    self.check((data["line"], text) not in self.lines, f"{text!r} arrived twice")
                    self.lines.add((data["line"], text))
                    self.arrived[text] += 1

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["type"] == "text.sent":
            self.check(self.typed.get(data["command_id"]) == data["text"], f"{data} was never typed")
            self.sent[data["command_id"]] += 1
            self.turn_of[data["command_id"]] = event["turn"]
        elif event["type"] == "transcript.delta" and data["side"] == "model" and data["channel"] != "thought":
            # What the server says before it has got the text is no answer to it.
            arrived = (ident for ident, turn in self.turn_of.items() if turn == event["turn"])
            if event["turn"] in self.turns.overtaking:
                # It may be what the server was about to say before it got the text.
                return
            self.answered.update(ident for ident in arrived if (self.line, self.typed[ident]) in self.lines)
        elif event["type"] == "send.settled" and data["outcome"] != "resent":
            self.unknown.add(data["ref"])
        elif event["type"] == "send.settled" and data["outcome"] == "resent" and data["ref"]:
            self.check(data["ref"] not in self.answered, f"{data['ref']} was sent again after its answer")
            self.resent[data["ref"]] += 1
        elif event["type"] == "command.refused":
            self.refused[data["command_id"]] += 1
        elif event["type"] == "speech.changed" and data["status"] == "dropped":
            # What a program said for the user in a reply that was dropped before it was asked for.
            self.refused.update({data["id"]} & self.typed.keys() - self.sent.keys() - self.refused.keys())

    def end(self, facts: dict[str, Any]) -> None:
        for ident, text in self.typed.items():
            arrived, sent, refused = self.arrived[text] if text.strip() else 0, self.sent[ident], self.refused[ident]
            self.check(sent <= 1 and refused <= 1, f"{text!r} was sent {sent} times, refused {refused} times")
            resent = self.resent[ident]
            self.check(arrived <= 1 + resent, f"{text!r} arrived {arrived} times, and was sent again {resent} times")
            self.check(arrived == 0 or sent == 1, f"{text!r} arrived and nobody knows")
            told = refused + (ident in self.unknown)
            self.check(arrived + told >= 1, f"{text!r}: arrived {arrived}, sent {sent}, refused {refused}")
            self.check(not (arrived and refused) or resent, f"{text!r} arrived and was refused")


class Paused(Rule):
    """A paused agent decides nothing; pause and continue alternate.

    A step that has begun before the pause is finished: at most one phase is entered.
    """

    def __init__(self) -> None:
        self.held = False
        self.entered = 0
        self.hits: dict[str, int] = {}

    def event(self, event: dict[str, Any]) -> None:
        kind, data = event["type"], event["data"]
        if kind == "agent.held":
            self.check(not self.held, "it is held twice")
            self.held, self.entered = True, 0
        elif kind in ("agent.released", "agent.holding"):
            self.check(self.held, f"{kind} of an agent that is not held")
            self.held = self.held and kind == "agent.holding"
        elif kind == "breakpoints.changed":
            for item in data["breakpoints"]:
                self.check(item["hits"] >= self.hits.get(item["id"], 0), f"{item['id']} has lost hits")
            self.hits = {item["id"]: item["hits"] for item in data["breakpoints"]}
        elif self.held:
            self.check(kind not in ("tool.finished", "tool.acknowledged", "pattern.fired"), f"{kind} while it is held")
            self.check(kind != "watcher.fired" or data["muted"], "a watcher acts while it is held")
            self.entered += kind == "phase.entered"
            self.check(self.entered <= 1, "it moves on and on while it is held")

    def end(self, facts: dict[str, Any]) -> None:
        self.check(not self.held, "it was never released")


class Rest(Rule):
    """A session whose server and device have done their part rests, and is complete."""

    def __init__(self) -> None:
        self.gave_up = False
        """True once something was given up that may not have arrived."""

    def event(self, event: dict[str, Any]) -> None:
        self.gave_up |= event["type"] == "send.settled" and event["data"]["outcome"] == "unknown"

    def end(self, facts: dict[str, Any]) -> None:
        rest = facts["rest"]
        if rest and not rest["gave_up"]:
            self.check(rest["quiet"], f"it does not come to rest: {rest['why']}")
            may_miss = self.gave_up or rest["tasks"]  # the end cuts off the calls that wait for tasks
            self.check(may_miss or not facts["missing"], f"at rest, and still missing: {facts['missing']}")
        self.check(facts["drained"], "nothing more is owed, and the session that was drained goes on")
        self.check(facts["code"] == 0, f"the exit code is {facts['code']}")


class Reference:
    """All promises at once."""

    def __init__(self, *, soft_turns: bool) -> None:
        memory = Memory()
        phases = Phases(memory)
        turns = Turns(soft_turns=soft_turns)
        words = Words(turns)
        texts = Texts(turns)
        # The calls look at the phase before and after it moves; the memory is read by the phases.
        self.rules: list[Rule] = [
            Numbers(),
            Faults(),
            memory,
            Agents(),
            Edits(memory),
            phases,
            Calls(phases),
            GuardStatus(memory, phases),
            texts,
            Answered(texts.lines),
            AskedOnce(texts.lines),
            turns,
            words,
            Consent(words),
            Sound(),
            Speeches(),
            Audio(),
            Pauses(),
            Paused(),
            Silence(),
            Continued(),
            Rest(),
        ]

    def judge(self, timeline: Timeline, facts: dict[str, Any]) -> None:
        """Raises `Broken` naming the entry."""
        of_events = [rule for rule in self.rules if type(rule).event is not Rule.event]
        of_others = [rule for rule in self.rules if type(rule).entry is not Rule.entry]
        for entry in timeline.entries:
            is_event = entry.kind == "event"
            for rule in of_events if is_event else of_others:
                try:
                    if is_event:
                        rule.event(entry.data)
                    else:
                        rule.entry(entry.kind, entry.data)
                except Broken as broken:
                    raise Broken(f"{type(rule).__name__}, entry {entry.at}: {broken}") from None
        for rule in self.rules:
            try:
                rule.end(facts)
            except Broken as broken:
                raise Broken(f"{type(rule).__name__}, at the end: {broken}") from None
