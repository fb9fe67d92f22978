"""Have the model announce notifications while nothing else is said.

The pump decides; here its steps meet the session. A notification becomes a speech of low priority, whose end decides
what becomes of the record: heard to its end it is acknowledged, else it waits again. Records are written after the
model was asked, not before: the disk may not delay a word, and a notification that is announced twice after a crash is
better than one that is lost.

Nothing runs while nothing waits, but for a look at the folder's time every `POLL_S`. That look also finds a due time
that came while the machine slept, which the event loop's clock does not count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.harness.delivery import Delivery
from gemini_live_runtime.harness.notification_prompt import format_passive_notification_prompt
from gemini_live_runtime.harness.notifications import HarnessNotification, NotificationStatus
from gemini_live_runtime.harness.paths import HarnessPaths, may_exist
from gemini_live_runtime.harness.pump import Deliver, Expire, GiveUp, PassiveNotificationPump, PumpStep, Requeue
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.harness.foreign_notifications import SHOWN, ForeignNotifications
from gemini_live_runtime.session.agent.harness.notification_events import NotificationEvents
from gemini_live_runtime.session.agent.harness.silence import Silence, is_of_user
from gemini_live_runtime.session.agent.harness.withheld_notifications import Withheld
from gemini_live_runtime.session.agent.host import DORMANT
from gemini_live_runtime.session.core.speech_queue import Speech, SpeechPriority
from gemini_live_runtime.session.rules.reactor import PromptArmed

if TYPE_CHECKING:
    from gemini_live_runtime.harness.listing import Listing
    from gemini_live_runtime.harness.store import Harness
    from gemini_live_runtime.harness.worker import HarnessWorker
    from gemini_live_runtime.session.agent.context import AgentContext

POLL_S = 5.0
"""Seconds between looks at the folder's time, for programs that do not poke the engine."""

FIRST_LOOK_S = 1.0
"""Seconds from the session's begin to the first look."""

AGAIN_S = 0.5
"""Seconds until the next attempt to ask the model, when a rule or the connection kept this one back."""

TAIL = 7_200
"""Samples (24 kHz) at the end of an announcement that may be cut: 0.3 s, of which silence is the most."""

CLOSING_S = 1.0
"""Seconds to write what was announced when the session ends."""

NOBODY = "nobody is there who would hear it"


class NotificationDelivery:
    """Notifications of one session's profile, while no other engine delivers them."""

    def __init__(self, agent: AgentContext, harness: HarnessWorker, name: str) -> None:
        """`name` is that of the engine's folder."""
        self._agent = agent
        self._harness = harness
        self._name = name
        self._pump = PassiveNotificationPump()
        self._delivery: Delivery | None = None
        self._speech: Speech | None = None
        """Speech that carries the notification in flight."""
        self._is_overtaken = False
        """True when the user said something between the request and the first word."""
        self._is_complete = False
        """True once the model has generated all of it."""
        self._silence = Silence(agent)
        self._in_the_way = ""
        self._events = NotificationEvents(agent)
        self._withheld = Withheld(agent, self.look)
        self._foreign = ForeignNotifications(agent)
        self._is_watched = True
        self._timer: asyncio.TimerHandle | None = None
        self._poll: asyncio.TimerHandle | None = None
        self._watching: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._is_reading = self._reads_again = False
        self._has_failed = False
        self._closed = False

    def subscribe(self) -> None:
        """Follow the session's events."""
        self._silence.subscribe()
        self._withheld.subscribe()
        subscribe = self._agent.bus.subscribe
        subscribe(self._on_speech, ev.SpeechChanged)
        subscribe(self._on_words, ev.TranscriptDelta, ev.TextSent)
        subscribe(self._on_turn_completed, ev.TurnCompleted)
        subscribe(self._on_interrupted, ev.TurnInterrupted)
        subscribe(self._on_generated, ev.GenerationCompleted)
        subscribe(self._on_connection_closed, ev.ConnectionClosed)

    def begin(self) -> None:
        """Look for notifications, soon and every `POLL_S`."""
        if self._harness.root:
            # Reading the files may not delay the connection.
            self._poll = asyncio.get_running_loop().call_later(FIRST_LOOK_S, self._on_poll)

    # -- the files ---------------------------------------------------------------------------------------------------

    @property
    def _is_alone(self) -> bool:
        """True without a console and a loudspeaker, which tell what the model says."""
        return not (self._is_watched or self._agent.host.is_aloud)

    def on_watched(self, watched: bool) -> None:
        """Note that a console shows what the model says, or none."""
        self._is_watched = watched
        self.look()

    def _on_poll(self) -> None:
        # First, so that a fault in this look does not stop the next.
        self._poll = asyncio.get_running_loop().call_later(POLL_S, self._on_poll)
        if not self._is_alone and (self._delivery is None or self._delivery.needs_look):
            self.look()
        if self._pump.has_come_due(self._wall_ms()) or self._foreign.wait_s(self._wall_ms()) == 0:
            self.advance()

    def look(self) -> None:
        """Read what waits, soon; cheap while no file has changed."""
        root = self._harness.root
        if self._closed or not (self._harness.is_open or (root and may_exist(HarnessPaths(Path(root)).header))):
            return
        self._reads_again = True
        if not self._is_reading:
            self._is_reading = True
            self._spawn(self._read())

    async def _read(self) -> None:
        try:
            while self._reads_again and not self._closed:
                self._reads_again = False
                if self._is_alone:
                    await self._stand_down()
                    continue
                listing = await self._harness.call(self._open_ones)
                if listing is not None and not self._closed:
                    own = self._foreign.without(listing.records)
                    self._pump.on_records(one for one in own if one.id not in self._withheld)
                    self._events.forget({one.id for one in listing.records})
                    self.advance()
        except GeminiLiveError as error:
            self._report(error)
        finally:
            self._is_reading = False

    async def _stand_down(self) -> None:
        """Let another engine announce what waits, since no user would hear it here."""
        delivery = self._delivery
        if delivery is not None and not self._pump.in_flight:
            await self._harness.call(lambda harness: delivery.close())
            self._pump.on_records(())

    def _open_ones(self, harness: Harness) -> Listing[HarnessNotification] | None:
        if self._delivery is None:
            self._delivery = Delivery(harness, self._name)
        return self._delivery.look()

    # -- what the model queues ---------------------------------------------------------------------------------------

    def withhold(self, notification_id: str) -> None:
        """Do not announce a notification here before the user was away and is back.

        To be called before it is queued: the model has just said what it is about.
        """
        self._withheld.add(notification_id)

    def on_withheld(self, one: HarnessNotification) -> None:
        """Tell that a notification was queued that is withheld."""
        if one.id in self._withheld:
            self._events.tell(one, "queued", "it is for when the user is back, or for another session")
        self.look()

    def on_cancelled(self, one: HarnessNotification) -> None:
        """Tell that a notification was taken back, and look at the files."""
        if self._events.has_told(one.id):
            self._events.tell(one, "expired", one.reason or "")
        self.look()

    def _write(self, step: PumpStep) -> None:
        self._spawn(self._record(step))

    async def _record(self, step: PumpStep) -> None:
        delivery = self._delivery
        if delivery is None:
            return
        try:
            records = await self._harness.call(lambda harness: delivery.record(step))
        except GeminiLiveError as error:
            self._report(error)
            return
        for record in records:
            if record is not None and record.status is NotificationStatus.EXPIRED and isinstance(step, Requeue):
                self._events.tell(record, "expired", record.reason or "")
            if record is None or record.status is NotificationStatus.EXPIRED:
                # Another program has closed or replaced it meanwhile.
                self.look()

    def _report(self, error: GeminiLiveError) -> None:
        # A disk that fails does so at every write.
        if not self._has_failed:
            self._has_failed = True
            text, remedy = redactor.text(f"Of a notification: {error.message}"), redactor.text(error.remedy)
            self._agent.emit(ev.Notice(level="warning", code="harness", text=text, remedy=remedy))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        running = asyncio.get_running_loop().create_task(work, name="notifications")
        self._running.add(running)
        running.add_done_callback(self._on_done_running)

    def _on_done_running(self, running: asyncio.Task[None]) -> None:
        self._running.discard(running)
        if not running.cancelled() and (error := running.exception()) is not None and not self._closed:
            text = redactor.text(f"Notifications: {error!r:.300}")
            self._agent.emit(ev.Notice(level="error", code="harness", text=text))

    def _wall_ms(self) -> int:
        return round(self._agent.clock.wall() * 1000)

    # -- the right moment --------------------------------------------------------------------------------------------

    def _reason(self, now: float) -> str:
        """Return what keeps the model from announcing something now, "" for nothing."""
        host = self._agent.host
        if self._is_alone:
            return NOBODY
        if reason := host.why_not_free:
            return reason
        if not self._agent.queue.idle:
            return "the agent is deciding"
        current = host.speeches.current
        if host.speeches.has_waiting or (current is not None and not current.is_over):
            return "something else is to be said first"
        return self._silence.awaited(now)

    async def _watch(self) -> None:
        """Look again at each change of what is in the way, while something waits."""
        host = self._agent.host
        while self._pump.has_waiting and not (self._closed or host.is_over):
            await host.until(lambda: self._closed or self._reason(self._agent.clock.now()) != self._in_the_way)
            self.advance()

    def advance(self) -> None:
        """Do what can be done now, and tell why the rest waits."""
        if self._closed or self._agent.host.is_over:
            return
        now, wall_ms = self._agent.clock.now(), self._wall_ms()
        for one in () if self._is_alone else self._foreign.tell_due(wall_ms):
            self._write(Expire(one, SHOWN))
        self._in_the_way = self._reason(now)
        while (step := self._pump.next_step(now, wall_ms, self._in_the_way)) is not None:
            if isinstance(step, Deliver):
                self._ask(step.notifications, now, wall_ms)
                self._in_the_way = self._reason(now)
            else:
                self._close_one(step)
        if self._in_the_way == DORMANT and self._pump.is_due(now):
            self._agent.host.wake("a notification")
        self._events.tell_waiting(self._pump, now, self._in_the_way)
        self._schedule(now, wall_ms)
        if self._pump.has_waiting and (self._watching is None or self._watching.done()):
            self._watching = asyncio.get_running_loop().create_task(self._watch(), name="notifications")

    def _schedule(self, now: float, wall_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waits = [self._pump.wait_s(now, wall_ms), None if self._is_alone else self._foreign.wait_s(wall_ms)]
        if self._pump.has_waiting:
            waits += [end - now for reason, end in self._silence.ends() if reason == self._in_the_way]
        if due := [wait for wait in waits if wait is not None]:
            # The loop's clock may be a hair early.
            self._timer = asyncio.get_running_loop().call_later(min(due) + 0.001, self.advance)

    # -- announcing --------------------------------------------------------------------------------------------------

    def _ask(self, chosen: tuple[HarnessNotification, ...], now: float, wall_ms: int) -> None:
        """Queue a speech that announces notifications; it goes out at once."""
        speeches = self._agent.host.speeches
        title = chosen[0].title if len(chosen) == 1 else f"{len(chosen)} notifications"
        speech = speeches.new("notification", title)
        speech.priority = SpeechPriority.LOW
        speech.instructions = redactor.text(format_passive_notification_prompt(*chosen, now_ms=wall_ms))
        self._speech, self._is_overtaken, self._is_complete = speech, False, False
        try:
            speeches.add(speech)
        except AgentError:
            self._speech = None
            self._pump.on_postponed(now, AGAIN_S)
            return
        self._agent.emit(speech.event())
        self._agent.react(PromptArmed())
        if speech.status == "queued":
            # What keeps it back may be the user, who would be answered by it.
            self._speech = None
            speeches.drop(speech)
            self._agent.emit(speech.event())
            self._pump.on_postponed(now, AGAIN_S)

    def _on_speech(self, event: ev.Event) -> None:
        changed, speech = event.payload, self._speech
        assert isinstance(changed, ev.SpeechChanged)
        if speech is None or changed.id != speech.id:
            return
        match changed.status:
            case "asked" if self._pump.in_flight:
                self._write(Deliver(self._pump.in_flight))
                for one in self._pump.in_flight:
                    self._events.tell(one, "delivered", speech=speech.id, begun=1)
            case "done":
                self._on_done(changed.step)
            case "interrupted" | "dropped":
                # The event that says what was heard follows.
                asyncio.get_running_loop().call_soon(self._on_lost, speech, "no answer came", False)

    def _on_done(self, steps: int) -> None:
        if self._is_overtaken:
            self._lose("the user spoke before it began", by_user=True)
        elif not steps:
            self._lose("the model said nothing")
        elif self._is_alone:
            self._lose(NOBODY)
        else:
            self._hear()

    def _close_one(self, step: PumpStep) -> None:
        self._write(step)
        if isinstance(step, Expire | GiveUp):
            one = step.notification
            self._events.tell(one, *(("expired", step.reason) if isinstance(step, Expire) else ("failed", step.reason)))

    def _hear(self) -> None:
        heard, self._speech = self._pump.in_flight, None
        for one, step in zip(heard, self._pump.on_heard(), strict=True):
            self._write(step)
            self._events.tell(one, "acknowledged", begun=1)

    def _lose(self, reason: str, *, by_user: bool = False) -> None:
        lost, self._speech = self._pump.in_flight, None
        steps = self._pump.on_not_heard(self._agent.clock.now(), reason, by_user=by_user)
        for one, step in zip(lost, steps, strict=True):
            self._write(step)
            if isinstance(step, GiveUp):
                self._events.tell(one, "failed", step.reason, begun=1)
        if lost:
            self._advance_soon()

    def _on_lost(self, speech: Speech, reason: str, by_user: bool) -> None:
        if self._speech is speech:
            self._lose("the session ended" if self._agent.host.is_over else reason, by_user=by_user)

    def _advance_soon(self) -> None:
        # Not within the handling of an event, whose other handlers are still to come.
        asyncio.get_running_loop().call_soon(self.advance)

    # -- what is said meanwhile --------------------------------------------------------------------------------------

    def _on_words(self, event: ev.Event) -> None:
        if is_of_user(event.payload) and self._speech is not None and self._speech.status == "asked":
            self._is_overtaken = True

    def _on_turn_completed(self, event: ev.Event) -> None:
        assert isinstance(event.payload, ev.TurnCompleted)
        if event.payload.outcome != "interrupted":
            self._pump.on_answered()

    def _on_generated(self, event: ev.Event) -> None:
        if self._speech is not None and event.gen in self._speech.gens:
            self._is_complete = True

    def _on_interrupted(self, event: ev.Event) -> None:
        cut, speech = event.payload, self._speech
        assert isinstance(cut, ev.TurnInterrupted)
        if speech is None or speech.turn != event.turn or not speech.is_over:
            return
        is_heard = not cut.unheard_text.strip() or 0 < cut.unheard_samples <= TAIL
        if self._is_complete and cut.heard_text.strip() and is_heard:
            self._hear()
            return
        reasons = {"operator": "it was stopped by hand", "device": "the loudspeaker was lost"}
        self._on_lost(speech, reasons.get(cut.by, "the user spoke over it"), cut.by != "device")

    def _on_connection_closed(self, event: ev.Event) -> None:
        speech = self._speech
        if speech is None or speech.is_over or (speech.status == "speaking" and self._is_complete):
            return
        self._on_lost(speech, "the connection was lost", False)
        # The next connection would be asked without what is to be announced.
        self._agent.host.withdraw(speech)

    # -- the end -----------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Queue again what was not heard, and let the next engine deliver."""
        if self._closed:
            return
        if self._pump.in_flight:
            self._lose("the session ended")
        self._closed = True
        for timer in (self._timer, self._poll):
            if timer is not None:
                timer.cancel()
        if self._watching is not None:
            self._watching.cancel()
        if self._running:
            await asyncio.wait(set(self._running), timeout=CLOSING_S)
        if self._delivery is not None:
            self._delivery.close()
