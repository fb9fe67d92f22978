"""Publish changes of state, and queue the decision that a change calls for.

Writes may come from any thread. A write schedules `publish` on the session's loop; the event bus also calls it before
every other event, so that an event never comes before a write that preceded it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.session_keys import AT_ANY_TIME
from gemini_live_runtime.session.agent.settle_engine import SettleEngine, copy_for_event
from gemini_live_runtime.session.ports.event_bus import EventBus
from gemini_live_runtime.state.mutations import Mutation
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.values import MISSING

MOVERS = frozenset(("agent", "program", "operator", "watcher", "callback"))
"""Origins after whose writes transitions are evaluated at once, also during a turn."""

SETTLE_THEMSELVES = frozenset(("tool", "extractor", "phase", "computed", "restored", "initial"))
"""Origins whose own steps settle the state."""

ChangeHandler = Callable[[Sequence[Mutation]], None]


class StateEvents:
    """Publisher of one state's changes. Create it on the session's loop."""

    def __init__(self, state: State, bus: EventBus, settle: SettleEngine) -> None:
        self._state = state
        self._bus = bus
        self._settle = settle
        self.on_changes: list[ChangeHandler] = []
        """Called with the changes after they are published."""
        self.on_unsettled: Callable[[bool, Mutation], None] = _ignore
        """Called when changes call for a decision: True when transitions are to be evaluated, and the last change."""
        self.may_open: Callable[[Sequence[Mutation]], bool] = _opens_nothing
        """Called between turns: True when a guard of the phase names a changed key."""
        self.is_in_turn: Callable[[], bool] = _always
        """Return True while a turn goes on, at whose end transitions are evaluated anyway."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        bus.publish_state = self.publish
        state.on_mutations(self._schedule)

    def _schedule(self) -> None:
        # Called by the writer, perhaps in a thread, while the state is locked.
        try:
            if threading.get_ident() == self._thread:
                self._loop.call_soon(self.publish)
            else:
                self._loop.call_soon_threadsafe(self.publish)
        except RuntimeError:  # the loop has ended
            pass

    def publish(self) -> None:
        """Publish the changes that wait."""
        mutations = self._state.take_mutations()
        if not mutations:
            return
        for mutation in mutations:
            self._bus.emit(_changed(mutation))
        for handler in self.on_changes:
            try:
                handler(mutations)
            except Exception as error:
                # The mutations are taken: the decision that they call for must be queued all the same.
                self._bus.report("changes of state", error)
        by_mover = is_observed = is_noted = False
        observed = self._settle.observed
        for mutation in mutations:
            key, kind = mutation.key, mutation.origin.kind
            if kind in MOVERS:
                by_mover = True
            elif kind == "signal" and key in AT_ANY_TIME:
                is_noted = True
            if key in observed and kind not in SETTLE_THEMSELVES:
                is_observed = True
        between_turns = is_noted and not self.is_in_turn()
        if by_mover or is_observed or (between_turns and self.may_open(mutations)):
            self.on_unsettled(by_mover or between_turns, mutations[-1])


def _changed(mutation: Mutation) -> ev.StateChanged:
    added, removed = mutation.old is MISSING, mutation.new is MISSING
    return ev.StateChanged(
        key=mutation.key,
        # Copies: whoever reads the event must not change the state.
        old=None if added else copy_for_event(mutation.old),
        new=None if removed else copy_for_event(mutation.new),
        mutation=mutation.sequence,
        origin=mutation.origin.kind,
        by=mutation.origin.name,
        reason=mutation.origin.reason,
        added=added,
        removed=removed,
    )


def _opens_nothing(mutations: Sequence[Mutation]) -> bool:
    return False


def _always() -> bool:
    return True


def _ignore(by_mover: bool, change: Mutation) -> None:
    return None
