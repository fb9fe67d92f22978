"""Hold the agent where breakpoints, pause and step ask for it.

The agent's parts call a checkpoint right before something that has a name is about to happen: a watcher acts, a phase
is left, a tool runs, a tool's answer takes effect, something is sent to the model. A checkpoint returns at once, or
when the operator lets the agent go on. The wire, the sound and the operator never pass here.
"""

from __future__ import annotations

from collections.abc import Sequence

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.core.effects import RunTool
from gemini_live_runtime.session.debugger.breakpoints import Breakpoint, Breakpoints, Kind
from gemini_live_runtime.session.debugger.pause_gate import PauseGate
from gemini_live_runtime.session.ports.event_bus import EventBus
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.mutations import Mutation
from gemini_live_runtime.state.store import State


class Checkpoints:
    """Breakpoints and pause gate of one session."""

    def __init__(self, state: State, bus: EventBus, clock: Clock) -> None:
        self._state = state
        self._bus = bus
        self._clock = clock
        self.breakpoints = Breakpoints()
        self.gate = PauseGate(emit=bus.emit, now=clock.now)
        self.last_seq = 0
        """Sequence number of the last event."""
        self._last = (0.0, clock.now())
        """Session time of the last event, and the clock's time when it was published."""
        self._console_attached = True
        self._changed_by: dict[str, int] = {}
        """Sequence number of the event that changed each key last."""
        self._called_by: dict[str, int] = {}
        """Sequence number of the event of each open call."""

    def subscribe(self) -> None:
        """Follow the session's events from now on."""
        self._bus.subscribe(self._on_event)
        self._bus.subscribe(self._on_state_changed, ev.StateChanged)
        self._bus.subscribe(self._on_call, ev.ToolCalled, ev.ToolFinished)

    def session_time(self) -> float:
        """Return the session time in seconds, as events are stamped with it."""
        t, at = self._last
        return round(t + self._clock.now() - at, 6)

    def on_console_attached(self, attached: bool) -> None:
        """Note that a console is there, or none.

        Without a console a held agent is released: nothing else could do that.
        """
        self._console_attached = attached
        if attached or not self.gate.held:
            return
        at = self.gate.at
        self.gate.release("continue", actor="engine")
        text = f"The agent was held at {at} and goes on: no console is attached; breakpoints hold it again for one"
        self._bus.emit(ev.Notice(level="warning", code="held", text=text))

    # -- bookkeeping -------------------------------------------------------------------------------------------------

    def _on_event(self, event: ev.Event) -> None:
        self.last_seq = event.seq
        self._last = (event.t, self._clock.now())

    def _on_state_changed(self, event: ev.Event) -> None:
        payload = event.payload
        assert isinstance(payload, ev.StateChanged)
        if payload.removed:
            self._changed_by.pop(payload.key, None)
        else:
            self._changed_by[payload.key] = event.seq

    def _on_call(self, event: ev.Event) -> None:
        match event.payload:
            case ev.ToolCalled(call_id=call_id):
                self._called_by[call_id] = event.seq
            case ev.ToolFinished(call_id=call_id):
                self._called_by.pop(call_id, None)

    def publish_breakpoints(self) -> None:
        """Publish the breakpoints, after the hits that state written before may count."""
        self._bus.publish_state()
        self._bus.emit(ev.BreakpointsChanged(breakpoints=self.breakpoints.to_json()))

    def on_state_changes(self, mutations: Sequence[Mutation]) -> None:
        """Hold the next decision where a breakpoint waits for a key or an expression.

        What the operator writes is no hit: the operator knows of it.
        """
        if not self.breakpoints.watches_state:
            return
        others = [mutation for mutation in mutations if mutation.origin.kind != "operator"]
        keys = dict.fromkeys(mutation.key for mutation in others)
        found = self.breakpoints.hit(*(("key", key) for key in keys)) if keys else None
        now_true = self.breakpoints.became_true(self._state, counts=bool(others))
        if found is None and not now_true:
            return
        self.publish_breakpoints()
        if found is not None:
            self._hold(found, f"the key {found.target}", self._changed_by.get(found.target, self.last_seq))
        for item in now_true:
            assert item.guard is not None
            self._hold(item, item.target, self.last_seq, item.guard.explain(self._state))

    def _hold(self, item: Breakpoint, at: str, of: int, explanation: Explanation | None = None) -> None:
        if self._console_attached:
            tree = None if explanation is None else explanation.to_json()
            self.gate.hold(item.id, at, of=of, explanation=tree)

    # -- checkpoints -------------------------------------------------------------------------------------------------

    async def _reach(
        self, *reached: tuple[Kind, str], at: str, of: int = 0, explanation: Explanation | None = None
    ) -> bool:
        # A key that has just been written may be what holds the agent here.
        self._bus.publish_state()
        found = self.breakpoints.hit(*reached) if len(self.breakpoints) else None
        if found is not None:
            self.publish_breakpoints()
        by = found.id if found is not None and self._console_attached else ""
        return await self.gate.reach(at, by=by, of=of or self.last_seq, explanation=explanation)

    async def before_action(self, name: str, key: str, explanation: Explanation | None) -> None:
        """Return when the watcher or pattern `name` may act.

        `key` set it off; "" for a pattern.
        """
        await self._reach(
            ("watcher", name), at=f"watcher {name}", of=self._changed_by.get(key, 0), explanation=explanation
        )

    async def before_transition(self, source: str, target: str, explanation: Explanation | None = None) -> bool:
        """Return when phase `source` may be left for `target`: True when that had to wait."""
        at = f"the transition from {source} to {target}" if source else f"the transition to {target}"
        reached: list[tuple[Kind, str]] = [("transition", f"{source}>{target}"), ("phase", target), ("phase", source)]
        return await self._reach(*reached, at=at, explanation=explanation)

    async def before_call(self, call: RunTool) -> None:
        """Return when a tool may run."""
        await self._reach(("tool", call.name), at=f"the call of {call.name}", of=self._called_by.get(call.call_id, 0))

    async def before_answer(self, call_id: str, name: str) -> None:
        """Return when a tool's answer may have its effects and go to the model."""
        await self._reach(("tool", name), at=f"the answer of {name}", of=self._called_by.get(call_id, 0))

    async def before_send(self) -> None:
        """Return when something may be sent to the model.

        The agent may be held since this step began.
        """
        self._bus.publish_state()
        await self.gate.reach("telling the model", minor=True)
