"""State becomes events: every change is told in order, and what it calls for is put on the control lane."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence

from gemini_live_runtime import events as ev
from gemini_live_runtime.state.mutations import Mutation
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.values import MISSING

MOVERS = frozenset(("agent", "program", "operator", "watcher", "callback"))
"""Writers after whom the phases are asked again at once."""

OWN_MOMENT = frozenset(("tool", "extractor", "phase", "computed", "restored", "initial"))
"""Writers whose steps let state settle by themselves."""


class StateEvents:
    """Tells the changes of one state. Make it on the session's loop."""

    def __init__(
        self,
        state: State,
        *,
        emit: Callable[[ev.Payload], None],
        observed: frozenset[str],
        heard: Callable[[Sequence[Mutation]], None],
        unsettled: Callable[[bool], None],
    ) -> None:
        """`heard` gets changes once they are told; `unsettled(may_move)` is called when one calls for a decision.

        `observed` are the keys whose change calls for settling.
        """
        self._state = state
        self._emit = emit
        self.observed = observed
        """Keys whose change calls for settling."""
        self._heard = heard
        self._unsettled = unsettled
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.settling = False
        """Whether a decision was called for and has not begun."""
        state.on_mutations(self._waits)

    def _waits(self) -> None:
        # Called by whoever wrote, perhaps in a thread, with the state locked.
        with contextlib.suppress(RuntimeError):  # the loop has ended
            if threading.get_ident() == self._thread:
                self._loop.call_soon(self.publish)
            else:
                self._loop.call_soon_threadsafe(self.publish)

    def publish(self) -> None:
        """Make events of the changes that wait. Called before any other event is made, so that order is kept."""
        mutations = self._state.take_mutations()
        if not mutations:
            return
        for mutation in mutations:
            self._emit(_changed(mutation))
        self._heard(mutations)
        moving = any(mutation.origin.kind in MOVERS for mutation in mutations)
        observed = any(
            mutation.key in self.observed for mutation in mutations if mutation.origin.kind not in OWN_MOMENT
        )
        if (moving or observed) and not self.settling:
            self.settling = True
            self._unsettled(moving)


def _changed(mutation: Mutation) -> ev.StateChanged:
    added, removed = mutation.old is MISSING, mutation.new is MISSING
    return ev.StateChanged(
        key=mutation.key,
        old=None if added else mutation.old,
        new=None if removed else mutation.new,
        mutation=mutation.sequence,
        origin=mutation.origin.kind,
        by=mutation.origin.name,
        reason=mutation.origin.reason,
        added=added,
        removed=removed,
    )
