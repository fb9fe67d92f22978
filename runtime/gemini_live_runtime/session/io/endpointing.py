"""From edges of speech to decisions about turns, for sessions where the client says who has the floor.

Time is audio time in seconds: a stalled event loop cannot end a turn too early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from gemini_live_runtime.errors import AgentError

_SAME_S = 1e-9
"""Times this close are the same: sums of decimal milliseconds are not exact."""


@dataclass(frozen=True, slots=True)
class TurnCommitPolicy:
    """How long silence must last to end a turn, and speech to interrupt the model. Milliseconds, 0 or more.

    Raises `AgentError` for a negative value.
    """

    end_of_turn_hold_ms: float = 400
    min_interruption_ms: float = 600

    IMMEDIATE: ClassVar[TurnCommitPolicy]
    RESPONSIVE: ClassVar[TurnCommitPolicy]
    CONVERSATIONAL: ClassVar[TurnCommitPolicy]

    def __post_init__(self) -> None:
        for name in ("end_of_turn_hold_ms", "min_interruption_ms"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise AgentError(f"{name} cannot be {value}", remedy="Use 0 or more", field=name, value=value)

    @classmethod
    def named(cls, name: str) -> TurnCommitPolicy:
        """A preset: `immediate` (0/0 ms), `responsive` (400/600) or `conversational` (800/1400)."""
        try:
            return PRESETS[name]
        except KeyError:
            raise AgentError(
                f"There is no turn commit policy {name!r}",
                remedy=f"Use one of {', '.join(PRESETS)}",
                field="turn_commit",
                value=name,
            ) from None


TurnCommitPolicy.IMMEDIATE = TurnCommitPolicy(0, 0)
TurnCommitPolicy.RESPONSIVE = TurnCommitPolicy(400, 600)
TurnCommitPolicy.CONVERSATIONAL = TurnCommitPolicy(800, 1400)

PRESETS = {
    "immediate": TurnCommitPolicy.IMMEDIATE,
    "responsive": TurnCommitPolicy.RESPONSIVE,
    "conversational": TurnCommitPolicy.CONVERSATIONAL,
}


@dataclass(frozen=True, slots=True)
class ActivityStart:
    """The user takes a free floor. `at_s`: when decided; `speech_s`: when the speech began."""

    at_s: float
    speech_s: float


@dataclass(frozen=True, slots=True)
class InterruptionStart:
    """The user takes the floor from the model. `at_s`: when decided; `speech_s`: when the speech began."""

    at_s: float
    speech_s: float


@dataclass(frozen=True, slots=True)
class ActivityEnd:
    """The user's turn is over. `at_s`: when decided; `speech_s`: when the speech ended."""

    at_s: float
    speech_s: float


Decision: TypeAlias = ActivityStart | InterruptionStart | ActivityEnd


class TurnCommit:
    """Applies a policy. Starts and ends alternate. A time before the last one is taken as the last one.

    Speech on a free floor starts a turn at once. Speech over the model does so when it has lasted
    `min_interruption_ms`; shorter, it was a back-channel and nothing comes of it. When the model falls silent
    meanwhile, the floor is free.
    """

    __slots__ = ("_active", "_ending_since", "_model_speaking", "_now", "_over_model_since", "_policy")

    def __init__(self, policy: TurnCommitPolicy = TurnCommitPolicy.RESPONSIVE) -> None:
        self._policy = policy
        self._now = 0.0
        self._active = False
        self._model_speaking = False
        self._over_model_since: float | None = None
        self._ending_since: float | None = None

    @property
    def active(self) -> bool:
        """Whether the user has the floor."""
        return self._active

    @property
    def due_at(self) -> float | None:
        """Audio time of the next decision if nothing else happens; None when there is none."""
        if self._over_model_since is not None:
            return self._over_model_since + self._policy.min_interruption_ms / 1000
        if self._ending_since is not None:
            return self._ending_since + self._policy.end_of_turn_hold_ms / 1000
        return None

    def advance(self, audio_s: float) -> list[Decision]:
        """Time has come to `audio_s`: what is due."""
        self._now = max(self._now, audio_s)
        due = self.due_at
        if due is None or self._now < due - _SAME_S:
            return []
        if self._over_model_since is not None:
            return [self._begin(self._over_model_since)]
        return [self._end()]

    def model_speaking(self, speaking: bool, audio_s: float) -> list[Decision]:
        """The model begins or stops being heard."""
        out = self.advance(audio_s)
        self._model_speaking = speaking
        if not speaking and self._over_model_since is not None:
            out.append(self._begin(self._over_model_since))
        return out

    def speech_started(self, audio_s: float) -> list[Decision]:
        """The user's voice begins."""
        out = self.advance(audio_s)
        self._ending_since = None
        if self._active or self._over_model_since is not None:
            return out
        if self._model_speaking and self._policy.min_interruption_ms > 0:
            self._over_model_since = self._now
        else:
            out.append(self._begin(self._now))
        return out

    def speech_ended(self, audio_s: float) -> list[Decision]:
        """The user's voice ends."""
        out = self.advance(audio_s)
        self._over_model_since = None
        if self._active and self._ending_since is None:
            self._ending_since = self._now
            out += self.advance(self._now)
        return out

    def finish(self, audio_s: float) -> list[Decision]:
        """No more audio comes for now (muted, another device): end the user's turn without a hold."""
        out = self.advance(audio_s)
        self._over_model_since = None
        if self._active:
            if self._ending_since is None:
                self._ending_since = self._now
            out.append(self._end())
        return out

    def _begin(self, since: float) -> Decision:
        self._active, self._over_model_since = True, None
        return InterruptionStart(self._now, since) if self._model_speaking else ActivityStart(self._now, since)

    def _end(self) -> Decision:
        since = self._now if self._ending_since is None else self._ending_since
        self._active, self._ending_since = False, None
        return ActivityEnd(self._now, since)
