"""The gate that a held agent stands at: what decides passes it, one decision after the other, or waits.

Points are reached by steps of the control lane, before they begin, and inside them wherever something that has a name
is about to happen. The wire, the sound and the operator never come here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.state.explanation import Explanation

How = Literal["continue", "event", "turn"]
"""How a held agent is released: for good, for one decision, or until the turn has ended."""

PAUSED_AT = "the next decision"
"""Where an agent stands that is held while it decides nothing."""

TURN_ENDS = "turn ends"
"""The step that ends a turn."""

MINOR = frozenset(("pattern",))
"""Steps that only take note: they wait too, but nobody wants to see them one by one."""


class PauseGate:
    """Holds one agent. Make it on the session's loop; nothing is held before `begin`."""

    def __init__(
        self,
        *,
        emit: Callable[[ev.Payload], None],
        now: Callable[[], float],
        waiting: Callable[[], tuple[int, int, str]],
        on_held: Callable[[], None],
        on_released: Callable[[], None],
    ) -> None:
        """`waiting` gives what waits behind the gate: answers, steps, and the first of these in words.

        `on_held` and `on_released` are called soon after, outside of whatever brought it about.
        """
        self._emit = emit
        self._now = now
        self._waiting = waiting
        self._on_held = on_held
        self._on_released = on_released
        self._loop = asyncio.get_running_loop()
        self._begun = False
        self._ended = False
        self._since: float | None = None
        self._stood_s = 0.0
        self._free = asyncio.Event()
        self._free.set()
        self._step: Literal["", "event", "turn"] = ""
        self._credit = False
        self._standing: list[str] = []
        self._told: tuple[int, int, str] = (0, 0, "")
        self._counting = False
        self.at = ""
        """Where the agent is held, in words; "" when it is not."""
        self.times = 0
        """How often the agent has been held."""

    # -- how things stand --------------------------------------------------------------------------------------------

    @property
    def held(self) -> bool:
        """Whether the agent decides nothing now."""
        return self._since is not None

    @property
    def stepping(self) -> bool:
        """Whether the agent goes on for a while only."""
        return self._step != ""

    @property
    def standing(self) -> bool:
        """Whether something waits at the gate."""
        return bool(self._standing)

    def agent_time(self) -> float:
        """Clock seconds without those in which the agent was held: what happens over time waits with it."""
        now = self._now()
        return now - self._stood_s - (0.0 if self._since is None else now - self._since)

    # -- what the operator asks for ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """From now on decisions can be held."""
        self._begun = True

    def hold(self, by: str, at: str, *, of: int = 0, explanation: dict[str, Any] | None = None) -> None:
        """Hold the agent; where it is held already nothing changes."""
        if self.held or self._ended:
            return
        self._step, self._credit = "", False
        self._since = self._now()
        self._free.clear()
        self._told = (0, 0, "")
        self.at = at
        self.times += 1
        self._emit(ev.AgentHeld(by=by, at=at, of=of, explanation=explanation))
        self._loop.call_soon(self._on_held)
        self.changed()

    def release(self, how: How, *, actor: ev.Actor = "operator") -> bool:
        """Let the agent go on; False when it is not held. One that only goes on for a while goes on for good now."""
        if not self.held:
            stepping, self._step, self._credit = self.stepping, "", False
            return stepping and how == "continue"
        self._step, self._credit = ("", False) if how == "continue" else (how, how == "event")
        self._tell_released(how, actor)
        self._free.set()
        self._loop.call_soon(self._on_released)
        return True

    def end(self) -> bool:
        """The session ends: nothing is held any more. Whether it was."""
        self._ended = True
        held = self.held
        if held:
            self._tell_released("end", "engine")
        return held

    def _tell_released(self, how: Literal["continue", "event", "turn", "end"], actor: ev.Actor) -> None:
        assert self._since is not None
        seconds = self._now() - self._since
        self._stood_s += seconds
        self._since, self.at = None, ""
        self._emit(ev.AgentReleased(how=how, seconds=round(seconds, 3), actor=actor))

    # -- what passes the gate ----------------------------------------------------------------------------------------

    async def reach(
        self, at: str, *, by: str = "", of: int = 0, explanation: Explanation | None = None, minor: bool = False
    ) -> bool:
        """Come to a point: wait while the agent is held. Whether it waited.

        With `by`, a breakpoint's id, the agent is held here. One that goes on for one decision is held here as well,
        once it has made that, unless the point is a `minor` one.
        """
        if not self._begun or self._ended:
            return False
        waited = False
        if by and not self.held:
            self.hold(by, at, of=of, explanation=None if explanation is None else explanation.to_json())
        while True:
            while self.held:
                # It may have been held again before this comes to know that it was released.
                waited = True
                await self._stand(at)
            if self._step != "event" or minor:
                return waited
            if self._credit:
                self._credit = False
                return waited
            self.hold("step", at, of=of, explanation=None if explanation is None else explanation.to_json())

    async def _stand(self, at: str) -> None:
        self._standing.append(at)
        self.changed()
        try:
            await self._free.wait()
        finally:
            self._standing.remove(at)

    async def before(self, step: str) -> None:
        """A step of the control lane is about to begin."""
        if self.held or self._step == "event":
            await self.reach(step, minor=step in MINOR)

    def after(self, step: str) -> None:
        """A step has been done."""
        if step in MINOR or self.held:
            return
        if self._step == "turn" and step == TURN_ENDS:
            self.hold("step", "the end of the turn")
        elif self._step == "event" and not self._credit:
            self.hold("step", self._waiting()[2] or PAUSED_AT)

    # -- what waits --------------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """What waits may have changed; it is told once for all that happens at one time."""
        if self.held and not self._counting:
            self._counting = True
            self._loop.call_soon(self._count)

    def _count(self) -> None:
        self._counting = False
        if not self.held:
            return
        answers, steps, following = self._waiting()
        standing = [at for at in self._standing if at not in MINOR]
        counted = (answers, steps + len(standing), standing[0] if standing else following)
        if counted != self._told:
            self._told = counted
            self._emit(ev.AgentHolding(answers=answers, steps=counted[1], next=counted[2]))
