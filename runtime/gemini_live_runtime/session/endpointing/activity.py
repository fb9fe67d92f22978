"""Detect the user's turns on our side: voice activity detection and endpointing.

Audio is sent only during a turn, between `on_begin` and `on_end`. Until a turn begins, the latest audio is kept,
because a turn starts before the detector notices it; speech over the model is kept whole until it counts as an
interruption.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Literal

from gemini_live_runtime.session.endpointing.policy import (
    ActivityEnd,
    BackChannel,
    Decision,
    InterruptionStart,
    TurnCommit,
    TurnCommitPolicy,
)
from gemini_live_runtime.session.endpointing.vad import InputVad, InputVadSnapshot
from gemini_live_runtime.session.link.mic_sound import MicSound, joined

RATE = 16_000
"""Samples a second of the microphone's sound."""

BYTES_PER_S = 2 * RATE
"""Bytes per second of s16le mono at 16 kHz."""

PRE_ROLL_S = 0.3
"""Seconds of audio before the detection of speech that belong to the turn."""

PRE_ROLL_OVER_MODEL_S = 0.5
"""The same over the model, where it takes longer to be certain of a person."""

MAX_WAIT_S = 2.5
"""Limit in seconds of kept speech over the model."""

ROOM_S = 0.3
"""Seconds for which a room returns what the model has said."""

SLICE_SAMPLES = 320
"""Samples of audio per decision: 20 ms."""


class InputActivity:
    """Filter of microphone audio that passes the user's turns.

    `on_begin` is called before the first audio of a turn is sent, `on_end` after the last; before `on_begin`
    `on_interruption`, with the seconds of speech over the model so far, where the turn interrupts it. `on_back_channel`
    gets the seconds of speech over the model that was too short, and those that it needed. `on_pause` gets the
    number of each silence that may end the turn, after its first audio was sent.
    """

    def __init__(
        self,
        preset: Literal["immediate", "responsive", "conversational"],
        *,
        on_begin: Callable[[], None],
        on_end: Callable[[], None],
        on_interruption: Callable[[float], None] = lambda speech_s: None,
        on_back_channel: Callable[[float, float], None] = lambda speech_s, needed_s: None,
        on_pause: Callable[[int], None] = lambda pause: None,
        vad: InputVad | None = None,
    ) -> None:
        self._vad = vad or InputVad()
        self._commit = TurnCommit(TurnCommitPolicy.named(preset))
        self._on_interruption = on_interruption
        self._on_back_channel = on_back_channel
        self._on_pause = on_pause
        self._pause = 0
        """Number of the newest pause in a turn."""
        self._is_pausing = False
        self._on_begin = on_begin
        self._on_end = on_end
        self._active = False
        self._echo_until = 0.0
        """Audio time (s) until which an echo is to be expected."""
        self._kept: deque[MicSound] = deque()
        self._kept_samples = 0

    def snapshot(self) -> InputVadSnapshot:
        """Return the state of the voice activity detector."""
        return self._vad.snapshot()

    def set_delay(self, seconds: float) -> None:
        """Set the silence that ends a turn."""
        self._commit.set_hold(seconds * 1000)

    def set_min_interruption(self, seconds: float) -> None:
        """Set the least speech over the model that starts a turn."""
        self._commit.set_min_interruption(seconds * 1000)

    def is_in(self, pause: int) -> bool:
        """Return True while a pause lasts and the turn has not ended."""
        return pause == self._pause and self._commit.is_ending

    def expect_more(self, pause: int, seconds: float) -> None:
        """Let the turn end after `seconds` of silence in this pause."""
        if self.is_in(pause):
            self._commit.expect_more(seconds * 1000)

    def on_words(self) -> None:
        """Note that the user was understood."""
        self._commit.on_words()

    def filter(self, sound: MicSound, *, model_speaking: bool, near_end: bool = True) -> Iterator[MicSound]:
        """Yield the audio to send for `sound` (of any length).

        `on_begin` and `on_end` are called between the pieces, so send each piece before taking the next. A turn begins
        with the audio from before its detection; outside of turns nothing is yielded. Without `near_end`, where the
        echo canceller takes it for echo, nothing in it is a voice.
        """
        for part in sound.parts(SLICE_SAMPLES):
            yield from joined(self._slice(part, model_speaking, near_end))
            self._note_pause()

    def _note_pause(self) -> None:
        was_pausing, self._is_pausing = self._is_pausing, self._active and self._commit.is_ending
        if self._is_pausing and not was_pausing:
            self._pause += 1
            self._on_pause(self._pause)

    def _slice(self, sound: MicSound, model_speaking: bool, near_end: bool) -> list[MicSound]:
        decisions = self._commit.model_speaking(model_speaking, self._vad.audio_s)
        # In order of audio time: the model's state first, then the edges, then the decisions due by the slice's end.
        if model_speaking:
            self._echo_until = self._vad.audio_s + ROOM_S
        over_model = model_speaking or self._vad.audio_s < self._echo_until
        for edge in self._vad.add(sound, near_end=near_end, over_model=over_model):
            speech = self._commit.speech_started if edge.kind == "start" else self._commit.speech_ended
            decisions += speech(edge.at_s, edge.voice_s)
        self._commit.voiced = self._vad.voiced
        decisions += self._commit.advance(self._vad.audio_s)
        self._apply(decisions)
        if self._active:
            before = list(self._kept)
            self._forget_kept()
            return [*before, sound]
        # The audio after the end of a turn may be the beginning of the next.
        self._kept.append(sound)
        self._kept_samples += len(sound) // 2
        # Speech over the model may still become a turn: keep all of it until that is decided.
        keep = PRE_ROLL_OVER_MODEL_S if model_speaking else PRE_ROLL_S
        keep = MAX_WAIT_S if self._commit.due_at is not None else keep
        while self._kept_samples > keep * RATE:
            self._kept_samples -= len(self._kept.popleft()) // 2
        return []

    def _forget_kept(self) -> None:
        self._kept.clear()
        self._kept_samples = 0

    def finish(self) -> None:
        """End the user's turn: the microphone was closed."""
        decisions = []
        for edge in self._vad.reset():
            decisions += self._commit.speech_ended(edge.at_s)
        self._apply([*decisions, *self._commit.finish(self._vad.audio_s)])
        self._forget_kept()

    def forget(self) -> None:
        """Forget the turn that goes on, and what was kept, without an end."""
        self._vad.reset()
        self._commit.forget()
        self._forget_kept()
        self._active = False

    def _apply(self, decisions: list[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, BackChannel):
                self._on_back_channel(decision.speech_s, decision.needed_s)
                continue
            self._active = not isinstance(decision, ActivityEnd)
            if isinstance(decision, InterruptionStart):
                self._on_interruption(decision.at_s - decision.speech_s)
            if self._active:
                self._on_begin()
            else:
                self._on_end()
