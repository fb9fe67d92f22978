"""Recompute, watch and match patterns until state no longer changes.

One engine serves the session and its previews: a session's engine runs the author's actions through `UserCode`, a
preview's engine works on copies and records what would run. `settle` goes round:

1. Recompute what depends on the keys that changed.
2. Evaluate the watchers of those keys; each that fires passes its checkpoint, is published, then acts.
3. Show the temporal patterns that state changed; they fire the same way.

What an action writes is the next round's change. `MAX_ROUNDS` bounds rounds that set each other off, `MAX_PER_S` bounds
a watcher or pattern that sets itself off from one event to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.files.large_values import is_huge
from gemini_live_runtime.restarts import is_reported
from gemini_live_runtime.session.agent.user_code import CodeRunner
from gemini_live_runtime.state.computed import ComputedRegistry, ComputeFault
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.mutations import Changes, Origin
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.temporal import TemporalEvent, TemporalFault, TemporalFiring, TemporalRegistry
from gemini_live_runtime.state.values import copy_value
from gemini_live_runtime.state.watchers import Firing, NearMiss, WatcherRegistry, WatchFault

MAX_ROUNDS = 8
"""Rounds in which actions may set each other off before the loop is broken."""

MAX_PER_S = 100
"""Times that one watcher or pattern may fire within a second."""

TELL_AGAIN_S = 60.0
"""Seconds between two reports that watchers set each other off."""

_STATE_CHANGED = TemporalEvent("state")

BeforeAction = Callable[[str, str, Explanation | None], Awaitable[None]]


class FireRateCounter:
    """Count how often each watcher and pattern has fired within a second."""

    def __init__(self, windows: dict[str, tuple[float, int]] | None = None) -> None:
        self._windows = windows or {}

    def copy(self) -> FireRateCounter:
        """Return an independent copy."""
        return FireRateCounter(dict(self._windows))

    def count(self, what: str, now: float) -> int:
        """Count one more firing; return how many the same second had before it."""
        began, count = self._windows.get(what, (now, 0))
        if now - began >= 1:
            began, count = now, 0
        self._windows[what] = (began, count + 1)
        return count


class SettleEngine:
    """Computed values, watchers and temporal patterns of one state.

    Its coroutines are steps of the task queue.
    """

    def __init__(
        self,
        state: State,
        computed: ComputedRegistry,
        watchers: WatcherRegistry,
        temporal: TemporalRegistry,
        *,
        code: CodeRunner,
        emit: Callable[[ev.Payload], None],
        now: Callable[[], float],
        before_action: BeforeAction,
        changes: Changes | None = None,
        fire_rates: FireRateCounter | None = None,
    ) -> None:
        """`before_action` returns when a watcher or pattern may act.

        `now` stands still while the agent is held.

        `before_action` gets its name, the key that set it off ("" for a pattern) and the explanation.
        """
        self.computed = computed
        self.watchers = watchers
        self.temporal = temporal
        self.on_patterns_shown: Callable[[], None] = _do_nothing
        """Called whenever patterns were shown something."""
        self.fire_rates = fire_rates or FireRateCounter()
        self._state = state
        self._code = code
        self._emit = emit
        self._now = now
        self._before_action = before_action
        self._changes = changes or state.track()
        self._pattern_faults: Counter[str] = Counter()
        self._tell_circle_from = float("-inf")
        self._observe()

    def copy(
        self,
        state: State,
        *,
        code: CodeRunner,
        emit: Callable[[ev.Payload], None],
        now: float,
        before_action: BeforeAction,
    ) -> SettleEngine:
        """Return an engine at one moment over `state`, a copy of this engine's.

        It begins with the same unsettled changes.
        """
        temporal, faults = self.temporal.copy()
        engine = SettleEngine(
            state,
            self.computed.copy(),
            self.watchers.copy(),
            temporal,
            code=code,
            emit=emit,
            now=lambda: now,
            before_action=before_action,
            changes=state.track(self._changes),
            fire_rates=self.fire_rates.copy(),
        )
        for fault in faults:
            engine._pattern_failed(fault)
        return engine

    @property
    def is_plain(self) -> bool:
        """True when no function of the agent's author decides anything here."""
        return all(part.is_declarative for part in (self.computed, self.watchers, self.temporal))

    def replace(self, computed: ComputedRegistry, watchers: WatcherRegistry, temporal: TemporalRegistry) -> None:
        """Use these from now on.

        Conditions that hold already do not fire; values no longer computed are removed.
        """
        gone = {item.name for item in self.computed.variables} - {item.name for item in computed.variables}
        self.computed, self.watchers, self.temporal = computed, watchers, temporal
        self._pattern_faults.clear()
        self._observe()
        for name in gone:
            self._state.remove_derived(name)
        self.begin()

    def _observe(self) -> None:
        self.has_patterns = bool(len(self.temporal))
        self.observed = frozenset((*self.computed.observed_keys, *self.watchers.observed_keys))
        """Keys whose change calls for settling."""
        self._observes_all = self.has_patterns or self.watchers.observes_all

    def begin(self) -> None:
        """Compute everything, and take the present values as the watchers' first."""
        self._report(self.computed.recompute(self._state).faults)
        self._changes.take()
        for fault in self.watchers.prime(self._state):
            self._watcher_failed(fault)

    async def settle(self) -> None:
        """Recompute and run watchers and patterns until nothing changes."""
        if not self._changes.old_values:
            return
        for _ in range(MAX_ROUNDS):
            changed = self._changes.take()
            if not changed:
                return
            if not self._observes_all and self.observed.isdisjoint(changed):
                continue
            self._report(self.computed.recompute_affected(self._state, changed).faults)
            changed |= self._changes.take()
            found = self.watchers.evaluate(changed, self._state)
            for fault in found.faults:
                self._watcher_failed(fault)
            if found.near_misses:
                self._emit(_missed_event(found.near_misses, self._state))
            for firing in found.muted:
                self._emit(_fired_event(firing, firing.explain(self._state), muted=True))
            # All of them before the first action, which may change what decided the others.
            explained = [(firing, firing.explain(self._state)) for firing in found.fired]
            for firing, explanation in explained:
                await self._fire(firing, explanation)
            await self.observe(_STATE_CHANGED)
        rest = self._changes.take()
        if rest:
            # Leaving them to the next time would go round without end; computed values stay in step all the same.
            self._report(self.computed.recompute_affected(self._state, rest).faults)
            self._changes.take()
            self._report_circle()

    def _report_circle(self) -> None:
        """Tell that watchers set each other off, once a minute."""
        now = self._now()
        if now >= self._tell_circle_from:
            self._tell_circle_from = now + TELL_AGAIN_S
            text = f"Watchers set each other off {MAX_ROUNDS} times in a row; the last changes are not watched"
            self._emit(ev.Notice(level="warning", code="watchers", text=text, remedy="Let one of them write less"))

    def deadline(self) -> float | None:
        """Return seconds until time alone may complete a pattern, or None."""
        return self.temporal.deadline(self._now()) if self.has_patterns else None

    async def observe(self, event: TemporalEvent) -> None:
        """Show patterns what happened."""
        if not self.has_patterns:
            return
        found = self.temporal.observe(event, self._state, self._now())
        for fault in found.faults:
            self._pattern_failed(fault)
        for firing in found.fired:
            await self._fire_pattern(firing)
        self.on_patterns_shown()

    async def force(self, name: str, reason: str) -> None:
        """Run a watcher's action because the operator asks for it.

        Raises `KeyError` for an unknown watcher.
        """
        firing = self.watchers.force(name, self._state, reason)
        self._emit(_fired_event(firing, firing.explain(self._state)))
        await self._act(firing, Origin("operator", "", reason))

    def _is_too_often(self, what: str) -> bool:
        count = self.fire_rates.count(what, self._now())
        if count == MAX_PER_S:
            text = f"The {what} fired {MAX_PER_S} times in a second, as if it set itself off; it rests for that second"
            self._emit(ev.Notice(level="warning", code="watchers", text=text, remedy="Let it write something else"))
        return count >= MAX_PER_S

    async def _fire(self, firing: Firing, explanation: Explanation) -> None:
        if self._is_too_often(f"watcher {firing.name}"):
            return
        await self._before_action(firing.name, firing.key, explanation)
        if self.watchers.recount_if_muted(firing.name):
            # The operator muted it while the agent was held here.
            self._emit(_fired_event(firing, explanation, muted=True))
            return
        self._emit(_fired_event(firing, explanation))
        await self._act(firing, Origin("watcher", firing.name, f"{firing.key} changed"))

    async def _act(self, firing: Firing, origin: Origin) -> None:
        watcher = firing.watcher
        where, place = f"watcher {firing.name}", watcher.defined_at
        if watcher.blocking:
            await self._code.run(where, watcher.then, self._state, firing.change, origin=origin, defined_at=place)
        else:
            self._code.spawn(where, watcher.then, self._state, firing.change, origin=origin, defined_at=place)

    async def _fire_pattern(self, firing: TemporalFiring) -> None:
        pattern = firing.pattern
        where, place = f"pattern {pattern.name}", pattern.defined_at
        if self._is_too_often(where):
            return
        await self._before_action(pattern.name, "", None)
        self._emit(ev.PatternFired(pattern=pattern.name, text=firing.explanation))
        origin = Origin("watcher", pattern.name, firing.explanation)
        if pattern.blocking:
            await self._code.run(where, pattern.then, self._state, firing, origin=origin, defined_at=place)
        else:
            self._code.spawn(where, pattern.then, self._state, firing, origin=origin, defined_at=place)

    def _report(self, faults: tuple[ComputeFault, ...]) -> None:
        for fault in faults:
            where, place = f"computed {fault.name}", fault.defined_at
            self._code.failed(where, fault.name, fault.error, fault.problem, defined_at=place)

    def _watcher_failed(self, fault: WatchFault) -> None:
        self._code.failed(f"watcher {fault.name}", fault.name, fault.error, defined_at=fault.watcher.defined_at)

    def _pattern_failed(self, fault: TemporalFault) -> None:
        name, place = fault.pattern.name, fault.pattern.defined_at
        self._pattern_faults[name] += 1
        times = self._pattern_faults[name]
        if is_reported(times):
            self._code.failed(f"pattern {name}", name, fault.error, defined_at=place, times=times)


def copy_for_event(value: Any) -> Any:
    """Return a copy of a value, which no reader of its event can change.

    A huge one, whose copy takes seconds, is returned itself: the sink of events replaces it by a note.
    """
    return value if is_huge(value) else copy_value(value)


def _fired_event(firing: Firing, explanation: Explanation, *, muted: bool = False) -> ev.WatcherFired:
    return ev.WatcherFired(
        watcher=firing.name,
        key=firing.key,
        # Copies: an action may change the values that it gets.
        old=copy_for_event(firing.old),
        new=copy_for_event(firing.new),
        explanation=explanation.to_json(),
        blocking=firing.watcher.blocking,
        muted=muted,
    )


def _missed_event(misses: list[NearMiss], state: State) -> ev.WatchersMissed:
    return ev.WatchersMissed(misses=tuple([_as_json(miss, state) for miss in misses]))


def _as_json(miss: NearMiss, state: State) -> dict[str, Any]:
    found = {
        "watcher": miss.name,
        "key": miss.key,
        "old": copy_for_event(miss.old),
        "new": copy_for_event(miss.new),
        "missing": miss.missing(state),
    }
    share = miss.share(state)
    if share is not None:
        found["share"] = share
    return found


def _do_nothing() -> None:
    return None
