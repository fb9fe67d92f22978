"""Judge tool calls: each ends once and has one answer."""

from __future__ import annotations

from typing import Any, Protocol

from tests.simulation.rules import Rule

TOOLS: dict[str, tuple[str, ...] | None] = {
    "greet": None,
    "help": ("note", "search", "ticket", "log", "broken", "never", "stubborn", "ask", "transfer"),
    "order": None,
    "pay": ("pay", "add", "ticket", "log", "never"),
    "done": ("log",),
    "@desk": ("note", "search", "log", "back", "ask"),
    "@survey": ("log", "deepen", "finish"),
    "@detail": ("note", "finish"),
}
"""Tools by phase, of other agents by their name; None for all of the agent's."""

OTHERS = ("back", "deepen", "finish")
"""Tools that only other agents have."""

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
    # A speech that was interrupted cannot be protected any more.
    "protect": {"ok", "error"},
    "transfer": {"ok", "error"},
    "back": {"ok", "error"},
    # A task fails, or ends early.
    "ask": {"ok", "error"},
    "deepen": {"ok", "error"},
    "finish": {"ok", "error"},
    "none": {"refused"},
}
"""Outcome of each tool without an intervention."""


class CurrentPhase(Protocol):
    """Knows the phase, or the agent without phases."""

    @property
    def place(self) -> str: ...


def _allows(phase: str, tool: str) -> bool:
    allowed = TOOLS.get(phase)
    return tool not in OTHERS if allowed is None else tool in allowed


class Call:
    """Tool call as far as it is known."""

    def __init__(self, ident: str, name: str, line: int, args: dict[str, Any]) -> None:
        self.id, self.name, self.line, self.args = ident, name, line, args
        self.ran = 0
        self.cancelled = self.given = False
        self.cancelled_at: float | None = None
        """Time at which the server cancelled it while it ran."""
        self.acknowledged = False
        self.waits = False
        """True when it ended between two connections, so its answer goes out with the next."""
        self.has_waited = False
        """True once a connection was ready for the answer that had waited."""
        self.stranded = False
        """True when the server's current session does not know the call: the model gets the result in words."""
        self.in_handle = False
        """True when the newest handle is newer than the call."""
        self.phases: set[str] = set()
        self.finished: dict[str, Any] | None = None
        self.answers: list[dict[str, Any]] = []
        self.is_answered = self.answer_in_handle = False
        """True when the server's current session knows the answer, and the one of the newest handle."""
        self.answered_on = 0


class Calls(Rule):
    """A call ends once and is answered once, unless the server no longer waits.

    A server that resumed a state from before the answer gets it again.
    """

    def __init__(self, phases: CurrentPhase) -> None:
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
        self.is_left = False
        """True while the connection of an agent before is being left: nothing of it counts."""
        self.may_refuse = False
        """True once a reply was asked for that may use no tools."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "heard" and "toolResponse" in data["frame"]:
            for answer in data["frame"]["toolResponse"]["functionResponses"]:
                self._answered(answer)
        elif kind == "heard" and "[Result of " in str(
            data["frame"].get("clientContent", data["frame"].get("realtimeInput"))
        ):
            self.told += 1
        elif kind == "ran":
            self.calls[data["call"]].ran += 1
            self.check(self.calls[data["call"]].ran == 1, f"{data['call']} was run twice")
        elif kind == "stopped":
            asked = self.calls[data["call"]].cancelled_at
            late = asked is not None and data["t"] > asked + 0.01
            self.check(not late, f"the cancellation of {data['call']} did not reach the tool")
        elif kind == "given" and data["taken"]:
            self.calls[data["call"]].given = True
        elif kind == "closed":
            self.gone.add(data["line"])
        elif kind == "hung up":
            self.over = True
        elif kind == "reply":
            self.may_refuse = self.may_refuse or not data["tools"]

    def event(self, event: dict[str, Any]) -> None:
        data = event["data"]
        match event["type"]:
            case "session.ending":
                self.over = True
            case "agent.handed_off" if data["via"] == "connection":
                self.is_left = True
            case "wire.message" if data["direction"] == "received" and not self.is_left:
                self._received(data["frame"], event["t"])
            case "tool.called":
                self.check(bool(self.due), f"{data['call_id']} was never called")
                ident, name, args = self.due.pop(0)
                self.check((ident, name, args) == (data["call_id"], data["name"], data["args"]), f"called as {data}")
                call = self.calls[ident] = Call(ident, name, self.line, args)
                call.phases.add(self.phases.place)
                self.order.append(call)
            case "tool.acknowledged":
                call = self.calls[data["call_id"]]
                call.acknowledged = True
                wanted = self.ready and not call.cancelled and not call.stranded
                self.check(data["delivered"] or not wanted, f"{call.id} was not acknowledged")
            case "tool.finished":
                self._finished(data)
            case "phase.entered" | "agent.described":
                for call in self.order:
                    if call.finished is None:
                        call.phases.add(self.phases.place)
            case "connection.ready":
                self.line += 1
                self.ready, self.is_left = True, False
                for call in self.order:
                    call.is_answered = call.answer_in_handle
                    # The connection before may have ended before the answer could go out.
                    is_due = call.waits or (call.has_waited and not call.answers)
                    if call.finished is None or is_due:
                        call.stranded = call.stranded or not (data["resumed"] and call.in_handle)
                    if call.waits:
                        call.waits, call.answered_on, call.has_waited = False, self.line, True
            case "connection.resumable" if data["resumable"]:
                for call in self.order:
                    call.in_handle = True
                    call.answer_in_handle = call.is_answered
            case "connection.closed":
                self.ready = False

    def _received(self, frame: dict[str, Any], t: float) -> None:
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
                if self.calls[ident].ran:
                    self.calls[ident].cancelled_at = t

    def _finished(self, data: dict[str, Any]) -> None:
        call = self.calls[data["call_id"]]
        self.check(call.finished is None, f"{call.id} ended twice")
        call.finished = data
        if data["delivered"]:
            call.answered_on = self.line
        else:
            call.waits = not self.ready and not call.cancelled and not self.over
        expected = set(ENDS[call.name])
        if not all(_allows(phase, call.name) for phase in call.phases):
            expected.add("refused")
        if self.may_refuse or "This answer has used" in str(data["result"]):
            expected.add("refused")
        if "nonsense" in call.args:
            # Tools without parameters pass it over.
            expected.add("refused")
        if call.cancelled:
            expected = {"cancelled"}
        elif self.over:
            expected.add("cancelled")
        if call.args.get("name") == "override" or call.given:
            expected.add("ok")
        self.check(data["status"] in expected, f"{call.id} ({call.name}) ended as {data['status']}, not {expected}")
        if call.ran and call.name != "none":
            self.check(any(_allows(phase, call.name) for phase in call.phases), f"{call.name} ran in {call.phases}")
        wanted = not call.cancelled and self.ready and not self.over
        self.check(not wanted or data["delivered"], f"the answer to {call.id} was not sent")
        self.check(not (call.cancelled and data["delivered"]), f"{call.id} was answered although it was cancelled")

    def _answered(self, answer: dict[str, Any]) -> None:
        self.check(answer["id"] in self.calls, f"an answer to {answer['id']}, which nobody asked")
        call = self.calls[answer["id"]]
        if answer.get("willContinue"):
            self.check(not call.answers, f"{call.id} was acknowledged after its answer")
            return
        self.check(not call.is_answered, f"{call.id} was answered twice")
        call.answers.append(answer)
        call.is_answered = True
        self.check(isinstance(answer["response"], dict), f"the answer to {call.id} is no object")

    def end(self, facts: dict[str, Any]) -> None:
        self.check(not self.due, f"{self.due} never became calls")
        for call in self.order:
            self.check(call.finished is not None, f"{call.id} ({call.name}) never ended")
            assert call.finished is not None
            self.check(call.answered_on > 0 or not call.answers, f"{call.id} was answered, and nobody knows")
            self.check(not (call.stranded and call.answers), f"{call.id} was answered to a server that never asked")
            if call.answered_on and call.answered_on not in self.lost_lines and not call.stranded:
                self.check(bool(call.answers), f"the answer to {call.id} never arrived")
        told = [call for call in self.order if call.stranded and call.answered_on]
        sure = [call for call in told if call.answered_on not in self.lost_lines]
        self.check(len(sure) <= self.told <= len(told), f"{self.told} results were told in words, {len(told)} are owed")

    @property
    def lost_lines(self) -> set[int]:
        """Return the numbers of lost connections, counted as they became ready.

        Messages on their way may be lost with them.
        """
        return set(range(1, self.line + 1)) if self.over else set(range(1, self.line + (0 if self.ready else 1)))
