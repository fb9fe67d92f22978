"""A small model of a session: from what happened to it, what must be true of what it did.

It knows the promises made to people (an answer to every call, one turn at a time, what was heard is what is kept) and
the agent's table of phases, and nothing of how a session works: it reads a timeline of plain values, imports nothing of
the runtime, and raises `Broken` at the first entry that breaks a promise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from tests.simulation.reference_speech import Sound, Turns, Words
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

DOORS: dict[str, Callable[[State], bool]] = {
    "order": lambda state: state.get("app:closed") is not True,
    "pay": lambda state: state.get("app:total") is not None,
}
"""What must hold besides for a phase to be entered by a guard."""

TOOLS: dict[str, tuple[str, ...] | None] = {
    "greet": None,
    "help": ("note", "search", "ticket", "log", "broken", "never", "stubborn"),
    "order": None,
    "pay": ("pay", "add", "ticket", "log", "never"),
    "done": ("log",),
}

ENDS: dict[str, set[str]] = {
    "note": {"ok"},
    "add": {"ok"},
    "search": {"ok"},
    "broken": {"error"},
    "never": {"timeout"},
    "stubborn": {"ok"},
    "ticket": {"ok"},
    "log": {"ok"},
    "pay": {"ok", "error"},
    "none": {"refused"},
}
"""How the tools end when nothing comes between."""

ON_PURPOSE = ("on purpose", "took longer than", "dropped the answer", "already", "ConnectionClosedError")
"""What the faults of the agent's own code say."""


class Numbers(Rule):
    """Events are numbered densely from 1, time never goes back, and a session begins and ends with its own events."""

    def __init__(self) -> None:
        self.seq = 0
        self.t = 0.0
        self.over = False

    def event(self, event: dict[str, Any]) -> None:
        self.seq += 1
        self.check(event["seq"] == self.seq, f"event {event['seq']} where {self.seq} was due")
        self.check(event["t"] >= self.t, f"time went back from {self.t} to {event['t']}")
        self.check(not self.over, "an event after the session's end")
        self.check((self.seq == 1) == (event["type"] == "session.started"), "a session begins with session.started")
        self.t, self.over = event["t"], event["type"] == "session.ended"

    def end(self, facts: dict[str, Any]) -> None:
        self.check(self.over, "the session ended without saying so")
        self.check(facts["view_seq"] == self.seq, "the view has not seen every event")


class Faults(Rule):
    """Whatever fails, fails on purpose: no fault of the session's own."""

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["type"] == "code.failed":
            self.check(
                not data["where"].startswith("step") and any(word in data["error"] for word in ON_PURPOSE),
                f"a fault nobody made: {data['where']}: {data['error']}",
            )
        elif event["type"] == "notice":
            codes = ("internal", "watchers", "event-lost", "meters-failed")
            self.check(data["code"] not in codes, f"the session failed: {data['text']}")


class Memory(Rule):
    """Changes of the state form one chain for each key, densely numbered, that ends in the state as it is."""

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
        differing = {key for key in {*told, *real} if told.get(key) != real.get(key)}
        self.check(not differing, f"the state is not what was told: {sorted(differing)}")


class Phases(Rule):
    """One phase at a time, left only along a declared transition whose condition holds, or because somebody said so."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.current = ""
        self.leaving: dict[str, Any] | None = None
        self.asked: list[str] = []
        self.told = ""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "moved":
            self.asked.append(data["phase"])
        elif kind == "leaving":
            # Its on_exit takes time, in which anything may be written: the decision fell here.
            self.leaving = dict(self.memory.values)

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["type"] == "phase.entered":
            self._entered(data)
        elif event["type"] == "state.changed" and data["key"] == "session:phase":
            self.check(data["new"] == self.current, f"session:phase is {data['new']} in phase {self.current}")
            self.told = data["new"]
        elif event["type"] == "phase.blocked":
            self.check(data["phase"] == self.current, f"{data['phase']} is blocked, the phase is {self.current}")

    def _entered(self, data: dict[str, Any]) -> None:
        state = self.memory.values if self.leaving is None else self.leaving
        self.leaving = None
        phase, before = data["phase"], self.current
        self.check(data["previous"] == before, f"{phase} followed {data['previous']}, the phase was {before}")
        self.check(phase != before, f"{phase} was entered twice")
        if data["trigger"] == "guard":
            for target, condition in WAYS[before]:
                if condition(state) and DOORS.get(target, lambda _: True)(state):
                    self.check(target == phase, f"{before} was left for {phase}, {target} comes first")
                    break
            else:
                self.check(False, f"{before} was left for {phase} without a condition that holds")
            self.check(data["explanation"] is not None, "a guard without its explanation")
        elif data["trigger"] == "programmatic":
            self.check(phase in self.asked, f"nobody asked for {phase}")
            self.asked.remove(phase)
            self.check(before != "done", "a terminal phase was left")
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
        if facts["rest"] and facts["rest"]["wire"] == "open" and not facts["rest"]["gave_up"]:
            due = [
                target
                for target, condition in WAYS[self.current]
                if condition(self.memory.values) and DOORS.get(target, lambda _: True)(self.memory.values)
            ]
            self.check(not due, f"{self.current} was never left for {due}")


class Call:
    """One call as far as it is known."""

    def __init__(self, ident: str, name: str, line: int, args: dict[str, Any]) -> None:
        self.id, self.name, self.line, self.args = ident, name, line, args
        self.ran = 0
        self.cancelled = self.lost = self.hung_up = self.given = False
        self.acknowledged = False
        self.waits = False
        """It ended between two connections, so that its answer goes out with the next one."""
        self.stranded = False
        """The server's present session has never heard of it: the model is told in words."""
        self.phases: set[str] = set()
        self.finished: dict[str, Any] | None = None
        self.answers: list[dict[str, Any]] = []
        self.answered_on = 0


class Calls(Rule):
    """Each call that arrived ends once; it is answered once, unless nobody waits for the answer any more."""

    def __init__(self, phases: Phases) -> None:
        self.phases = phases
        self.calls: dict[str, Call] = {}
        self.order: list[Call] = []
        self.due: list[tuple[str, str, dict[str, Any]]] = []
        self.made = 0
        self.line = 0
        self.ready = False
        self.gone: set[int] = set()
        self.over = False
        self.told = 0

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "heard" and "toolResponse" in data["frame"]:
            for answer in data["frame"]["toolResponse"]["functionResponses"]:
                self._answered(answer)
        elif kind == "heard" and "[Result of " in str(data["frame"].get("clientContent", data["frame"].get("realtimeInput"))):
            self.told += 1
        elif kind == "ran":
            self.calls[data["call"]].ran += 1
            self.check(self.calls[data["call"]].ran == 1, f"{data['call']} was run twice")
        elif kind == "given" and data["taken"]:
            self.calls[data["call"]].given = True
        elif kind == "closed":
            self.gone.add(data["line"])
        elif kind == "hung up":
            self.over = True

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "wire.message" if data["direction"] == "received":
                self._received(data["frame"])
            case "tool.called":
                self.check(bool(self.due), f"{data['call_id']} was never called")
                ident, name, args = self.due.pop(0)
                self.check((ident, name, args) == (data["call_id"], data["name"], data["args"]), f"called as {data}")
                call = self.calls[ident] = Call(ident, name, self.line, args)
                call.phases.add(self.phases.current)
                self.order.append(call)
            case "tool.acknowledged":
                self.calls[data["call_id"]].acknowledged = True
            case "tool.finished":
                self._finished(data)
            case "phase.entered":
                for call in self.order:
                    if call.finished is None:
                        call.phases.add(data["phase"])
            case "connection.ready":
                self.line += 1
                self.ready = True
                for call in self.order:
                    if call.acknowledged and (call.finished is None or call.waits):
                        call.stranded = call.stranded or not data["resumed"]
                        # Nobody waited for it, so it was not lost with the connection.
                        call.lost = False
                    if call.waits:
                        call.waits, call.answered_on = False, self.line
            case "connection.closed":
                self.ready = False
                for call in self.order:
                    if call.finished is None:
                        call.lost = True

    def _received(self, frame: dict[str, Any]) -> None:
        self.check(not self.due, f"{self.due} never became calls")
        for call in frame.get("toolCall", {}).get("functionCalls", ()):
            ident = call.get("id")
            if not ident:
                self.made += 1
                ident = f"unnumbered-{self.made}"
            if ident not in self.calls and ident not in [other for other, _, _ in self.due]:
                self.due.append((ident, call["name"], call["args"]))
        for ident in frame.get("toolCallCancellation", {}).get("ids", ()):
            if ident in self.calls and self.calls[ident].finished is None:
                self.calls[ident].cancelled = True

    def _finished(self, data: dict[str, Any]) -> None:
        call = self.calls[data["call_id"]]
        self.check(call.finished is None, f"{call.id} ended twice")
        call.finished = data
        if data["delivered"]:
            call.answered_on = self.line
        else:
            call.waits = call.acknowledged and not self.ready and not call.cancelled and not self.over
        expected = set(ENDS[call.name])
        if any((allowed := TOOLS[phase]) is not None and call.name not in allowed for phase in call.phases if phase):
            expected.add("refused")
        if "nonsense" in call.args:
            # Tools without parameters pass it over.
            expected.add("refused")
        if call.cancelled:
            expected = {"cancelled"}
        elif call.lost or self.over:
            expected.add("cancelled")
        if call.args.get("name") == "override" or call.given:
            expected.add("ok")
        self.check(data["status"] in expected, f"{call.id} ({call.name}) ended as {data['status']}, not {expected}")
        if call.ran and call.name != "none":
            allowed = [phase for phase in call.phases if TOOLS[phase] is None or call.name in TOOLS[phase]]  # type: ignore[operator]
            self.check(bool(allowed), f"{call.name} ran in {call.phases}")
        wanted = not call.cancelled and not call.lost and self.ready and not self.over
        self.check(not wanted or data["delivered"], f"the answer to {call.id} was not sent")
        self.check(not (call.cancelled and data["delivered"]), f"{call.id} was answered although it was cancelled")

    def _answered(self, answer: dict[str, Any]) -> None:
        self.check(answer["id"] in self.calls, f"an answer to {answer['id']}, which nobody asked")
        call = self.calls[answer["id"]]
        if answer.get("willContinue"):
            self.check(not call.answers, f"{call.id} was acknowledged after its answer")
            return
        call.answers.append(answer)
        self.check(len(call.answers) == 1, f"{call.id} was answered twice")
        self.check(isinstance(answer["response"], dict), f"the answer to {call.id} is no object")

    def end(self, facts: dict[str, Any]) -> None:
        self.check(not self.due, f"{self.due} never became calls")
        for call in self.order:
            self.check(call.finished is not None, f"{call.id} ({call.name}) never ended")
            assert call.finished is not None
            self.check(call.answered_on > 0 or not call.answers, f"{call.id} was answered, and nobody knows")
            self.check(not (call.stranded and call.answers), f"{call.id} was answered to a server that never asked")
            if call.answered_on and call.answered_on not in self.lines_gone and not call.stranded:
                self.check(len(call.answers) == 1, f"the answer to {call.id} never arrived")
        told = [call for call in self.order if call.stranded and call.answered_on]
        sure = [call for call in told if call.answered_on not in self.lines_gone]
        self.check(len(sure) <= self.told <= len(told), f"{self.told} results were told in words, {len(told)} are owed")

    @property
    def lines_gone(self) -> set[int]:
        """Connections, counted as they became ready, that are gone: what was under way may be lost."""
        return set(range(1, self.line + 1)) if self.over else set(range(1, self.line + (0 if self.ready else 1)))


class Texts(Rule):
    """A typed text is sent once, or it is refused with a reason: never both, never neither."""

    def __init__(self) -> None:
        self.typed: dict[str, str] = {}
        self.sent: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.arrived: Counter[str] = Counter()

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "command" and data["order"] == "text.send":
            self.typed[data["id"]] = data["text"]
        elif kind == "heard":
            frame = data["frame"]
            said = [frame.get("realtimeInput", {}).get("text")]
            for turn in frame.get("clientContent", {}).get("turns", ()):
                said += [part.get("text") for part in turn["parts"]]
            self.arrived.update(text for text in said if text is not None)

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["type"] == "text.sent":
            self.check(self.typed.get(data["command_id"]) == data["text"], f"{data} was never typed")
            self.sent[data["command_id"]] += 1
        elif event["type"] == "command.refused":
            self.refused[data["command_id"]] += 1

    def end(self, facts: dict[str, Any]) -> None:
        for ident, text in self.typed.items():
            arrived, sent, refused = self.arrived[text] if text.strip() else 0, self.sent[ident], self.refused[ident]
            self.check(sent <= 1 and refused <= 1, f"{text!r} was sent {sent} times, refused {refused} times")
            self.check(arrived <= 1, f"{text!r} arrived {arrived} times")
            self.check(arrived == 0 or sent == 1, f"{text!r} arrived and nobody knows")
            self.check(arrived + refused == 1, f"{text!r}: arrived {arrived}, sent {sent}, refused {refused}")


class Rest(Rule):
    """A session whose server and device have done their part comes to rest."""

    def end(self, facts: dict[str, Any]) -> None:
        rest = facts["rest"]
        if rest and not rest["gave_up"]:
            self.check(rest["quiet"], f"it does not come to rest: {rest['why']}")
        self.check(facts["code"] == 0, f"the exit code is {facts['code']}")


class Reference:
    """All promises at once."""

    def __init__(self, *, soft_turns: bool) -> None:
        memory = Memory()
        phases = Phases(memory)
        turns = Turns(soft_turns=soft_turns)
        # The calls look at the phase before and after it moves; the memory is read by the phases.
        self.rules: list[Rule] = [
            Numbers(),
            Faults(),
            memory,
            phases,
            Calls(phases),
            Texts(),
            turns,
            Words(turns),
            Sound(),
            Rest(),
        ]

    def judge(self, timeline: Timeline, facts: dict[str, Any]) -> None:
        """Raises `Broken` naming the entry."""
        for entry in timeline.entries:
            for rule in self.rules:
                try:
                    if entry.kind == "event":
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
