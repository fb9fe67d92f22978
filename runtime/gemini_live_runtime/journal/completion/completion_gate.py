"""Decide whether a run is complete, and say what is missing.

A run is complete when the model's output was seen, the end can be replayed, interventions are settled, and link,
deliveries, approvals and recording have come to their end. The gate follows a session's events, live or from a file, so
that an engine, `sessions`, a replay and an export come to the same result. How the recording was closed is no event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.completion.missing_parts import Completion, MissingPart, Part, unfinished_turn
from gemini_live_runtime.journal.completion.open_work import OpenWork
from gemini_live_runtime.text import sanitise_line

_FAULTS = {
    "not-recorded": "the session could not be recorded",
    "journal-failed": "the disk refuses the recording",
    "journal-stopped": "events are missing in the recording",
    "journal-behind": "events are missing in the recording",
    "events-missing": "events are missing in the recording",
    "journal-removed": "the recording was removed while the session ran",
    "audio-recording-stopped": "the sound is not recorded to its end",
    "value-not-kept": "a large value is missing in the recording",
}
"""Sentence for each notice that says that the recording is not whole, by the notice's code."""

_WITH_CAUSE = frozenset(("not-recorded", "journal-failed", "audio-recording-stopped", "value-not-kept"))
"""Codes of notices that tell why."""

_CUT_OFF = "was cut off by the end", "were cut off by the end"
_MAY_BE_LOST = "has a result that may not have arrived", "have results that may not have arrived"
"""Reasons why the model does not have the result of one call, or of several."""


class RealtimeCompletionGate:
    """Gate that a run passes when it is complete; it gets all events in order.

    Nothing but a new obligation, such as another text or a call, makes a complete run incomplete again.
    """

    def __init__(self) -> None:
        self._work = OpenWork()
        self._seen = False
        """True once the model has said something that a user can see or hear."""
        self._is_ending = self._is_ended = False
        self._link: Literal["none", "opening", "open", "lost", "given up", "closed"] = "none"
        self._approvals: dict[str, None] = {}
        self._interrupted: set[int] = set()
        """Open turns whose answer was interrupted."""
        self._held_at = ""
        self._playing: set[int] = set()
        """Generations that are being played."""
        self._lost_texts: dict[str, str] = {}
        """Texts that were given up, by the ids of their commands."""
        self._lost_words = False
        self._untold: dict[str, tuple[str, str]] = {}
        """Calls whose result the model does not have, by id, with the reason."""
        self._is_recorded = False
        self._faults: dict[str, str] = {}
        """Causes of the notices that say that the recording is not whole, by their codes; "" for none."""
        self._unwritten: int | None = None
        """Number of events missing in the recording, once that is closed."""
        self._has_end = False
        self._seq = self._gaps = 0
        """Newest number of a recording's events, and how many numbers are missing before it."""

    # -- what happens ------------------------------------------------------------------------------------------------

    def apply(self, event: ev.Event) -> None:
        """Take in the next event."""
        handler = _HANDLERS.get(type(event.payload))
        if handler is not None:
            handler(self, event, event.payload)

    def apply_recorded(self, event: ev.Event) -> None:
        """Take in the next event of a recording, and count those missing before it."""
        self._gaps += max(0, event.seq - self._seq - 1)
        self._seq = max(self._seq, event.seq)
        self.apply(event)

    def on_approval_asked(self, ref: str) -> None:
        """Note that something waits for the approval `ref`."""
        self._approvals[ref] = None

    def on_approval_settled(self, ref: str) -> None:
        """Note that the approval `ref` was given or refused."""
        self._approvals.pop(ref, None)

    def on_journal_closed(self, missing: int, *, has_end: bool) -> None:
        """Note that the recording is closed, without `missing` of its events.

        `has_end`: the session's last event is in it.
        """
        self._unwritten, self._has_end = missing, has_end

    def on_recording_read(self, *, cut_off: bool = False) -> None:
        """Note that all events of a recording were taken in.

        `cut_off`: its last line, which is one event, is incomplete.
        """
        self.on_journal_closed(int(cut_off), has_end=self._is_ended)

    def skip(self) -> None:
        """Forget what is open: events that follow here were left out."""
        self._work, self._interrupted, self._playing = OpenWork(), set(), set()
        self._held_at, self._lost_words = "", False
        self._approvals.clear()
        self._lost_texts.clear()
        self._untold.clear()

    @property
    def awaits_words(self) -> bool:
        """True while words of the model or the user can change the result."""
        return not self._seen or bool(self._work.unanswered) or not self._work.has_content or self._lost_words

    # -- the result --------------------------------------------------------------------------------------------------

    def completion(self) -> Completion:
        """Return what is missing now."""
        texts: dict[Part, str] = {
            "ending": self._ending(),
            "links": self._links(),
            "approvals": _count(len(self._approvals), "approval is pending", "approvals are pending"),
            "interventions": self._interventions(),
            "deliveries": ", ".join(self._deliveries()),
            "output": "" if self._seen else "the model said nothing",
            "journal": self._journal(),
        }
        return Completion(tuple(MissingPart(part, text) for part, text in texts.items() if text))

    def _ending(self) -> str:
        if not self._is_ended:
            return "the session has not ended" if self._unwritten is None else "the recording breaks off before the end"
        if self._is_recorded and not self._has_end:
            return "the end of the session is not in its recording"
        return ""

    def _links(self) -> str:
        return {
            "opening": "the connection was not made",
            "open": "the connection was not closed",
            "lost": "the connection was lost",
            "given up": "the connection was given up",
        }.get(self._link, "")

    def _interventions(self) -> str:
        if self._held_at:
            return f"the agent was held at {self._held_at}"
        return f"the interruption of turn {min(self._interrupted)} was not settled" if self._interrupted else ""

    def _deliveries(self) -> Iterable[str]:
        work = self._work
        unsent = len(work.waiting) + len(self._lost_texts)
        unanswered = sum(item.kind == "text" for item in work.unanswered)
        yield from filter(
            None,
            (
                _count(unsent, "text was not delivered", "texts were not delivered"),
                "spoken words were not delivered" if self._lost_words else "",
                _count(unanswered, "text has no answer", "texts have no answer"),
                _count(len(work.calls), "tool call has no result", "tool calls have no result"),
                _count(len(work.results), "tool call was not answered", "tool calls were not answered"),
            ),
        )
        reasons = list(self._untold.values())
        for reason in dict.fromkeys(reasons):
            yield _count(reasons.count(reason), f"tool call {reason[0]}", f"tool calls {reason[1]}")
        if work.is_turn_open and not unanswered:
            yield unfinished_turn(work.turn)
        elif self._playing:
            yield "the answer was not played to its end"

    def _journal(self) -> str:
        for code, cause in self._faults.items():
            return f"{_FAULTS[code]}: {cause}" if cause else _FAULTS[code]
        if not self._is_recorded:
            return ""
        if self._unwritten is None or not self._has_end:
            return "the recording was not closed"
        return _count(
            self._gaps + self._unwritten, "event is missing in the recording", "events are missing in the recording"
        )

    # -- events ------------------------------------------------------------------------------------------------------

    def _started(self, event: ev.Event, p: ev.SessionStarted) -> None:
        self._is_recorded = p.record != "off"

    def _resumed(self, event: ev.Event, p: ev.SessionResumed) -> None:
        self._is_recorded = p.record != "off"
        if self._is_ending:
            # What the engine gave up before it died in closing was told to be lost.
            self._lost_texts.clear()
            self._untold.clear()
        self._is_ending = self._is_ended = self._has_end = False
        self._unwritten = None
        if p.after == "end":
            # What was open then was told to be lost.
            self.skip()
            self._link = "none"
        elif self._link in ("opening", "open"):
            self._link = "lost"
        self._held_at = ""
        self._approvals.clear()
        self._playing.clear()

    def _on_ending(self, event: ev.Event, p: ev.SessionEnding) -> None:
        self._is_ending = True

    def _ended(self, event: ev.Event, p: ev.SessionEnded) -> None:
        self._is_ended = True
        if self._link == "open":
            self._link = "closed"

    def _opening(self, event: ev.Event, p: ev.ConnectionOpening) -> None:
        self._link = "opening"

    def _ready(self, event: ev.Event, p: ev.ConnectionReady) -> None:
        self._link = "open"

    def _closed(self, event: ev.Event, p: ev.ConnectionClosed) -> None:
        self._link = "closed" if p.requested else "lost"

    def _given_up(self, event: ev.Event, p: ev.LinkGivenUp) -> None:
        self._link = "given up"

    def _follow(self, event: ev.Event, p: Any) -> None:
        self._work.apply(event)

    def _text_sent(self, event: ev.Event, p: ev.TextSent) -> None:
        self._work.apply(event)
        for ident in [ident for ident, text in self._lost_texts.items() if text == p.text]:
            del self._lost_texts[ident]

    def _refused(self, event: ev.Event, p: ev.CommandRefused) -> None:
        if self._is_ending and p.command_id in self._work.waiting:
            self._lost_texts[p.command_id] = self._work.waiting[p.command_id]
        self._work.apply(event)

    def _settled(self, event: ev.Event, p: ev.SendSettled) -> None:
        unanswered = self._work.unanswered
        self._work.apply(event)
        if p.kind == "answer":
            self._untold.pop(p.ref, None)
            if p.outcome == "unknown":
                self._untold[p.ref] = _MAY_BE_LOST
        elif p.outcome == "unknown":
            given_up = [item for item in unanswered if (item.kind, item.command_id) == (p.kind, p.ref)]
            self._lost_words = self._lost_words or p.kind == "speech"
            self._lost_texts.update({item.command_id: item.text for item in given_up if item.kind == "text"})

    def _words(self, event: ev.Event, p: ev.TranscriptDelta) -> None:
        self._work.apply(event)
        if p.side == "user":
            self._lost_words = False
        elif p.channel != "thought" and p.text.strip():
            self._seen = True

    def _generated(self, event: ev.Event, p: ev.GenerationCompleted) -> None:
        self._work.apply(event)
        self._seen = self._seen or p.samples > 0

    def _turn_completed(self, event: ev.Event, p: ev.TurnCompleted) -> None:
        self._work.apply(event)
        self._interrupted.discard(event.turn)
        if self._work.turn_calls:
            # The model has acted upon it: silence is its answer then.
            self._work.unanswered.clear()

    def _turn_interrupted(self, event: ev.Event, p: ev.TurnInterrupted) -> None:
        self._work.apply(event)
        self._playing = {gen for gen in self._playing if gen >= p.cut_below}
        if self._work.is_turn_open and event.turn == self._work.turn:
            self._interrupted.add(event.turn)

    def _tool_finished(self, event: ev.Event, p: ev.ToolFinished) -> None:
        self._work.apply(event)
        if p.status == "cancelled" and self._is_ending:
            self._untold[p.call_id] = _CUT_OFF

    def _playback_started(self, event: ev.Event, p: ev.PlaybackStarted) -> None:
        self._work.apply(event)
        self._seen = True
        self._playing.add(event.gen)

    def _playback_drained(self, event: ev.Event, p: ev.PlaybackDrained) -> None:
        self._playing.discard(p.of)

    def _audio_lost(self, event: ev.Event, p: ev.AudioLost) -> None:
        if p.direction == "output":
            self._playing.clear()

    def _held(self, event: ev.Event, p: ev.AgentHeld) -> None:
        self._held_at = sanitise_line(p.at, 60) or "a breakpoint"

    def _released(self, event: ev.Event, p: ev.AgentReleased) -> None:
        if p.how != "end":
            self._held_at = ""

    def _consent_asked(self, event: ev.Event, p: ev.ConsentAsked) -> None:
        self.on_approval_asked(p.id)

    def _consent_given(self, event: ev.Event, p: ev.ConsentGiven) -> None:
        # The end answers in nobody's name: the question stays open.
        if p.by != "end":
            self.on_approval_settled(p.id)

    def _notice(self, event: ev.Event, p: ev.Notice) -> None:
        if p.code in _FAULTS:
            self._faults[p.code] = _cause(p.text) if p.code in _WITH_CAUSE else ""
        elif p.code == "journal-recovered":
            self._faults.pop("journal-failed", None)


def _cause(text: str) -> str:
    """Return the cause in a notice's text, which may stand behind what failed."""
    first = text.partition(". ")[0].rstrip(".")
    cause = first.partition(": ")[2] or first[:1].lower() + first[1:]
    return sanitise_line(cause, 100)


def _count(number: int, one: str, several: str) -> str:
    """Return a count with its noun and verb; "" for none."""
    return "" if not number else f"{number:,} {one if number == 1 else several}"


_HANDLERS: dict[type[ev.Payload], Callable[[RealtimeCompletionGate, ev.Event, Any], None]] = {
    ev.SessionStarted: RealtimeCompletionGate._started,
    ev.SessionResumed: RealtimeCompletionGate._resumed,
    ev.SessionEnding: RealtimeCompletionGate._on_ending,
    ev.SessionEnded: RealtimeCompletionGate._ended,
    ev.ConnectionOpening: RealtimeCompletionGate._opening,
    ev.ConnectionReady: RealtimeCompletionGate._ready,
    ev.ConnectionClosed: RealtimeCompletionGate._closed,
    ev.LinkGivenUp: RealtimeCompletionGate._given_up,
    ev.SendIntended: RealtimeCompletionGate._follow,
    ev.TextSent: RealtimeCompletionGate._text_sent,
    ev.CommandRefused: RealtimeCompletionGate._refused,
    ev.SendSettled: RealtimeCompletionGate._settled,
    ev.TranscriptDelta: RealtimeCompletionGate._words,
    ev.GenerationCompleted: RealtimeCompletionGate._generated,
    ev.TurnStarted: RealtimeCompletionGate._follow,
    ev.TurnCompleted: RealtimeCompletionGate._turn_completed,
    ev.TurnInterrupted: RealtimeCompletionGate._turn_interrupted,
    ev.ToolCalled: RealtimeCompletionGate._follow,
    ev.ToolFinished: RealtimeCompletionGate._tool_finished,
    ev.PlaybackStarted: RealtimeCompletionGate._playback_started,
    ev.PlaybackDrained: RealtimeCompletionGate._playback_drained,
    ev.AudioLost: RealtimeCompletionGate._audio_lost,
    ev.AgentHeld: RealtimeCompletionGate._held,
    ev.AgentReleased: RealtimeCompletionGate._released,
    ev.ConsentAsked: RealtimeCompletionGate._consent_asked,
    ev.ConsentGiven: RealtimeCompletionGate._consent_given,
    ev.Notice: RealtimeCompletionGate._notice,
}

FOLLOWED = frozenset(payload.type for payload in _HANDLERS)
"""Types of the events that the gate follows."""
