"""Decide when a turn begins and ends, for client-side turn taking.

The input are the edges of speech. Time is audio time in seconds: a stalled event loop cannot end a turn too early.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, TypeAlias

from gemini_live_runtime.barge_in import BargeInBrake
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import frozen_record, record

_SAME_S = 1e-9
"""Seconds within which two times are equal: sums of decimal milliseconds are not exact."""


@record
class TurnCommitPolicy:
    """Durations in ms after which silence ends a turn and speech interrupts the model.

    Raises `AgentError` for a negative value.
    """

    end_of_turn_hold_ms: float = 400
    min_interruption_ms: float = 200

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
        """Return the preset `name`.

        The presets are `immediate` (0/0 ms), `responsive` (400/200) and `conversational` (800/1400). Raises
        `AgentError` for another name.
        """
        try:
            return PRESETS[name]
        except KeyError:
            raise AgentError(
                f"Unknown turn-taking preset {name!r}",
                remedy=f"Use one of {', '.join(PRESETS)}",
                field="turn_commit",
                value=name,
            ) from None


TurnCommitPolicy.IMMEDIATE = TurnCommitPolicy(0, 0)
TurnCommitPolicy.RESPONSIVE = TurnCommitPolicy(400, 200)
TurnCommitPolicy.CONVERSATIONAL = TurnCommitPolicy(800, 1400)

PRESETS = {
    "immediate": TurnCommitPolicy.IMMEDIATE,
    "responsive": TurnCommitPolicy.RESPONSIVE,
    "conversational": TurnCommitPolicy.CONVERSATIONAL,
}


@frozen_record
class ActivityStart:
    """Start of the user's turn on a free floor.

    `at_s`: time of the decision; `speech_s`: time at which the speech began.
    """

    at_s: float
    speech_s: float


@record
class InterruptionStart:
    """Start of the user's turn that interrupts the model.

    `at_s`: time of the decision; `speech_s`: time at which the speech began.
    """

    at_s: float
    speech_s: float


@frozen_record
class ActivityEnd:
    """End of the user's turn.

    `at_s`: time of the decision; `speech_s`: time at which the speech ended.
    """

    at_s: float
    speech_s: float


@record
class BackChannel:
    """Speech over the model that was too short to start a turn.

    `speech_s` and `needed_s` are seconds: its length, and the least that interrupts.
    """

    at_s: float
    speech_s: float
    needed_s: float


Decision: TypeAlias = ActivityStart | InterruptionStart | ActivityEnd | BackChannel


class TurnCommit:
    """State machine that applies a policy; starts and ends of turns alternate.

    Speech on a free floor starts a turn at once. Speech over the model starts one when it has lasted for
    `min_interruption_ms` and is heard; shorter speech is a back-channel and has no effect. If the model stops during
    such speech, the floor is free and the turn starts. After an interruption without words the next needs more speech.
    A time before the last one counts as the last one.
    """

    __slots__ = (
        "_active",
        "_brake",
        "_ending_since",
        "_longer_ms",
        "_model_speaking",
        "_now",
        "_over_model_since",
        "_policy",
        "voiced",
    )

    def __init__(self, policy: TurnCommitPolicy = TurnCommitPolicy.RESPONSIVE) -> None:
        self._policy = policy
        self._brake = BargeInBrake()
        self._now = 0.0
        self._active = False
        self._model_speaking = False
        self._over_model_since: float | None = None
        self._ending_since: float | None = None
        self._longer_ms: float | None = None
        """Hold of the present pause, where more is expected."""
        self.voiced = True
        """False in a pause of speech, which may be its end: nothing starts then."""

    @property
    def active(self) -> bool:
        """True when the user has the floor."""
        return self._active

    @property
    def due_at(self) -> float | None:
        """Audio time of the next decision without further input; None when none is due."""
        if self._over_model_since is not None:
            return self._over_model_since + self._needed_ms / 1000
        if self._ending_since is not None:
            hold_ms = self._policy.end_of_turn_hold_ms if self._longer_ms is None else self._longer_ms
            return self._ending_since + hold_ms / 1000
        return None

    @property
    def _needed_ms(self) -> float:
        return max(self._policy.min_interruption_ms, self._brake.needed_ms)

    def set_min_interruption(self, ms: float) -> None:
        """Set the least speech over the model that starts a turn, from now on."""
        self._policy = replace(self._policy, min_interruption_ms=ms)

    def set_hold(self, ms: float) -> None:
        """Set the silence in ms that ends a turn, also of the one that goes on."""
        self._policy = replace(self._policy, end_of_turn_hold_ms=ms)

    @property
    def is_ending(self) -> bool:
        """True during a silence that may end the user's turn."""
        return self._ending_since is not None

    def expect_more(self, hold_ms: float) -> None:
        """Set the silence in ms that ends the turn in the present pause only."""
        if self.is_ending:
            self._longer_ms = hold_ms

    def on_words(self) -> None:
        """Note that the user was understood."""
        self._brake.on_words()

    def advance(self, audio_s: float) -> list[Decision]:
        """Advance the time to `audio_s` and return the decisions that are due."""
        self._now = max(self._now, audio_s)
        due, since = self.due_at, self._over_model_since
        if since is not None and not self._model_speaking:
            due = since
        if due is None or self._now < due - _SAME_S:
            return []
        if since is None:
            return [self._end()]
        return [self._begin(since)] if self.voiced else []

    def model_speaking(self, speaking: bool, audio_s: float) -> list[Decision]:
        """Note that the model's playback begins or ends; return the decisions."""
        out = self.advance(audio_s)
        self._model_speaking = speaking
        return out + self.advance(audio_s)

    def speech_started(self, audio_s: float, voice_s: float | None = None) -> list[Decision]:
        """Note that the user's voice begins; return the decisions.

        It was heard from `voice_s` on, which is `audio_s` where that is unknown.
        """
        out = self.advance(audio_s)
        began = self._now if voice_s is None else min(voice_s, self._now)
        self._ending_since = self._longer_ms = None
        if self._active or self._over_model_since is not None:
            return out
        if self._model_speaking and self._needed_ms > 0:
            self._over_model_since = began
        else:
            out.append(self._begin(began))
        return out

    def speech_ended(self, audio_s: float, voice_s: float | None = None) -> list[Decision]:
        """Note that the user's voice ends; return the decisions.

        It was heard until `voice_s`, which is `audio_s` where that is unknown.
        """
        out = self.advance(audio_s)
        since, self._over_model_since = self._over_model_since, None
        if since is not None:
            until = self._now if voice_s is None else voice_s
            out.append(BackChannel(self._now, until - since, self._needed_ms / 1000))
        if self._active and self._ending_since is None:
            self._ending_since = self._now
            out += self.advance(self._now)
        return out

    def finish(self, audio_s: float) -> list[Decision]:
        """End the user's turn without a hold: the audio stops (mute, change of device)."""
        out = self.advance(audio_s)
        self._over_model_since = None
        if self._active:
            if self._ending_since is None:
                self._ending_since = self._now
            out.append(self._end())
        return out

    def forget(self) -> None:
        """Forget the user's turn without ending it."""
        self._active, self._over_model_since = False, None
        self._ending_since = self._longer_ms = None

    def _begin(self, since: float) -> Decision:
        self._active, self._over_model_since = True, None
        if not self._model_speaking:
            return ActivityStart(self._now, since)
        self._brake.on_interruption()
        return InterruptionStart(self._now, since)

    def _end(self) -> Decision:
        since = self._now if self._ending_since is None else self._ending_since
        self._active, self._ending_since, self._longer_ms = False, None, None
        return ActivityEnd(self._now, since)
