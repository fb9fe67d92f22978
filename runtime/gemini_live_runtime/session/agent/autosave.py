"""Save the session after each turn, and restore it when it begins.

A snapshot that cannot be read never stops the conversation: it begins anew, and the store keeps the old file.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import error_text, result_or_error
from gemini_live_runtime.conversation.transcript import TranscriptBuffer
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot
from gemini_live_runtime.session.persistence.stores import SnapshotSaver, in_store
from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
    from gemini_live_runtime.session.agent.steering_runner import SteeringRunner

LOAD_S = 10.0
"""Seconds that a saved session may take to be read before the conversation begins without it."""


class Autosave:
    """Saver of one session's snapshots, in order.

    Does nothing for an agent without persistence.
    """

    def __init__(self, agent: AgentContext, phases: PhaseRunner | None, steering: SteeringRunner) -> None:
        plan = agent.plan
        self._agent = agent
        self._phases = phases
        self._steering = steering
        self._store = plan.definition.persistence
        self._id = plan.definition.persistence_id or plan.name
        self._agent_name = plan.name
        self._saver = None if self._store is None else SnapshotSaver(self._store, self._report, self._on_saved)
        self._started = False

    async def restore(self) -> bool:
        """Restore the last snapshot; return True when its phase goes on."""
        if self._store is None:
            return False
        try:
            async with asyncio.timeout(LOAD_S):
                snapshot, error = await result_or_error(in_store(partial(self._store.load, self._id)))
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
        if snapshot is None:
            return False
        return self._take_up(snapshot)

    def _take_up(self, snapshot: SessionSnapshot) -> bool:
        agent = self._agent
        for problem in snapshot.restore_state(agent.state):
            self._warn(f"A kept value was left out: {problem}")
        if snapshot.transcript is not None:
            with self._usable("transcript"):
                agent.transcript = TranscriptBuffer.from_json(snapshot.transcript)
        agent.turn_count = snapshot.turn_count
        goes_on = self._phase_goes_on(snapshot)
        if goes_on and agent.needs is not None and snapshot.needs is not None:
            with self._usable("count of unfulfilled needs"):
                agent.needs.restore(snapshot.needs)
        resuming = bool(snapshot.handle)
        if resuming and snapshot.agent not in ("", self._agent_name):
            resuming = False
            self._warn(f"The kept session was {snapshot.agent}'s: its conversation with the model is not resumed")
        if resuming:
            agent.host.resume_with(snapshot.handle)
            if snapshot.steering is not None:
                with self._usable("context that the model knows"):
                    self._steering.restore(snapshot.steering)
        phase = self._phases.machine.current if self._phases is not None and goes_on else ""
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
        phases, probe = self._phases, self._agent.plan.make_machine()
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
        if self._saver is None:
            return
        agent = self._agent
        now = agent.clock.now()
        phases = self._phases
        try:
            snapshot = SessionSnapshot.take(
                agent.state,
                session_id=self._id,
                wall=agent.clock.wall(),
                agent=self._agent_name,
                phases=None if phases is None else phases.machine.to_json(now),
                needs=None if agent.needs is None else agent.needs.to_json(),
                transcript=redactor.value(agent.transcript.to_json()),
                steering=redactor.value(self._steering.to_json()),
                turn_count=agent.turn_count,
                handle=agent.host.resumption_handle,
            )
        except GeminiLiveError as error:
            self._report(error)
            return
        self._saver.save(snapshot)
        self._started = True

    def _on_saved(self, snapshot: SessionSnapshot) -> None:
        self._agent.emit(ev.SnapshotSaved(turns=snapshot.turn_count))

    async def close(self) -> None:
        """Write the last snapshot."""
        if self._saver is not None and (self._started or self._agent.ever_connected):
            self.save()
            await self._saver.flush()

    def _warn(self, text: str) -> None:
        self._agent.emit(ev.Notice(level="warning", code="snapshot", text=redactor.text(text)))

    def _report(self, error: GeminiLiveError) -> None:
        text, remedy = redactor.text(error.message), redactor.text(error.remedy)
        self._agent.emit(ev.Notice(level="warning", code="snapshot", text=text, remedy=remedy))
