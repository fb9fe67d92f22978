"""Route audio callbacks to the core and the socket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import AudioIO, AudioOpened, Direction, MicChunk
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.effects import Effect
from gemini_live_runtime.session.io.user_turns import UserTurns
from gemini_live_runtime.session.link.kept_audio import RATE
from gemini_live_runtime.session.link.mic_sound import MicSound, joined

if TYPE_CHECKING:
    from gemini_live_runtime.session.endpointing.vad import InputVadSnapshot
    from gemini_live_runtime.session.link.kept_audio import SoundChunk
    from gemini_live_runtime.session.orchestrator import Orchestrator


MAX_AT_ONCE = RATE // 2
"""Samples that waited for a connection, sent to it in one message: half a second."""


P = ParamSpec("P")


def _guarded(
    method: Callable[Concatenate[AudioInput, P], None],
) -> Callable[Concatenate[AudioInput, P], None]:
    """Report a fault in a method of the listener.

    Its callers read the audio process's reports, and would take it for one that cannot be read.
    """

    @wraps(method)
    def call(self: AudioInput, /, *args: P.args, **kwargs: P.kwargs) -> None:
        what = f"A report of the sound was not processed ({method.__name__})"
        self._orchestrator.faults.guard(what, lambda: method(self, *args, **kwargs))

    return call


class AudioInput:
    """`AudioListener` of one session."""

    def __init__(
        self,
        core: SessionCore,
        audio: AudioIO,
        orchestrator: Orchestrator,
        clock: Clock,
        *,
        perform: Callable[[list[Effect]], None],
        on_change: Callable[[], None],
        on_opened: Callable[[AudioOpened], None],
    ) -> None:
        """`on_change` is called when the microphone's file has been read to its end.

        `on_opened` gets devices that were opened after a loss.
        """
        self._core = core
        self._audio = audio
        self._orchestrator = orchestrator
        self._agent = orchestrator.agent
        self._now = clock.now
        self._perform = perform
        self._on_change = on_change
        self._on_opened = on_opened
        self._is_finished = False
        self._intended_to = 0
        """Sample of the track before which all was reported as about to be sent."""
        self.turns = UserTurns(core, orchestrator, clock, perform=perform, take=self._go_on_with)

    # -- the microphone ----------------------------------------------------------------------------------------------

    @property
    def takes_audio(self) -> bool:
        """True when microphone audio goes somewhere.

        That is: voice mode, an input, not muted, a connection or one to come.
        """
        state = self._core.state
        is_over = state.ended or state.is_draining
        return state.mode == "voice" and state.microphone_on and state.input_open and not is_over

    @_guarded
    def on_mic_chunk(self, chunk: MicChunk) -> None:
        """Send 20 ms of microphone audio to the socket."""
        if self._audio.finished is not self._is_finished:
            self._is_finished = self._audio.finished
            self._on_change()
        self.take_audio(chunk.pcm, chunk.captured_at, near_end=chunk.near_end)

    def take_audio(self, pcm: bytes, captured_at: float | None = None, *, near_end: bool = True) -> None:
        """Send microphone audio (s16le mono at 16 kHz) to the socket.

        `captured_at` is the clock time (s) of its last sample; `near_end` is False where it is taken for echo. Our
        detector holds it back where it decides turns.
        """
        if self._core.state.taking_audio:
            self._pass_on(self._core.state.link.outbox.audio.number(pcm), captured_at, near_end)

    def _pass_on(self, sound: MicSound, captured_at: float | None, near_end: bool) -> None:
        link, sound = self._core.state.link, self._heard_of(sound)
        if link.takes_audio:
            link.outbox.audio.add(sound, captured_at, sent=True)
            self._send(sound, captured_at, near_end)
        else:
            link.outbox.add_audio(sound, captured_at)

    def _go_on_with(self, sound: MicSound, captured_at: float | None, near_end: bool) -> None:
        """Send sound, kept since it was captured, that waited for a turn's end."""
        link = self._core.state.link
        if link.takes_audio:
            self._send(self._heard_of(sound), captured_at, near_end)
        else:
            link.outbox.take_back((sound,))

    def _heard_of(self, sound: MicSound) -> MicSound:
        """Return the sound that the model may hear of it."""
        # As long as what it stands for, so that clocks hold.
        return sound.silenced() if self._core.state.speeches.is_protected else sound

    def _send(self, sound: MicSound, captured_at: float | None, near_end: bool) -> None:
        link = self._core.state.link
        for piece in self.turns.filter(sound, captured_at, near_end, model_speaking=self._audio.playing):
            before = self._core.audio.begin_stream()
            if before:
                self._perform(before)
            if self._agent.context_queue.has_context:
                self._agent.user_writer.flush()
            if link.outbox.samples_sent >= self._intended_to:
                self._intend(link.outbox.samples_sent)
            link.send_audio(piece, captured_at)

    def _intend(self, first: int) -> None:
        """Report that the next second is about to be sent, from sample `first` on."""
        self._intended_to = first + RATE
        self._agent.emit(ev.SendIntended(kind="audio", ref=f"user:{first}+{RATE}"))

    def send_kept(self, chunks: Sequence[SoundChunk]) -> None:
        """Send what was kept while there was no connection, oldest first.

        What was said before the microphone was closed is sent all the same, and ends with it.
        """
        # In larger pieces: a connection's queue holds a second of small ones.
        captured_at = {chunk.sound.end: chunk.captured_at for chunk in chunks}
        for piece in joined((chunk.again() for chunk in chunks), at_most=MAX_AT_ONCE):
            self._pass_on(piece, captured_at[piece.end], near_end=True)
        if not self._core.state.taking_audio:
            self.turns.finish()
        has_speech = any(chunk.is_speech for chunk in chunks)
        self._perform(self._core.audio.on_kept_sent(self._now(), has_speech=has_speech))

    def on_microphone(self, on: bool) -> None:
        """End what is being said when the microphone is closed."""
        if not on:
            self.turns.finish()
        if self._core.state.manual_activity:
            self._agent.input_times.on_activity(on, self._core.state.turns.number)

    def input_vad_state(self) -> InputVadSnapshot | None:
        """Return the state of our voice activity detector; None while it decides nothing."""
        return self.turns.vad_state()

    # -- the speaker and the devices ---------------------------------------------------------------------------------

    @_guarded
    def on_playback_started(self, gen: int) -> None:
        """Pass on that the first sample of `gen` was played."""
        self._perform(self._core.audio.on_playback_started(self._now(), gen))

    @_guarded
    def on_playback_heard(self, gen: int, first: int, count: int, heard_at: float | None = None) -> None:
        """Pass on that samples of `gen` were played."""
        self._perform(self._core.audio.on_playback_heard(self._now(), gen, first, count, heard_at))

    @_guarded
    def on_playback_drained(self, gen: int) -> None:
        """Pass on that all of `gen` was played."""
        self._perform(self._core.audio.on_playback_drained(self._now(), gen))

    @_guarded
    def on_voice(self, speaking: bool) -> None:
        """Pass on that the local voice mark changed."""
        # The peak is held for longer than the mark waits.
        peak_db = None if speaking else self._audio.levels().mic_peak_db
        self._core.state.link.outbox.on_voice(speaking)
        self._perform(self._core.audio.on_voice(self._now(), speaking, peak_db))

    @_guarded
    def on_echo_warning(self, leaking: bool) -> None:
        """Pass on that echo is reduced too little, or again enough."""
        self._perform(self._core.audio.on_echo_warning(self._now(), leaking))

    @_guarded
    def on_device_lost(self, direction: Direction, reason: str) -> None:
        """Pass on that a device was lost."""
        self._perform(self._core.audio.on_device_lost(self._now(), direction, reason))

    @_guarded
    def on_devices_opened(self, opened: AudioOpened) -> None:
        """Pass on that other devices are open, or lost ones again."""
        self._on_opened(opened)
