"""Keeping a session so that it can be taken up again, and taking it up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.transcript import TranscriptBuffer
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot
from gemini_live_runtime.session.persistence.stores import SnapshotSaver
from gemini_live_runtime.text import redactor, sanitise_line

if TYPE_CHECKING:
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.session.orchestrator import Orchestrator


LOAD_S = 10.0
"""Seconds that a kept session may take to be read before the conversation begins without it."""


class Autosave:
    """Saves snapshots after each turn and at the end, in order; does nothing for an agent without persistence."""

    def __init__(self, plan: SessionPlan, mind: Orchestrator) -> None:
        self._mind = mind
        self._plan = plan
        self._store = plan.definition.persistence
        self._id = plan.definition.persistence_id or plan.name
        self._agent = plan.name
        self._saver = None if self._store is None else SnapshotSaver(self._store, self._report, self._saved)
        self._started = False

    async def restore(self) -> bool:
        """Take up the last snapshot; whether its phase goes on. One that cannot be read is told and left alone."""
        if self._store is None:
            return False
        try:
            async with asyncio.timeout(LOAD_S):
                snapshot = await self._store.load(self._id)
        except GeminiLiveError as error:
            # The store keeps what it cannot read: saving puts a damaged file aside and leaves a newer one alone.
            self._report(error)
            return False
        except (Exception, SystemExit) as error:
            # What is kept there may be fine: it must not be replaced by a session that has just begun.
            self._saver = None
            what = f"{type(error).__name__}: {sanitise_line(str(error), 200)}"
            if isinstance(error, TimeoutError) and not str(error):
                what = f"it took longer than {LOAD_S:g} s"
            self._told(f"The kept session cannot be read ({what}); this one begins anew and is not saved")
            return False
        if snapshot is None:
            return False
        return self._take_up(snapshot)

    def _take_up(self, snapshot: SessionSnapshot) -> bool:
        mind = self._mind
        for problem in snapshot.restore_state(mind.state):
            self._told(f"A kept value was left out: {problem}")
        if snapshot.transcript is not None:
            with self._usable("transcript"):
                mind.transcript = TranscriptBuffer.from_json(snapshot.transcript)
        mind.turn_count = snapshot.turn_count
        goes_on = self._phase_goes_on(snapshot)
        if goes_on and mind.needs is not None and snapshot.needs is not None:
            with self._usable("count of unfulfilled needs"):
                mind.needs.restore(snapshot.needs)
        resuming = bool(snapshot.handle)
        if resuming and snapshot.agent not in ("", self._agent):
            resuming = False
            self._told(f"The kept session was {snapshot.agent}'s: its conversation with the model is not resumed")
        if resuming:
            mind.body.resume_with(snapshot.handle)
        phase = mind.director.machine.current if mind.director is not None and goes_on else ""
        mind.body.emit(
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
        director, probe = self._mind.director, self._plan.make_machine()
        if director is None or probe is None or snapshot.phases is None:
            return False
        now = self._mind.clock.now()
        record = None
        with self._usable("phase"):
            # Tried on another machine first, which what is unusable may leave half restored.
            probe.restore(snapshot.phases, now)
            record = director.machine.restore(snapshot.phases, now)
        if record is None:
            return False
        director.restored(record)
        return True

    @contextlib.contextmanager
    def _usable(self, what: str) -> Iterator[None]:
        """A part that another version of the agent or the program has written may be of no use: it is told, no more."""
        try:
            yield
        except GeminiLiveError as error:
            self._report(error)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self._told(f"The kept {what} was left out: {type(error).__name__}: {sanitise_line(str(error), 200)}")

    def save(self) -> None:
        """Keep how things stand now."""
        if self._saver is None:
            return
        mind = self._mind
        now = mind.clock.now()
        director = mind.director
        try:
            snapshot = SessionSnapshot.take(
                mind.state,
                session_id=self._id,
                wall=mind.clock.wall(),
                agent=self._agent,
                phases=None if director is None else director.machine.to_json(now),
                needs=None if mind.needs is None else mind.needs.to_json(),
                transcript=mind.transcript.to_json(),
                turn_count=mind.turn_count,
                handle=mind.body.resumption_handle,
            )
        except GeminiLiveError as error:
            self._report(error)
            return
        self._saver.save(snapshot)
        self._started = True

    def _saved(self, snapshot: SessionSnapshot) -> None:
        self._mind.body.emit(ev.SnapshotSaved(turns=snapshot.turn_count))

    async def close(self) -> None:
        """The last snapshot, written."""
        if self._saver is not None and (self._started or self._mind.ever_connected):
            self.save()
            await self._saver.flush()

    def _told(self, text: str) -> None:
        self._mind.body.emit(ev.Notice(level="warning", code="snapshot", text=redactor.text(text)))

    def _report(self, error: GeminiLiveError) -> None:
        text, remedy = redactor.text(error.message), redactor.text(error.remedy)
        self._mind.body.emit(ev.Notice(level="warning", code="snapshot", text=text, remedy=remedy))
