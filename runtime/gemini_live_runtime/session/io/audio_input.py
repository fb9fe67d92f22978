"""The session's ears: what microphone, speaker and devices have to say, on its way to the core and to the socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_live_runtime.audio.interface import AudioIO, Direction, MicChunk
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.effects import Effect
from gemini_live_runtime.session.definition.definition import DEFAULT_PRESET
from gemini_live_runtime.session.io.input_activity import InputActivity
from gemini_live_runtime.session.io.wire_writer import WireWriter

if TYPE_CHECKING:
    from gemini_live_runtime.session.io.vad import InputVadSnapshot
    from gemini_live_runtime.session.orchestrator import Orchestrator


class AudioInput:
    """The `AudioListener` of one session."""

    def __init__(
        self,
        core: SessionCore,
        audio: AudioIO,
        writer: WireWriter,
        conductor: Orchestrator,
        clock: Clock,
        *,
        perform: Callable[[list[Effect]], None],
        changed: Callable[[], None],
    ) -> None:
        """`changed` is told when the microphone's file has been read."""
        self._core = core
        self._audio = audio
        self._writer = writer
        self.conductor = conductor
        self._now = clock.now
        self._perform = perform
        self._changed = changed
        self._finished = False
        definition = conductor.plan.definition
        self._activity: InputActivity | None = None
        if definition.turn_taking == "client":
            self._activity = InputActivity(
                definition.turn_preset or DEFAULT_PRESET,
                begins=lambda: self._speech_committed(True),
                ends=lambda: self._speech_committed(False),
            )

    # -- the microphone ----------------------------------------------------------------------------------------------

    def mic_chunk(self, chunk: MicChunk) -> None:
        """20 ms of microphone: straight to the socket."""
        if self._audio.finished is not self._finished:
            self._finished = self._audio.finished
            self._changed()
        self.take_audio(chunk.pcm)

    def take_audio(self, pcm: bytes) -> None:
        """Microphone audio (s16le mono at 16 kHz): straight to the socket."""
        connection = self._writer.connection
        if connection is None or not self._core.taking_audio:
            return
        pieces = (pcm,) if self._activity is None else self._activity.heard(pcm, model_speaking=self._audio.playing)
        for piece in pieces:
            before = self._core.audio_flows()
            if before:
                self._perform(before)
            if self.conductor.pending.has_context:
                self.conductor.user_writer.flush()
            connection.send_audio(piece)

    def microphone(self, on: bool) -> None:
        """The microphone was opened, or closed: what is being said ends with it."""
        if self._activity is not None and not on:
            self._activity.finish()

    def input_vad_state(self) -> InputVadSnapshot | None:
        """Our own voice activity detector; None while it decides nothing."""
        return None if self._activity is None else self._activity.snapshot()

    def _speech_committed(self, begins: bool) -> None:
        self.conductor.fast.user_speech(begins)
        if not begins:
            self.conductor.telemetry.committed(self._now())

    # -- the speaker and the devices ---------------------------------------------------------------------------------

    def playback_started(self, gen: int) -> None:
        """The first sample of `gen` was played."""
        self._perform(self._core.playback_started(self._now(), gen))

    def playback_heard(self, gen: int, first: int, count: int) -> None:
        """Samples of `gen` were played."""
        self._perform(self._core.playback_heard(self._now(), gen, first, count))

    def playback_drained(self, gen: int) -> None:
        """All of `gen` was played."""
        self._perform(self._core.playback_drained(self._now(), gen))

    def voice(self, speaking: bool) -> None:
        """The local voice mark changed."""
        self._perform(self._core.voice(self._now(), speaking))

    def echo_warning(self, leaking: bool) -> None:
        """Echo is reduced too little, or again enough."""
        self._perform(self._core.echo_warning(self._now(), leaking))

    def device_lost(self, direction: Direction, reason: str) -> None:
        """A device vanished."""
        self._perform(self._core.device_lost(self._now(), direction, reason))
