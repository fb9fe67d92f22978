"""How the ways out of the current phase stand, told whenever that has changed and never in the conversation's way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.session.agent.session_keys import LIVE_KEYS
from gemini_live_runtime.state.computed import spellings
from gemini_live_runtime.state.guards import Guard

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.phase_machine import PhaseMachine
    from gemini_live_runtime.state.mutations import Mutation
    from gemini_live_runtime.state.store import State

SOON_S = 0.005
"""Seconds from a change to the reading: what follows at once from the change is read along with it."""

AT_MOST_EVERY_S = 0.05
"""Seconds between two readings, however fast the state changes."""

AT_MOST_OF_TIME = 0.02
"""The part of all time that reading may take: guards that are functions may be slow."""


class GuardMonitor:
    """Reads the guards and needs of the current phase when a key that they read has changed.

    A guard that is a function is read after any change: nobody knows what it reads.
    """

    def __init__(
        self, machine: PhaseMachine, state: State, *, emit: Callable[[ev.Payload], None], now: Callable[[], float]
    ) -> None:
        self._machine = machine
        self._state = state
        self._emit = emit
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._phase = ""
        self._keys: frozenset[str] = frozenset()
        self._any = False
        self._live = False
        self._read_at = -AT_MOST_EVERY_S
        self._took = 0.0
        """Seconds that functions of the author's took the last time."""
        self._told: list[Any] = []
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def heard(self, mutations: Iterable[Mutation]) -> None:
        """These changes were made."""
        if self._timer is None and (self._any or not self._keys.isdisjoint([item.key for item in mutations])):
            self.stale()

    def turn_ended(self) -> None:
        """Time has passed, which some guards read."""
        if self._live:
            self.stale()

    def stale(self) -> None:
        """What was read last may no longer be so."""
        if self._timer is None and not self._closed:
            wait = max(SOON_S, self._read_at + max(AT_MOST_EVERY_S, self._took / AT_MOST_OF_TIME) - self._now())
            self._timer = self._loop.call_later(wait, self.read)

    def replace(self, machine: PhaseMachine) -> None:
        """The phases are others from now on."""
        self._machine, self._phase = machine, ""
        self.stale()

    def read(self) -> None:
        """Look now; nothing is told when all is as it was."""
        self._stop()
        machine, state = self._machine, self._state
        if self._closed or not machine.entered:
            return
        self._read_at = self._now()
        if self._phase != machine.current:
            self._look_out()
        began = perf_counter()
        ways, needs = [way.to_json() for way in machine.consider_transitions(state)], machine.needs(state)
        # What only the runtime decides takes no time to speak of, and must not depend on the machine.
        self._took = perf_counter() - began if self._any else 0.0
        if not same_value([machine.current, ways, needs], self._told):
            self._told = [machine.current, ways, needs]
            self._emit(ev.GuardsRead(phase=machine.current, ways=tuple(ways), needs=tuple(needs)))

    def _look_out(self) -> None:
        """Find out which keys the current phase depends on."""
        self._phase = self._machine.current
        guards = list(self._guards())
        phase = self._machine.current_phase
        needs = [*phase.needs, *(need for way in phase.transitions for need in self._machine.phases[way.to].requires)]
        keys = {key for guard in guards for key in guard.keys} | {need.key for need in needs}
        self._keys = frozenset(spelling for key in keys for spelling in spellings(key))
        self._any = any(guard.has_function for guard in guards)
        self._live = self._any or not keys.isdisjoint(LIVE_KEYS)

    def _guards(self) -> Iterator[Guard]:
        for way in self._machine.current_phase.transitions:
            yield way.when
            target = self._machine.phases[way.to].guard
            if target is not None:
                yield target

    def close(self) -> None:
        """Nobody looks any more."""
        self._closed = True
        self._stop()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
