"""Keep `session:` keys up to date, which guards and watchers may read.

Figures that move all the time (`silence_ms`, `elapsed_ms`, `remaining_budget_ms`) are read live and make no mutations.
The wire's phase is `session:wire_phase`; `session:phase` is the conversation's and belongs to the phase machine.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import isfinite

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.problems import ProblemFinder
from gemini_live_runtime.state.mutations import Origin, noting_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import CALLED_OK
from gemini_live_runtime.state.values import MAX_INT

SIGNAL = Origin("signal")

_WIRE_PHASES: dict[str, str] = {
    "offline": "disconnected",
    "connecting": "connecting",
    "dormant": "disconnected",
    "listening": "active",
    "text": "active",
    "hearing": "user_speaking",
    "speaking": "model_speaking",
    "interrupted": "interrupted",
    "error": "disconnected",
}


GO_AWAY_TIME = ("go_away_time_left", "go_away_time_left_ms")
"""Keys about the end of a connection: the next connection removes them."""

AT_ANY_TIME = frozenset(
    (
        "session:user_state",
        "session:disconnected",
        "session:resumable",
        "session:go_away_received",
        *(f"session:{name}" for name in GO_AWAY_TIME),
    )
)
"""Keys of what happens between turns, which may be over when the next turn ends."""

OBSERVED = frozenset(
    (
        ev.TranscriptDelta,
        ev.TextSent,
        ev.VoiceMarked,
        ev.TurnStarted,
        ev.PlaybackHeard,
        ev.SessionState,
        ev.ConnectionReady,
        ev.ConnectionClosed,
        ev.ConnectionGoAway,
        ev.ConnectionResumable,
        ev.TurnInterrupted,
        *ProblemFinder.KINDS,
        ev.CodeFailed,
        ev.UsageReported,
        ev.UserStateChanged,
    )
)
"""Payload types that `observe` has a case for."""


class SessionType(Enum):
    """Media of a session.

    Each has the time that Google grants without context compression (wire protocol, section 5).
    """

    AUDIO_ONLY = "audio_only"
    AUDIO_VIDEO = "audio_video"

    @property
    def budget_ms(self) -> int:
        """Milliseconds granted: 15 min of audio, 2 min with video."""
        return 900_000 if self is SessionType.AUDIO_ONLY else 120_000


MAX_WORDS = 20_000
"""Newest characters of a side's words in a turn: each tool that ends writes them, and its event has them twice."""


class SessionSignals:
    """Writer of `session:` keys.

    `now` returns clock seconds, `said` what both sides said in the newest turn.
    """

    def __init__(self, state: State, now: Callable[[], float], said: Callable[[], tuple[str, str]]) -> None:
        self._state = state
        self._now = now
        self._said = said
        self._problems = ProblemFinder()
        self._connected_at: float | None = None
        self._active_at: float | None = None
        self._type = SessionType.AUDIO_ONLY
        self.wire_phase = "disconnected"
        state.provide("session:silence_ms", lambda: self._since(self._active_at))
        state.provide("session:elapsed_ms", lambda: self._since(self._connected_at))
        state.provide("session:remaining_budget_ms", self._remaining)

    @property
    def session_type(self) -> SessionType:
        """Audio only until a picture was sent."""
        return self._type

    def _since(self, moment: float | None) -> int:
        return 0 if moment is None else round((self._now() - moment) * 1000)

    def _remaining(self) -> int:
        return max(0, self._type.budget_ms - self._since(self._connected_at))

    def mark_video_sent(self) -> None:
        """Switch to the time budget of video: a picture was sent."""
        if self._type is SessionType.AUDIO_ONLY:
            self._type = SessionType.AUDIO_VIDEO
            self._set(session_type=self._type.value)

    def _set(self, **values: object) -> None:
        with noting_as(SIGNAL):
            for name, value in values.items():
                self._state.set(f"session:{name}", value)

    def _count(self, name: str) -> None:
        with noting_as(SIGNAL):
            self._state.modify(f"session:{name}", 0, _one_more)

    def settle(self) -> None:
        """Write what both sides said in this turn, before anything is decided."""
        user, model = self._said()
        if user or model:
            with noting_as(SIGNAL):
                if user:
                    self._state.set("session:last_input_transcription", user[-MAX_WORDS:])
                if model:
                    self._state.set("session:last_output_transcription", model[-MAX_WORDS:])

    def count_turn(self, count: int) -> None:
        """Write how many turns are complete, before anything is decided."""
        with noting_as(SIGNAL):
            self._state.set("session:turn_count", count)

    def on_tool_ended(self, name: str, ok: bool) -> None:
        """Count a tool's success, and keep whether its last call failed."""
        with noting_as(SIGNAL):
            if ok:
                self._state.modify(f"{CALLED_OK}{name}", 0, _one_more)
            self._state.set(f"bg:{name}_failed", not ok)

    def on_event(self, event: ev.Event) -> None:
        """Take an event of one of the `OBSERVED` types."""
        self.observe(event.payload)

    def observe(self, payload: ev.Payload) -> None:
        """Write what an event says into `session:` keys."""
        match payload:
            case ev.TranscriptDelta() | ev.TextSent() | ev.VoiceMarked() | ev.TurnStarted() | ev.PlaybackHeard():
                self._active_at = self._now()
                if isinstance(payload, ev.VoiceMarked):
                    self._set(is_user_speaking=payload.speaking)
            case ev.SessionState():
                self._word(payload)
            case ev.UserStateChanged():
                self._set(user_state=payload.new)
            case ev.ConnectionReady():
                self._connected(payload)
            case ev.ConnectionClosed():
                self._set(disconnected=True, is_model_speaking=False, is_user_speaking=False)
            case ev.ConnectionGoAway():
                self._go_away(payload)
            case ev.ConnectionResumable():
                self._set(resumable=payload.resumable)
                if payload.last_consumed is not None:
                    self._set(last_consumed_client_index=payload.last_consumed)
            case ev.TurnInterrupted():
                self._count("interrupt_count")
            case ev.CodeFailed():
                self._fail(payload.error)
            case ev.Notice() | ev.OutboxChanged() | ev.PartHealth() | ev.SoundHealth():
                self._fail(self._problems.text_of(payload))
            case ev.UsageReported():
                self._set(
                    prompt_token_count=payload.prompt_tokens,
                    response_token_count=payload.response_tokens,
                    total_token_count=payload.total_tokens,
                    thoughts_token_count=payload.response.get("THOUGHT", 0),
                    cached_content_token_count=payload.cached_tokens,
                )

    def _fail(self, text: str) -> None:
        """Count an error; "" is none."""
        if text:
            self._count("error_count")
            self._set(last_error=text)

    def _word(self, payload: ev.SessionState) -> None:
        if payload.word == "thinking":
            self.wire_phase = "tool_call_executing" if payload.reason == "running a tool" else "active"
        else:
            self.wire_phase = _WIRE_PHASES[payload.word]
        self._set(wire_phase=self.wire_phase, is_model_speaking=payload.word == "speaking")

    def _connected(self, payload: ev.ConnectionReady) -> None:
        now = self._now()
        if self._connected_at is None or not payload.resumed:
            self._connected_at = now
        self._active_at = now
        self._set(disconnected=False, go_away_received=False)
        with noting_as(SIGNAL):
            for name in GO_AWAY_TIME:
                self._state.remove(f"session:{name}")
            for name, first in (("interrupt_count", 0), ("error_count", 0), ("connected_at_ms", round(now * 1000))):
                if f"session:{name}" not in self._state:
                    self._state.set(f"session:{name}", first)
            for name in ("is_user_speaking", "is_model_speaking", "resumable"):
                if f"session:{name}" not in self._state:
                    self._state.set(f"session:{name}", False)
            if "session:user_state" not in self._state:
                self._state.set("session:user_state", "listening")
            self._state.set("session:session_type", self._type.value)

    def _go_away(self, payload: ev.ConnectionGoAway) -> None:
        left = payload.time_left_s
        self._set(go_away_received=True)
        if left is not None and isfinite(left):
            self._set(go_away_time_left=f"{left:g}s", go_away_time_left_ms=round(left * 1000))


def _one_more(count: object) -> int:
    # An author's code may have written anything there.
    return count + 1 if isinstance(count, int) and count < MAX_INT else 1
