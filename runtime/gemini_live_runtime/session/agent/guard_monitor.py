"""Publish guard status of the current phase when it has changed, rate-limited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.session.definition.key_writers import LIVE_KEYS
from gemini_live_runtime.state.computed import spellings
from gemini_live_runtime.state.guards import Guard

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.phase_machine import PhaseMachine
    from gemini_live_runtime.state.mutations import Mutation
    from gemini_live_runtime.state.store import State

DELAY_S = 0.005
"""Seconds from a change to the reading, which then covers what follows at once from the change."""

MIN_INTERVAL_S = 0.05
"""Seconds between two readings at least."""

MAX_TIME_SHARE = 0.02
"""Part of all time that reading may take: guards that are functions may be slow."""


class GuardMonitor:
    """Monitor of the guards and needs of the current phase.

    They are read when a key that they read has changed; guards that are functions after any change,
    since their keys are unknown.
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
        self._has_functions = False
        self._reads_time = False
        self._read_at = -MIN_INTERVAL_S
        self._read_s = 0.0
        """Seconds that functions of the author took in the last reading."""
        self._published: list[Any] = []
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def on_state_changes(self, mutations: Sequence[Mutation]) -> None:
        """Schedule a reading when a key changed that a guard or need reads."""
        if self._timer is None and (self._has_functions or self._reads(mutations)):
            self.schedule_refresh()

    def may_open(self, mutations: Sequence[Mutation]) -> bool:
        """Return True when a guard of the current phase names a changed key.

        A function names none.
        """
        machine = self._machine
        if not machine.entered:
            return False
        if self._phase != machine.current:
            self._collect_keys()
        return self._reads(mutations)

    def _reads(self, mutations: Sequence[Mutation]) -> bool:
        return not self._keys.isdisjoint([item.key for item in mutations])

    def on_turn_ended(self) -> None:
        """Schedule a reading when guards read keys that change with time."""
        if self._reads_time:
            self.schedule_refresh()

    def schedule_refresh(self) -> None:
        """Read soon; no-op when a reading is scheduled."""
        if self._timer is None and not self._closed:
            interval = max(MIN_INTERVAL_S, self._read_s / MAX_TIME_SHARE)
            wait = max(DELAY_S, self._read_at + interval - self._now())
            self._timer = self._loop.call_later(wait, self.refresh)

    def replace(self, machine: PhaseMachine) -> None:
        """Monitor the phases of `machine`."""
        self._machine, self._phase = machine, ""
        self.schedule_refresh()

    def refresh(self) -> None:
        """Read guards and needs now, and publish them when they have changed."""
        self._cancel()
        machine, state = self._machine, self._state
        if self._closed or not machine.entered:
            return
        self._read_at = self._now()
        if self._phase != machine.current:
            self._collect_keys()
        began = perf_counter()
        transitions, needs = [item.to_json() for item in machine.consider_transitions(state)], machine.needs(state)
        # Guards of our own cost next to nothing, and their pace must not depend on the machine's speed.
        self._read_s = perf_counter() - began if self._has_functions else 0.0
        if not same_value([machine.current, transitions, needs], self._published):
            self._published = [machine.current, transitions, needs]
            self._emit(ev.GuardsRead(phase=machine.current, ways=tuple(transitions), needs=tuple(needs)))

    def _collect_keys(self) -> None:
        """Collect the keys that the current phase depends on."""
        self._phase = self._machine.current
        guards = list(self._guards())
        phase = self._machine.current_phase
        needs = [*phase.needs, *(need for item in phase.transitions for need in self._machine.phases[item.to].requires)]
        keys = {key for guard in guards for key in guard.keys} | {need.key for need in needs}
        self._keys = frozenset(spelling for key in keys for spelling in spellings(key))
        self._has_functions = any(guard.has_function for guard in guards)
        self._reads_time = self._has_functions or not keys.isdisjoint(LIVE_KEYS)

    def _guards(self) -> Iterator[Guard]:
        for transition in self._machine.current_phase.transitions:
            yield transition.when
            target = self._machine.phases[transition.to].guard
            if target is not None:
                yield target

    def close(self) -> None:
        """Read no more."""
        self._closed = True
        self._cancel()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
