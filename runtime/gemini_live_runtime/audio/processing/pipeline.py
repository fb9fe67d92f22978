"""Connect the device's rings to a listener, stepped by a driver.

The pipeline has no thread, device or clock of its own. A driver (the audio worker, or a timer for files) writes the
microphone ring, reads the playout ring into the device, writes the samples really played into the reference ring, and
calls `step` as blocks come. `set_microphone` and `set_speaker` may be called from another thread: they store one flag.
"""

from __future__ import annotations

from gemini_live_runtime.audio.echo.cancellers import EchoCanceller
from gemini_live_runtime.audio.interface import AudioListener
from gemini_live_runtime.audio.playback.playout import Playout
from gemini_live_runtime.audio.processing.capture import Capture
from gemini_live_runtime.audio.ring import PlayoutRing, SampleRing
from gemini_live_runtime.samples import MeterSample


class AudioPipeline:
    """Audio pipeline of a session: capture of the microphone and playout of speech."""

    def __init__(
        self,
        listener: AudioListener,
        canceller: EchoCanceller,
        *,
        mic_rate: int | None,
        out_rate: int | None,
        lead: int = 1,
        playout: Playout | None = None,
    ) -> None:
        """Create the rings; rates are in Hz, None without a device.

        `lead` is the number of slots of 10 ms kept ready. `playout` continues that of another pipeline whose driver has
        stopped.
        """
        self.microphone = SampleRing(mic_rate) if mic_rate else None
        """Ring of one second at the microphone's rate."""
        self._mic_rate = mic_rate or 0
        self.played = SampleRing(out_rate) if out_rate else None
        """Reference for the canceller: samples given to the device, after cut, fade and mute."""
        ring = PlayoutRing(out_rate) if out_rate else None
        if playout is None:
            playout = Playout(listener, ring, lead=lead)
        else:
            playout.move(ring)
        self.playout = playout
        self.capture = Capture(listener, self.microphone, mic_rate or 0, self.played, out_rate or 0, canceller)
        self._microphone_on = True

    @property
    def overflowed_chunks(self) -> int:
        """Chunks of 20 ms, rounded up, lost because the worker was late."""
        ring = self.microphone
        return -(-ring.dropped * 50 // self._mic_rate) if ring is not None and self._mic_rate else 0

    def set_microphone(self, on: bool) -> None:
        """Start or stop delivering chunks, from the next step on."""
        self._microphone_on = on

    def set_speaker(self, on: bool) -> None:
        """Play, or play silence while playback goes on."""
        if self.playout.ring is not None:
            self.playout.ring.muted = not on

    def step(self, now: float) -> None:
        """Process everything due; `now` in seconds of the driver's clock."""
        self.playout.step(now)
        if self.capture.microphone_on != self._microphone_on:
            self.capture.set_microphone(self._microphone_on)
        self.capture.step()
        if self.playout.ring is not None:
            self.playout.ring.held = self.capture.pauses

    def take_input(self, microphone: SampleRing, rate: int, canceller: EchoCanceller) -> None:
        """Continue with another microphone, beside playback. Called by the driver."""
        self.microphone, self._mic_rate = microphone, rate
        self.capture.take_input(microphone, rate, canceller)

    def take_output(self, ring: PlayoutRing, played: SampleRing, rate: int, canceller: EchoCanceller) -> None:
        """Continue on another loudspeaker, beside capture. Called by the driver."""
        self.playout.move(ring)
        self.played = played
        self.capture.take_output(played, rate, canceller)

    def lose_input(self) -> None:
        """Stop capturing; playback goes on."""
        self.capture.lose_input()

    def lose_output(self) -> None:
        """Stop playing; capturing goes on."""
        self.playout.lose_output()
        self.capture.lose_output()

    @property
    def levels(self) -> MeterSample:
        """Current values of the meters; any thread may ask."""
        return self.levels_with()

    def levels_with(self, *, mic_dropped: int = 0, drift_ppm: float | None = None, xruns: int = 0) -> MeterSample:
        """Return them with what the driver knows."""
        capture, playout = self.capture, self.playout
        hears = capture.has_microphone and capture.microphone_on
        return MeterSample(
            mic_db=capture.mic_level.rms if hears else None,
            mic_peak_db=capture.mic_level.peak if hears else None,
            clean_db=capture.clean_level.rms if hears else None,
            out_db=capture.out_level.rms if capture.has_output else None,
            clipped=hears and capture.mic_level.clipped,
            speech=capture.speaking,
            erle_db=capture.erle.erle_db if capture.has_microphone and capture.has_output else None,
            echo_filter=capture.echo_filter,
            buffer_ms=playout.queued_ms,
            underruns=playout.buffer.underruns,
            jitter_ms=round(playout.jitter.target_ms, 1) if playout.ring is not None else 0.0,
            far_missing=capture.far_missing,
            far_dropped=capture.far_dropped,
            heard_itself=capture.self_hearing.heard_itself,
            probe=capture.probe_state,
            false_pauses=capture.false_pauses,
            mic_dropped=mic_dropped,
            drift_ppm=drift_ppm,
            xruns=xruns,
        )


class PipelineAudio:
    """Base of an `AudioIO` that plays through an `AudioPipeline`, once it is open."""

    _pipeline: AudioPipeline | None = None
    _is_paused = False

    def play(self, gen: int, pcm: bytes) -> None:
        """Queue 24 kHz s16le of `gen`; dropped without a loudspeaker."""
        if self._pipeline is not None:
            self._pipeline.playout.play(gen, pcm)
            self._step_soon()

    def end_of_turn(self, gen: int) -> None:
        """Mark the audio of `gen` as complete."""
        if self._pipeline is not None:
            self._pipeline.playout.end_of_turn(gen)
            self._step_soon()

    def cut(self, cut_below: int) -> None:
        """Stop all generations below `cut_below` and report what was played of them."""
        if self._pipeline is not None:
            self._pipeline.playout.cut(cut_below)
            self._step_soon()

    def silence(self, cut_below: int) -> None:
        """Play no generation below `cut_below` any more; `cut` follows.

        Any thread may call.
        """
        pipeline = self._pipeline
        if pipeline is not None:
            pipeline.playout.silence(cut_below)

    def set_paused(self, paused: bool) -> None:
        """Consume no more samples, or go on with the next one."""
        self._is_paused = paused
        if self._pipeline is not None:
            self._pipeline.playout.set_paused(paused)

    def played_samples(self, gen: int) -> int:
        """Return the samples of `gen` that were consumed."""
        return self._pipeline.playout.played_samples(gen) if self._pipeline is not None else 0

    @property
    def playing(self) -> bool:
        """True while samples are queued that were not consumed."""
        return self._pipeline is not None and self._pipeline.playout.playing

    def _step_soon(self) -> None:
        """Make the driver step before its next tick, where it can."""
