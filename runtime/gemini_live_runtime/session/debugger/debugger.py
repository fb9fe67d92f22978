"""Breakpoints, pause, step and marks of one session: the operator's orders, and the points where they take effect."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.core.effects import RunTool
from gemini_live_runtime.session.debugger.breakpoints import Breakpoint, Breakpoints, Kind
from gemini_live_runtime.session.debugger.pause_gate import MINOR, PauseGate
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.mutations import Mutation

if TYPE_CHECKING:
    from gemini_live_runtime.session.debugger.command_router import CommandRouter
    from gemini_live_runtime.session.orchestrator import Orchestrator

MAX_NOTE = 2000
"""Characters of a mark's note."""


class Debugger:
    """Holds the agent of one session where the operator wants it held."""

    def __init__(self, mind: Orchestrator) -> None:
        self._mind = mind
        self.breakpoints = Breakpoints(self._known)
        self.gate = PauseGate(
            emit=mind.body.emit,
            now=mind.clock.now,
            waiting=self._waiting,
            on_held=self._held,
            on_released=self._released,
        )
        self._seq = 0
        self._heard = (0.0, mind.clock.now())
        """The session time of the last event, and the clock when it was heard."""
        self._watched = True
        self._changed: dict[str, int] = {}
        """The event that changed each key last."""
        self._called: dict[str, int] = {}
        """The event that told of each open call."""

    # -- orders ------------------------------------------------------------------------------------------------------

    def take_orders(self, orders: CommandRouter) -> None:
        """Take on the orders that belong here."""
        orders.take(cmd.SetBreakpoint, self._set)
        orders.take(cmd.RemoveBreakpoint, self._remove)
        orders.take(cmd.HoldAgent, self._hold)
        orders.take(cmd.ReleaseAgent, self._release)
        orders.take(cmd.SetMark, self._mark)

    def _set(self, order: cmd.SetBreakpoint, command_id: str) -> None:
        state = self._mind.state
        self.breakpoints.set(order.kind, order.target, enabled=order.enabled, ident=order.id, reader=state)
        self._tell()

    def _remove(self, order: cmd.RemoveBreakpoint, command_id: str) -> None:
        self.breakpoints.remove(order.id)
        self._tell()

    def _hold(self, order: cmd.HoldAgent, command_id: str) -> None:
        if self.gate.held:
            raise AgentError("The agent is held already", remedy="Let it go on, or step")
        self.gate.hold("pause", "the next decision", of=self._seq)

    def _release(self, order: cmd.ReleaseAgent, command_id: str) -> None:
        if not self.gate.release(order.how):
            raise AgentError("The agent is not held", remedy="Hold it first")

    def _mark(self, order: cmd.SetMark, command_id: str) -> None:
        if not 0 <= order.of <= self._seq:
            raise AgentError(f"There is no event {order.of} to mark", field="of", value=order.of)
        if len(order.text) > MAX_NOTE:
            raise AgentError(f"A note has at most {MAX_NOTE} characters, not {len(order.text)}", field="text")
        if order.t is not None:
            self._check_time(order.t, order.of)
        self._mind.body.emit(ev.MarkSet(text=order.text, of=order.of, t=order.t))

    def _check_time(self, t: float, of: int) -> None:
        heard_t, heard_at = self._heard
        now = round(heard_t + self._mind.clock.now() - heard_at, 6)
        if not 0 <= t <= now:
            raise AgentError(
                f"A mark cannot stand at {t:g} s", remedy=f"Mark a moment from 0 to {now:g} s", field="t", value=t
            )
        if not of:
            raise AgentError(
                f"Which event a mark at {t:g} s stands after is not said",
                remedy="Give `of`, or leave out `t`",
                field="of",
                value=of,
            )

    def _tell(self) -> None:
        # What was written before may count a hit of its own, which is told first.
        self._mind.publish_state()
        self._mind.body.emit(ev.BreakpointsChanged(breakpoints=self.breakpoints.to_json()))

    def _known(self, kind: Kind) -> Collection[str]:
        mind = self._mind
        if kind == "watcher":
            patterns = mind.settler.temporal.status(self.gate.agent_time())
            return [*(item.name for item in mind.settler.watchers.status), *(item.name for item in patterns)]
        if kind == "phase":
            return [] if mind.director is None else list(mind.director.machine.phases)
        return list(mind.tools.tools)

    def watched(self, somebody: bool) -> None:
        """Whether a console is there. Without one the agent goes on: nobody could release it."""
        self._watched = somebody
        if somebody or not self.gate.held:
            return
        at = self.gate.at
        self.gate.release("continue", actor="engine")
        text = f"Nobody watches, so the agent goes on that was held at {at}; breakpoints hold it again for a console"
        self._mind.body.emit(ev.Notice(level="warning", code="held", text=text))

    # -- what happens ------------------------------------------------------------------------------------------------

    def observe(self, event: ev.Event) -> None:
        """Remember which event a hold can be put down to."""
        self._seq = event.seq
        self._heard = (event.t, self._mind.clock.now())
        payload = event.payload
        if isinstance(payload, ev.StateChanged):
            if payload.removed:
                self._changed.pop(payload.key, None)
            else:
                self._changed[payload.key] = event.seq
        elif isinstance(payload, ev.ToolCalled):
            self._called[payload.call_id] = event.seq
        elif isinstance(payload, ev.ToolFinished):
            self._called.pop(payload.call_id, None)

    def state_changed(self, mutations: Sequence[Mutation]) -> None:
        """State has changed: the next decision is held where a breakpoint waited for that.

        What the operator writes is no news to the operator.
        """
        if not self.breakpoints.watches_state:
            return
        others = [mutation for mutation in mutations if mutation.origin.kind != "operator"]
        keys = dict.fromkeys(mutation.key for mutation in others)
        found = self.breakpoints.hit(*(("key", key) for key in keys)) if keys else None
        turned = self.breakpoints.became_true(self._mind.state, counts=bool(others))
        if found is None and not turned:
            return
        self._tell()
        if found is not None:
            self._stop(found, f"the key {found.target}", self._changed.get(found.target, self._seq))
        for item in turned:
            assert item.guard is not None
            self._stop(item, item.target, self._seq, item.guard.explain(self._mind.state))

    def _stop(self, item: Breakpoint, at: str, of: int, explanation: Explanation | None = None) -> None:
        if self._watched:
            tree = None if explanation is None else explanation.to_json()
            self.gate.hold(item.id, at, of=of, explanation=tree)

    async def _reach(
        self, *reached: tuple[Kind, str], at: str, of: int = 0, explanation: Explanation | None = None
    ) -> bool:
        # A key that has just been written may be what holds the agent here.
        self._mind.publish_state()
        found = self.breakpoints.hit(*reached) if len(self.breakpoints) else None
        if found is not None:
            self._tell()
        by = found.id if found is not None and self._watched else ""
        return await self.gate.reach(at, by=by, of=of or self._seq, explanation=explanation)

    async def watcher(self, name: str, key: str, explanation: Explanation | None) -> None:
        """A watcher is about to act, because `key` changed."""
        await self._reach(
            ("watcher", name), at=f"watcher {name}", of=self._changed.get(key, 0), explanation=explanation
        )

    async def transition(self, source: str, target: str, explanation: Explanation | None = None) -> bool:
        """A phase is about to be left for another; whether that had to wait."""
        at = f"the way from {source} to {target}" if source else f"the way to {target}"
        reached: list[tuple[Kind, str]] = [("transition", f"{source}>{target}"), ("phase", target), ("phase", source)]
        return await self._reach(*reached, at=at, explanation=explanation)

    async def call(self, call: RunTool) -> None:
        """A tool is about to be run."""
        await self._reach(("tool", call.name), at=f"the call of {call.name}", of=self._called.get(call.call_id, 0))

    async def answer(self, call_id: str, name: str) -> None:
        """A tool's answer is about to have its effects, and to be given."""
        await self._reach(("tool", name), at=f"the answer of {name}", of=self._called.get(call_id, 0))

    async def telling(self) -> None:
        """The model is about to be told something: not while the agent is held, as it may be since this step began."""
        self._mind.publish_state()
        await self.gate.reach("telling the model", minor=True)

    # -- what waits --------------------------------------------------------------------------------------------------

    def _waiting(self) -> tuple[int, int, str]:
        mind = self._mind
        steps = [name for name in mind.lane.waiting if name not in MINOR]
        return mind.answers_waiting, len(steps), steps[0] if steps else ""

    def _released(self) -> None:
        # Patterns and soft turns count time again.
        mind = self._mind
        if not mind.closed:
            if len(mind.settler.temporal):
                mind.fast.patterns_seen()
            mind.fast.schedule()

    def _held(self) -> None:
        # What the user types goes out all the same, even before the model was told what the agent has to say.
        if self.gate.held:
            self._mind.body.release()
