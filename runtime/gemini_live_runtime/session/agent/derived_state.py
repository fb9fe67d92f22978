"""Letting state settle: what changed is recomputed, watched and noticed over time, until nothing moves any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.user_code import UserCode
from gemini_live_runtime.state.computed import ComputedRegistry, ComputeFault
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.mutations import Changes, Origin
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.temporal import TemporalEvent, TemporalFault, TemporalFiring, TemporalRegistry
from gemini_live_runtime.state.watchers import Firing, NearMiss, WatcherRegistry, WatchFault

MAX_ROUNDS = 8
"""Rounds in which actions may set each other off before it is called a loop and broken."""


MAX_PER_S = 100
"""Times that one watcher or pattern may fire within a second."""


class FireRateCounter:
    """How often each watcher and pattern has fired within a second."""

    def __init__(self, lately: dict[str, tuple[float, int]] | None = None) -> None:
        self._lately = lately or {}

    def copy(self) -> FireRateCounter:
        """One that counts on by itself."""
        return FireRateCounter(dict(self._lately))

    def count(self, what: str, now: float) -> int:
        """It fires once more; how often it had in the second before."""
        began, count = self._lately.get(what, (now, 0))
        if now - began >= 1:
            began, count = now, 0
        self._lately[what] = (began, count + 1)
        return count


class SettleEngine:
    """Computed values, watchers and temporal patterns of one session. Everything `async` is a control-lane step."""

    def __init__(
        self,
        state: State,
        computed: ComputedRegistry,
        watchers: WatcherRegistry,
        temporal: TemporalRegistry,
        code: UserCode,
        *,
        emit: Callable[[ev.Payload], None],
        now: Callable[[], float],
        observed: Callable[[], None],
        about_to_act: Callable[[str, str, Explanation | None], Awaitable[None]],
    ) -> None:
        """`now` stands still while the agent is held; `observed` is told whenever patterns were shown something.

        `about_to_act` gets a watcher's or pattern's name, the key that set it off and the reason, and returns when it
        may act.
        """
        self.computed = computed
        self.watchers = watchers
        self.temporal = temporal
        self._state = state
        self._code = code
        self._emit = emit
        self._now = now
        self._shown = observed
        self._about_to_act = about_to_act
        self._changes = state.track()
        self.often = FireRateCounter()
        self._pattern_faults: Counter[str] = Counter()
        self.observed = frozenset((*computed.observed_keys, *watchers.observed_keys))
        """Keys whose change calls for settling."""

    def pending(self, state: State) -> Changes:
        """A record of changes of `state`, a copy of this one's, that begins with those that have not settled yet."""
        return state.track(self._changes)

    def replace(self, computed: ComputedRegistry, watchers: WatcherRegistry, temporal: TemporalRegistry) -> None:
        """Use these from now on. Nothing fires for what holds already; what nothing computes any more is removed."""
        gone = {item.name for item in self.computed.variables} - {item.name for item in computed.variables}
        self.computed, self.watchers, self.temporal = computed, watchers, temporal
        self._pattern_faults.clear()
        self.observed = frozenset((*computed.observed_keys, *watchers.observed_keys))
        for name in gone:
            self._state.remove_derived(name)
        self.begin()

    def begin(self) -> None:
        """Compute everything, and let watchers begin from how things stand."""
        self._faults(self.computed.recompute(self._state).faults)
        self._changes.take()
        for fault in self.watchers.prime(self._state):
            self._watcher_failed(fault)

    async def settle(self) -> None:
        """Recompute and run watchers until nothing changes."""
        if not len(self._changes):
            return
        for _ in range(MAX_ROUNDS):
            changed = self._changes.take()
            if not changed:
                return
            self._faults(self.computed.recompute_affected(self._state, changed).faults)
            changed |= self._changes.take()
            found = self.watchers.evaluate(changed, self._state)
            for fault in found.faults:
                self._watcher_failed(fault)
            if found.near_misses:
                self._emit(missed_event(found.near_misses))
            for firing in found.muted:
                self._emit(fired_event(firing, muted=True))
            for firing in found.fired:
                await self._fired(firing)
            await self.observe(TemporalEvent("state"))
        rest = self._changes.take()
        if rest:
            # Handing them on to the next time would go round for ever; what is computed stays in step all the same.
            self._faults(self.computed.recompute_affected(self._state, rest).faults)
            self._changes.take()
            text = f"Watchers set each other off {MAX_ROUNDS} times in a row; the last changes are not watched"
            self._emit(ev.Notice(level="warning", code="watchers", text=text, remedy="Let one of them write less"))

    def deadline(self) -> float | None:
        """Seconds until time alone may complete a pattern; None when it cannot."""
        return self.temporal.deadline(self._now())

    async def observe(self, event: TemporalEvent) -> None:
        """Let patterns see that something happened."""
        if not len(self.temporal):
            return
        found = self.temporal.observe(event, self._state, self._now())
        for fault in found.faults:
            self._pattern_failed(fault)
        for firing in found.fired:
            await self._pattern(firing)
        self._shown()

    async def fire(self, name: str, reason: str) -> None:
        """Run what a watcher does because the operator wants it. Raises `KeyError` for no such watcher."""
        firing = self.watchers.force(name, self._state, reason)
        self._emit(fired_event(firing))
        await self._act(firing, Origin("operator", "", reason))

    def _pattern_failed(self, fault: TemporalFault) -> None:
        # One that fails at everything fails at what that causes, too: times 1, 2, 4, 8 are told.
        name, place = fault.pattern.name, fault.pattern.defined_at
        self._pattern_faults[name] += 1
        times = self._pattern_faults[name]
        if not times & (times - 1):
            self._code.failed(f"pattern {name}", name, fault.error, defined_at=place, times=times)

    def _too_often(self, what: str) -> bool:
        count = self.often.count(what, self._now())
        if count == MAX_PER_S:
            text = (
                f"The {what} fired {MAX_PER_S} times in a second, as if it set itself off; it rests until that is over"
            )
            self._emit(ev.Notice(level="warning", code="watchers", text=text, remedy="Let it write something else"))
        return count >= MAX_PER_S

    async def _fired(self, firing: Firing) -> None:
        if self._too_often(f"watcher {firing.name}"):
            return
        await self._about_to_act(firing.name, firing.key, firing.explanation)
        if self.watchers.recount_if_muted(firing.name):
            # It was silenced while it stood there.
            self._emit(fired_event(firing, muted=True))
            return
        self._emit(fired_event(firing))
        await self._act(firing, Origin("watcher", firing.name, f"{firing.key} changed"))

    async def _act(self, firing: Firing, origin: Origin) -> None:
        watcher = firing.watcher
        where, place = f"watcher {firing.name}", watcher.defined_at
        if watcher.blocking:
            await self._code.run(where, watcher.then, self._state, firing.change, origin=origin, defined_at=place)
        else:
            self._code.spawn(where, watcher.then, self._state, firing.change, origin=origin, defined_at=place)

    async def _pattern(self, firing: TemporalFiring) -> None:
        pattern = firing.pattern
        if self._too_often(f"pattern {pattern.name}"):
            return
        await self._about_to_act(pattern.name, "", None)
        self._emit(ev.PatternFired(pattern=pattern.name, text=firing.explanation))
        origin = Origin("watcher", pattern.name, firing.explanation)
        where, place = f"pattern {pattern.name}", pattern.defined_at
        if pattern.blocking:
            await self._code.run(where, pattern.then, self._state, firing, origin=origin, defined_at=place)
        else:
            self._code.spawn(where, pattern.then, self._state, firing, origin=origin, defined_at=place)

    def _faults(self, faults: tuple[ComputeFault, ...]) -> None:
        for fault in faults:
            where, place = f"computed {fault.name}", fault.defined_at
            self._code.failed(where, fault.name, fault.error, fault.problem, defined_at=place)

    def _watcher_failed(self, fault: WatchFault) -> None:
        self._code.failed(f"watcher {fault.name}", fault.name, fault.error, defined_at=fault.watcher.defined_at)


def fired_event(firing: Firing, *, muted: bool = False) -> ev.WatcherFired:
    """What tells of a watcher that fires, or would if it were not muted."""
    return ev.WatcherFired(
        watcher=firing.name,
        key=firing.key,
        old=firing.old,
        new=firing.new,
        explanation=firing.explanation.to_json(),
        blocking=firing.watcher.blocking,
        muted=muted,
    )


def missed_event(misses: list[NearMiss]) -> ev.WatchersMissed:
    """What tells of watchers that came near."""
    return ev.WatchersMissed(misses=tuple(map(_as_json, misses)))


def _as_json(miss: NearMiss) -> dict[str, Any]:
    told = {"watcher": miss.name, "key": miss.key, "old": miss.old, "new": miss.new, "missing": miss.missing}
    return told if miss.share is None else {**told, "share": miss.share}
