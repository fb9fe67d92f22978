"""Save the session, and restore it when it begins.

There are two stores. The agent's, if it declares one, gets a snapshot after each turn, and the next session of this
agent begins with it. The session's own, beside its recording, also gets one when a phase, a tool's result or a handle
came; should the engine die, another one goes on from there. What the recording has after that snapshot is added to it.

A snapshot that cannot be read never stops the conversation: it begins anew, and the store keeps the old file.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import error_text, result_or_error
from gemini_live_runtime.conversation.transcript import TranscriptBuffer
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.persistence.later_events import TranscriptReplay, waiting_handoff, with_later_events
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot
from gemini_live_runtime.session.persistence.stores import SessionPersistence, SnapshotSaver, in_store
from gemini_live_runtime.state.store import State
from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    from gemini_live_runtime.journal.recording.kept_journal import KeptJournal
    from gemini_live_runtime.session.agent.awaited_tasks import SpokenBefore
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.steering.steering_runner import SteeringRunner

LOAD_S = 10.0
"""Seconds that a saved session may take to be read before the conversation begins without it."""


@record
class OwnStore:
    """Store of the snapshots of one session, for an engine that goes on with it.

    `kept` is what an earlier engine has recorded; None for the first.
    """

    store: SessionPersistence
    session_id: str
    kept: KeptJournal | None = None
    keeps_handle: bool = True
    """False for a server that dies with its engine, and knows no handle then."""


class Autosave:
    """Saver of one session's snapshots, in order.

    Does nothing for a session that is not recorded, of an agent without persistence.
    """

    def __init__(self, agent: AgentContext, steering: SteeringRunner, own: OwnStore | None = None) -> None:
        plan = agent.plan
        self._agent = agent
        self._steering = steering
        self._store = plan.definition.persistence
        self._id = plan.definition.persistence_id or plan.name
        self._first_agent = plan.name
        self.take_over: Callable[[str], bool] = _has_no_other
        """Puts the agent of this name in place; returns False when the session's agent does not know it."""
        self.request_handoff: Callable[[ev.HandoffRequested], None] = _request_none
        """Asks again for a hand-off that waited when the engine before died."""
        self._waiting_handoff: ev.HandoffRequested | None = None
        self.on_recorded: Callable[[Sequence[ev.Event]], None] = _ignore_recorded
        """Called with all events of the engine before, which has died."""
        self.first_paused: Callable[[], SpokenBefore | None] = _no_agent
        """Returns the agent that goes on after all tasks that are awaited; None without one."""
        self._saver: SnapshotSaver | None = None
        if self._store is not None:
            self._saver = SnapshotSaver(self._store, self._report, self._on_saved, self._look_for_others)
        self._started = False
        self._stored_at: str | None = None
        """Time of the snapshot that the store has if no other session saved one; None when unknown."""
        self._looks_for_others = True
        self._own = own
        self._own_saver = None if own is None else SnapshotSaver(own.store, self._report)
        self._soon: asyncio.Handle | None = None
        if own is not None:
            agent.bus.subscribe(self._on_connected, ev.ConnectionReady)
            agent.bus.subscribe(self._save_soon, ev.ConnectionResumable, ev.PhaseEntered, ev.ToolFinished)

    async def restore(self) -> bool:
        """Restore the last snapshot; return True when its phase goes on."""
        if self._own is not None and self._own.kept is not None:
            return await self._go_on(self._own, self._own.kept)
        if self._store is None:
            return False
        try:
            snapshot, error = await _load(self._store, self._id)
        except TimeoutError as late:
            snapshot, error = None, late
        if not (error or snapshot is None or isinstance(snapshot, SessionSnapshot)):
            error = TypeError(f"the store gave a {type(snapshot).__name__}, not a SessionSnapshot")
        if isinstance(error, GeminiLiveError):
            # The store keeps what it cannot read: saving moves a damaged file aside and leaves a newer one alone.
            self._report(error)
            return False
        if error is not None:
            # What is stored may be fine: a session that has just begun must not replace it.
            self._saver = None
            what = sanitise_line(error_text(error), 200)
            if isinstance(error, TimeoutError) and not str(error):
                what = f"it took longer than {LOAD_S:g} s"
            self._warn(f"The kept session cannot be read ({what}); this one begins anew and is not saved")
            return False
        self._stored_at = "" if snapshot is None else snapshot.saved_at
        return snapshot is not None and self._take_up(snapshot)

    async def _go_on(self, own: OwnStore, kept: KeptJournal) -> bool:
        """Restore what the engine before had, to its last recorded event."""
        agent = self._agent
        try:
            snapshot, error = await _load(own.store, own.session_id)
        except TimeoutError as late:
            snapshot, error = None, late
        if error is not None:
            self._warn(f"The session goes on from its recording alone: {sanitise_line(error_text(error), 200)}")
        if not isinstance(snapshot, SessionSnapshot):
            snapshot = SessionSnapshot.take(State(), session_id=own.session_id, wall=agent.clock.wall())
        if not own.keeps_handle:
            snapshot = replace(snapshot, handle="")
        agent.ever_connected = kept.work.turn > 0
        agent.host.note_handle_turn(snapshot.handle_turn)
        snapshot = replace(snapshot, turn_count=kept.view.turns_completed)
        recorded, kept.events = kept.events, []  # thousands, which nobody needs any more
        self._waiting_handoff = waiting_handoff(recorded)
        self.on_recorded(recorded)
        later = [event for event in recorded if event.seq > snapshot.seq]
        return self._take_up(with_later_events(snapshot, later, kept.view.t), recorded)

    def _take_up(self, snapshot: SessionSnapshot, recorded: Sequence[ev.Event] | None = None) -> bool:
        """Restore a snapshot; return True when its phase goes on.

        `recorded` are the events of the same session, when it is that which goes on.
        """
        agent = self._agent
        others = snapshot.agent not in ("", agent.plan.name)
        if others and self.take_over(snapshot.agent):
            others = False
        for problem in snapshot.restore_state(agent.state):
            self._warn(f"A kept value was left out: {problem}")
        if snapshot.transcript is not None:
            with self._usable("transcript"):
                agent.transcript = TranscriptBuffer.from_json(snapshot.transcript, same_session=recorded is not None)
        replay = TranscriptReplay(agent.transcript, snapshot)
        replay.add_all(recorded or ())
        agent.told_from = replay.told_from
        # A new recording begins with the session's first agent.
        spoke = self._first_agent if recorded is None else _last_agent(recorded, self._first_agent)
        if spoke != agent.plan.name:
            agent.emit(ev.AgentHandedOff(previous=spoke, agent=agent.plan.name, by="restored"))
        agent.turn_count = snapshot.turn_count
        goes_on = self._phase_goes_on(snapshot)
        if goes_on and agent.needs is not None and snapshot.needs is not None:
            with self._usable("count of unfulfilled needs"):
                agent.needs.restore(snapshot.needs)
        resuming = bool(snapshot.handle)
        if resuming and others:
            resuming = False
            self._warn(f"The kept session was {snapshot.agent}'s: its conversation with the model is not resumed")
        if resuming:
            agent.host.resume_with(snapshot.handle)
            if snapshot.steering is not None:
                with self._usable("context that the model knows"):
                    self._steering.restore(snapshot.steering)
        phase = self._agent.phases.machine.current if self._agent.phases is not None and goes_on else ""
        if recorded is None:
            agent.emit(
                ev.SnapshotRestored(
                    saved_at=snapshot.saved_at,
                    keys=len(snapshot.state),
                    phase=phase,
                    turns=snapshot.turn_count,
                    resuming=resuming,
                )
            )
        return goes_on

    def _phase_goes_on(self, snapshot: SessionSnapshot) -> bool:
        phases, probe = self._agent.phases, self._agent.plan.make_machine()
        if phases is None or probe is None or snapshot.phases is None:
            return False
        now = self._agent.clock.now()
        record = None
        with self._usable("phase"):
            # Tried on another machine first: an unusable record may leave it half restored.
            probe.restore(snapshot.phases, now)
            record = phases.machine.restore(snapshot.phases, now)
        if record is None:
            return False
        phases.on_restored(record)
        return True

    @contextlib.contextmanager
    def _usable(self, what: str) -> Iterator[None]:
        """Report a part that cannot be used: another version may have written it."""
        try:
            yield
        except GeminiLiveError as error:
            self._report(error)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._warn(f"The kept {what} was left out: {sanitise_line(error_text(error), 200)}")

    def save(self) -> None:
        """Save the session as it is now."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        if self._saver is None and self._own_saver is None:
            return
        snapshot = self._take()
        if snapshot is None:
            return
        if self._saver is not None:
            self._saver.save(snapshot)
            self._started = True
        self._save_own(snapshot)

    def _save_own(self, snapshot: SessionSnapshot) -> None:
        if self._own is not None and self._own_saver is not None:
            # With the end of the session its connection ends for good: the handle is kept no longer.
            handle = "" if self._agent.closed else snapshot.handle
            self._own_saver.save(replace(snapshot, session_id=self._own.session_id, handle=handle))

    def _save_soon(self, event: ev.Event) -> None:
        # Handlers of the same event, and further events of this step, may belong to it.
        if self._soon is None and not self._agent.closed:
            self._soon = asyncio.get_running_loop().call_soon(self._save_now)

    def _save_now(self) -> None:
        self._soon = None
        self._agent.bus.publish_state()
        if not self._agent.closed and (snapshot := self._take()) is not None:
            self._save_own(snapshot)

    def _on_connected(self, event: ev.Event) -> None:
        waiting, self._waiting_handoff = self._waiting_handoff, None
        if waiting is not None:
            self.request_handoff(waiting)

    def _take(self) -> SessionSnapshot | None:
        agent = self._agent
        now = agent.clock.now()
        paused = self.first_paused()
        phases: Mapping[str, Any] | None = None
        if paused is not None:
            # Nobody awaits the task in a later session: the agent that waits for it goes on there.
            phases = paused.phases
        elif agent.phases is not None:
            phases = agent.phases.machine.to_json(now)
        try:
            return SessionSnapshot.take(
                agent.state,
                session_id=self._id,
                wall=agent.clock.wall(),
                agent=agent.plan.name if paused is None else paused.plan.name,
                phases=phases,
                needs=None if agent.needs is None or paused is not None else agent.needs.to_json(),
                transcript=redactor.value(agent.transcript.to_json()),
                steering=redactor.value(self._steering.to_json()) if paused is None else None,
                turn_count=agent.turn_count,
                handle=agent.host.resumption_handle if paused is None else "",
                handle_turn=agent.host.known_turn,
                told_from=agent.told_from,
                seq=agent.bus.seq,
            )
        except GeminiLiveError as error:
            self._report(error)
            return None

    async def _look_for_others(self) -> None:
        """Warn, at the first and last save, when another session saved with this id."""
        if self._store is None or not self._looks_for_others:
            return
        self._looks_for_others = False
        try:
            snapshot, _ = await _load(self._store, self._id)
        except TimeoutError:
            return
        if self._stored_at is None or not isinstance(snapshot, SessionSnapshot):
            return
        if snapshot.saved_at != self._stored_at:
            name = redactor.text(sanitise_line(self._id, 80))
            self._agent.emit(
                ev.Notice(
                    level="warning",
                    code="snapshot",
                    text=f"Another session has saved as {name} since this one began; the last one to save is kept",
                    remedy="Give each session an id of its own: persistence(store, session=...)",
                )
            )

    def _on_saved(self, snapshot: SessionSnapshot) -> None:
        self._stored_at = snapshot.saved_at
        self._agent.emit(ev.SnapshotSaved(turns=snapshot.turn_count))

    async def close(self) -> None:
        """Write the last snapshot."""
        if self._saver is not None and not (self._started or self._agent.ever_connected):
            # Nothing was said: what an earlier session has saved stays.
            self._saver = None
        self._looks_for_others = True
        self.save()
        for saver in (self._saver, self._own_saver):
            if saver is not None:
                await saver.flush()

    def _warn(self, text: str) -> None:
        self._agent.emit(ev.Notice(level="warning", code="snapshot", text=redactor.text(text)))

    def _report(self, error: GeminiLiveError) -> None:
        text, remedy = redactor.text(error.message), redactor.text(error.remedy)
        self._agent.emit(ev.Notice(level="warning", code="snapshot", text=text, remedy=remedy))


def _ignore_recorded(recorded: Sequence[ev.Event]) -> None:
    """Do nothing."""


def _request_none(asked: ev.HandoffRequested) -> None:
    return None


def _has_no_other(name: str) -> bool:
    return False


def _last_agent(recorded: Sequence[ev.Event], first: str) -> str:
    """Return the name of the agent that spoke last, a task among them."""
    handed = (event.payload for event in reversed(recorded) if isinstance(event.payload, ev.AgentHandedOff))
    last = next(handed, None)
    return first if last is None else last.agent


def _no_agent() -> SpokenBefore | None:
    return None


async def _load(store: SessionPersistence, session_id: str) -> tuple[Any, BaseException | None]:
    """Return what a store has and the error that it raised; raise `TimeoutError`."""
    async with asyncio.timeout(LOAD_S):
        return await result_or_error(in_store(partial(store.load, session_id)))
