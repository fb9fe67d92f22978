"""Pause gate: decision steps wait here while the agent is held.

Steps of the task queue reach it before they begin, and inside them wherever something that has a name is about to
happen (see `checkpoints`). The wire, the sound and the operator never come here.

`hold` and `release` take effect at once; what waits continues on the event loop after that, and may find the agent held
again. Time that the agent was held does not count for it: `agent_time` stands still meanwhile, so that patterns and
silences do not mature behind a breakpoint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.state.explanation import Explanation

Until = Literal["continue", "event", "turn"]
"""Extent of a release: for good, for one decision, or until the turn has ended."""

PAUSED_AT = "the next decision"
"""Place of an agent that is held while it decides nothing."""

TURN_ENDS = "turn ends"
"""Step that ends a turn."""

MINOR = frozenset(("pattern",))
"""Steps that only take note: they wait too, but stepping passes over them."""

Waiting = tuple[int, int, str]
"""Answers and steps that wait behind the gate, and the first of the steps."""


class PauseGate:
    """Gate that holds one agent.

    Create it on the session's loop; nothing is held before `begin`.
    """

    def __init__(
        self,
        *,
        emit: Callable[[ev.Payload], None],
        now: Callable[[], float],
    ) -> None:
        self._emit = emit
        self._now = now
        self.waiting: Callable[[], Waiting] = _nothing_waits
        """Returns what waits behind the gate."""
        self.on_held: Callable[[], None] = _do_nothing
        """Called soon after a hold, outside of the step that caused it."""
        self.on_released: Callable[[], None] = _do_nothing
        """Called soon after a release."""
        self._loop = asyncio.get_running_loop()
        self._begun = False
        self._ended = False
        self._since: float | None = None
        self._held_s = 0.0
        self._free = asyncio.Event()
        self._free.set()
        self._step: Literal["", "event", "turn"] = ""
        self._credit = False
        self._blocked: list[str] = []
        self._reported: Waiting = (0, 0, "")
        self._counting = False
        self.at = ""
        """Place where the agent is held, in words; "" when it is not."""
        self.times = 0
        """Number of times the agent has been held."""

    # -- state ------------------------------------------------------------------------------------------------------

    @property
    def held(self) -> bool:
        """True while the agent decides nothing."""
        return self._since is not None

    @property
    def stepping(self) -> bool:
        """True while the agent goes on for one decision or one turn only."""
        return self._step != ""

    @property
    def has_waiting(self) -> bool:
        """True while a step waits at the gate."""
        return bool(self._blocked)

    def agent_time(self) -> float:
        """Return clock seconds less those in which the agent was held."""
        now = self._now()
        return now - self._held_s - (0.0 if self._since is None else now - self._since)

    # -- operator ---------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Let decisions be held from now on."""
        self._begun = True

    def hold(self, by: str, at: str, *, of: int = 0, explanation: dict[str, Any] | None = None) -> None:
        """Hold the agent; no-op while it is held, and after the end."""
        if self.held or self._ended:
            return
        self._step, self._credit = "", False
        self._since = self._now()
        self._free.clear()
        self._reported = (0, 0, "")
        self.at = at
        self.times += 1
        self._emit(ev.AgentHeld(by=by, at=at, of=of, explanation=explanation))
        self._loop.call_soon(self.on_held)
        self.changed()

    def release(self, until: Until, *, actor: ev.Actor = "operator") -> bool:
        """Let the agent go on; return False when it is not held.

        "continue" also ends stepping.
        """
        if not self.held:
            stepping, self._step, self._credit = self.stepping, "", False
            return stepping and until == "continue"
        self._step, self._credit = ("", False) if until == "continue" else (until, until == "event")
        self._publish_release(until, actor)
        self._free.set()
        self._loop.call_soon(self.on_released)
        return True

    def end(self) -> bool:
        """Hold nothing any more at the session's end; return True if it was held."""
        self._ended = True
        held = self.held
        if held:
            self._publish_release("end", "engine")
        return held

    def _publish_release(self, until: Literal["continue", "event", "turn", "end"], actor: ev.Actor) -> None:
        assert self._since is not None
        seconds = self._now() - self._since
        self._held_s += seconds
        self._since, self.at = None, ""
        self._emit(ev.AgentReleased(how=until, seconds=round(seconds, 3), actor=actor))

    # -- gate -------------------------------------------------------------------------------------------------------

    async def reach(
        self, at: str, *, by: str = "", of: int = 0, explanation: Explanation | None = None, minor: bool = False
    ) -> bool:
        """Wait while the agent is held; return True when that was so.

        With `by`, a breakpoint's id, the agent is held here. An agent that goes on for one decision is held here too,
        once it has made that decision, unless the point is a `minor` one.
        """
        if not self._begun or self._ended:
            return False
        waited = False
        if by and not self.held:
            self.hold(by, at, of=of, explanation=None if explanation is None else explanation.to_json())
        while True:
            while self.held:
                # It may be held again before this step runs after a release.
                waited = True
                await self._block(at)
            if self._step != "event" or minor:
                return waited
            if self._credit:
                self._credit = False
                return waited
            self.hold("step", at, of=of, explanation=None if explanation is None else explanation.to_json())

    async def _block(self, at: str) -> None:
        self._blocked.append(at)
        self.changed()
        try:
            await self._free.wait()
        finally:
            self._blocked.remove(at)

    async def before(self, step: str) -> None:
        """Wait for the gate before a step of the task queue begins."""
        if self.held or self._step == "event":
            await self.reach(step, minor=step in MINOR)

    def after(self, step: str) -> None:
        """Hold the agent after a step when it goes on for one decision or one turn only."""
        if step in MINOR or self.held:
            return
        if self._step == "turn" and step == TURN_ENDS:
            self.hold("step", "the end of the turn")
        elif self._step == "event" and not self._credit:
            self.hold("step", self.waiting()[2] or PAUSED_AT)

    # -- waiting steps ----------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Report soon what waits now: once for all changes of one round of the loop."""
        if self.held and not self._counting:
            self._counting = True
            self._loop.call_soon(self._count)

    def _count(self) -> None:
        self._counting = False
        if not self.held:
            return
        answers, steps, following = self.waiting()
        blocked = [at for at in self._blocked if at not in MINOR]
        counted = (answers, steps + len(blocked), blocked[0] if blocked else following)
        if counted != self._reported:
            self._reported = counted
            self._emit(ev.AgentHolding(answers=answers, steps=counted[1], next=counted[2]))


def _nothing_waits() -> Waiting:
    return 0, 0, ""


def _do_nothing() -> None:
    return None
