"""Process the microphone: cancel echo, meter, detect voice, cut 20 ms chunks.

Everything here runs on the audio worker's thread, except that device callbacks write the two rings it reads.
"""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo.cancellers import EchoCanceller
from gemini_live_runtime.audio.echo.erle import ErleMeter
from gemini_live_runtime.audio.echo.pause_probe import KeptSound, MicFrame, ProbeState
from gemini_live_runtime.audio.echo.self_hearing import SelfHearing
from gemini_live_runtime.audio.interface import MIC_RATE, AudioListener, MicChunk
from gemini_live_runtime.audio.levels import LevelMeter, PowerMeter, mean_square
from gemini_live_runtime.audio.processing.step_clock import CHUNK_FRAMES
from gemini_live_runtime.audio.processing.voice_detector import VoiceDetector
from gemini_live_runtime.audio.resample import BlockResampler
from gemini_live_runtime.audio.ring import SampleRing
from gemini_live_runtime.audio.samples import FRAME, Int16, to_int16

WAIT_FRAMES = 4
"""Frames (40 ms) the microphone may run ahead of playback before silence is rendered instead."""
WAIT_PLAYING_FRAMES = 12
"""The same while the model speaks: silence in mid-answer moves the echo, a late chunk is only late."""
FAR_SLACK_FRAMES = 1
"""Played frames that may wait for the microphone.

More of them for half a second mean that microphone samples were lost. The echo would soon be captured before its sound
is rendered, so the oldest frames are dropped and counted: in a silence where one comes in time."""
FAR_URGENT_FRAMES = 5
"""Played frames too many for the microphone that are dropped also in mid-answer."""
MAX_FAR_FRAMES = 20
"""Most played frames (200 ms) kept for a microphone that lags behind."""
MIC_SLACK_FRAMES = 1
"""Microphone frames that may wait for what is played.

More of them for half a second mean that the loudspeaker lost samples, which never come. The microphone would stay late,
so silence is rendered in their place once the model pauses."""
_SLACK_WINDOW_FRAMES = 50
_QUIET = 33
"""Amplitude (int16 units, -60 dBFS) below which what is played makes no echo that matters."""
_QUIET_FRAMES = 100

_SILENCE: Int16 = np.zeros(FRAME, np.int16)


class _Frames:
    """Queue that reads samples at a device's rate and returns 10 ms frames at 16 kHz."""

    def __init__(self, ring: SampleRing, rate: int) -> None:
        self.ring = ring
        self.rate = rate
        self._taken = 0
        self._resampler = BlockResampler(rate, MIC_RATE)
        self._samples: Int16 = np.zeros(0, np.int16)

    def collect(self) -> None:
        """Read and resample everything in the ring."""
        if self.ring.available:
            fresh = to_int16(self._resampler.process(self.ring.read()))
            self._samples = np.concatenate((self._samples, fresh)) if len(self._samples) else fresh

    @property
    def ready(self) -> int:
        """Number of whole frames."""
        return len(self._samples) // FRAME

    @property
    def moment(self) -> float:
        """Clock time (s) of the end of the frame taken last."""
        position, ended = self.ring.mark
        return ended - position / self.rate + self._taken / MIC_RATE - self._resampler.delay_s

    def take(self) -> Int16:
        """Remove and return the oldest frame."""
        frame, self._samples = self._samples[:FRAME], self._samples[FRAME:]
        self._taken += FRAME
        return frame

    def is_quiet(self, frames: int) -> bool:
        """Return True when the oldest `frames` frames are silent."""
        oldest = self._samples[: frames * FRAME]
        return bool(oldest.max(initial=0) < _QUIET and oldest.min(initial=0) > -_QUIET)

    def skip(self, frames: int) -> None:
        """Drop the oldest `frames` frames."""
        self._samples = self._samples[frames * FRAME :]
        self._taken += frames * FRAME


class Capture:
    """Cleans the microphone frame by frame and delivers chunks to the listener.

    For each microphone frame the canceller first gets the played frame of the same moment.
    """

    def __init__(
        self,
        listener: AudioListener,
        microphone: SampleRing | None,
        mic_rate: int,
        played: SampleRing | None,
        played_rate: int,
        canceller: EchoCanceller,
    ) -> None:
        self._listener = listener
        self._mic = _Frames(microphone, mic_rate) if microphone is not None else None
        self._far = _Frames(played, played_rate) if played is not None else None
        self._suspended: _Frames | None = None
        self._canceller = canceller
        self._kept = KeptSound()
        self._chunk: list[Int16] = []
        self._chunk_power = 0.0
        self._near_end = False
        self._captured_until = 0.0
        self._far_quiet = _QUIET_FRAMES
        self._frames_late = 0
        """Frames processed since the microphone waits for samples that may be lost."""
        self._watch_slack()
        self._voice = VoiceDetector()
        self.erle = ErleMeter()
        self.self_hearing = SelfHearing()
        self.mic_level = LevelMeter()
        self.clean_level = PowerMeter()
        self.out_level = PowerMeter()
        self.microphone_on = True
        self.far_missing = 0
        """Frames rendered as silence because the loudspeaker's samples were late or lost."""
        self.far_dropped = 0
        """Played frames dropped because the microphone lagged behind."""

    @property
    def canceller(self) -> EchoCanceller:
        """Canceller that processes the microphone."""
        return self._canceller

    @property
    def speaking(self) -> bool:
        """True while the voice detector hears speech."""
        return self._voice.speaking

    @property
    def echo_filter(self) -> str:
        """State of the canceller's linear filter, "" without one."""
        return self._canceller.state if self.has_microphone and self.has_output else ""

    @property
    def pauses(self) -> bool:
        """True while the loudspeaker is to be silent, so that a person is heard."""
        probe = self._canceller.probe
        return probe is not None and probe.pauses and self.has_microphone and self.microphone_on

    @property
    def probe_state(self) -> ProbeState:
        """State of the canceller's probe, "" without one."""
        probe = self._canceller.probe
        return probe.state if probe is not None and self.has_microphone and self.has_output else ""

    @property
    def false_pauses(self) -> int:
        """Times that this found no person, with the present canceller."""
        probe = self._canceller.probe
        return probe.echoes if probe is not None else 0

    @property
    def has_microphone(self) -> bool:
        """True while a microphone is open."""
        return self._mic is not None

    @property
    def has_output(self) -> bool:
        """True while a loudspeaker is open."""
        return self._far is not None

    def frames_until(self, count: int) -> tuple[int, int]:
        """Return the frames to come from microphone and loudspeaker for `count` more.

        They end with a chunk.
        """
        count -= (len(self._chunk) + len(self._kept)) % CHUNK_FRAMES
        mic, far = (side.ready if side is not None else 0 for side in (self._mic, self._far))
        return count - mic, count - far

    def take_input(self, microphone: SampleRing, rate: int, canceller: EchoCanceller) -> None:
        """Go on with another microphone of `rate` Hz."""
        self._mic, self._canceller = _Frames(microphone, rate), canceller
        self._watch_slack()

    def take_output(self, played: SampleRing, rate: int, canceller: EchoCanceller) -> None:
        """Go on with another loudspeaker of `rate` Hz."""
        self._far, self._canceller, self._suspended = _Frames(played, rate), canceller, None
        self._watch_slack()

    def suspend_output(self) -> None:
        """Stop reading the loudspeaker's reference while its stream is opened anew."""
        self._suspended, self._far = self._far, None
        self.out_level.reset()

    def resume_output(self, later: int) -> None:
        """Read the reference again; its echo comes `later` frames later than before."""
        far = self._suspended
        if far is None:
            return
        far.ring.read()  # Played before the stream was closed, while nothing was rendered.
        self._far, self._suspended = _Frames(far.ring, far.rate), None
        self._canceller.on_frames_lost(later)
        self._watch_slack()

    def lose_input(self) -> None:
        """Stop reading the microphone."""
        self._mic = None
        self._forget_microphone()

    def lose_output(self) -> None:
        """Stop reading the loudspeaker's reference."""
        self._far = None
        self.out_level.reset()

    def set_microphone(self, on: bool) -> None:
        """Deliver chunks or not. Called on the worker's thread."""
        if self.microphone_on and not on:
            self._forget_microphone()
        self.microphone_on = on

    def step(self) -> None:
        """Process every frame for which both sides have samples."""
        if self._far is not None:
            self._far.collect()
        if self._mic is None:
            self._meter_only()
            return
        self._mic.collect()
        while self._mic.ready:
            far = self._next_far(self._mic.ready)
            if far is None:
                # The loudspeaker's callback is late: wait, so that the echo finds its reference rendered.
                self._catch_up(self._mic)
                return
            self._frame(self._mic.take(), far, self._mic.moment)
            self._frames_watched += 1
            self._frames_late += 1
        self._frames_late = 0
        if self._far is not None:
            self._keep_aligned(self._far)

    def _watch_slack(self) -> None:
        self._least_waiting = MAX_FAR_FRAMES
        # The streams start one after the other, so the slack is checked early, before anything is played.
        self._frames_watched = _SLACK_WINDOW_FRAMES - 10
        self._frames_late = 0
        self._least_late = WAIT_PLAYING_FRAMES

    def _catch_up(self, mic: _Frames) -> None:
        """Render silence for what the loudspeaker lost, once the model pauses."""
        if mic.ready <= MIC_SLACK_FRAMES:
            self._frames_late = 0
        if self._frames_late == 0:
            self._least_late = WAIT_PLAYING_FRAMES
        late = self._least_late = min(self._least_late, mic.ready)
        if self._frames_late < _SLACK_WINDOW_FRAMES or self._far_quiet < late:
            return
        # The echo was later by as much, which the filter knows only if something was played meanwhile.
        is_known = self._far_quiet < self._frames_late
        for _ in range(late):
            self._frame(mic.take(), _SILENCE, mic.moment)
        self._frames_late = 0
        self.far_missing += late
        if is_known:
            self._canceller.on_frames_lost(-late)

    def _keep_aligned(self, far: _Frames) -> None:
        self._least_waiting = min(self._least_waiting, far.ready)
        if far.ready > MAX_FAR_FRAMES:
            # The microphone stalls, so nothing was learned meanwhile.
            self._drop(far, far.ready - FAR_SLACK_FRAMES)
            if not self._far_quiet:
                self._canceller.on_frames_lost()
        elif self._frames_watched >= _SLACK_WINDOW_FRAMES:
            excess = self._least_waiting if self._least_waiting > FAR_SLACK_FRAMES else 0
            if excess and excess < FAR_URGENT_FRAMES and not far.is_quiet(excess):
                return  # Until the model pauses.
            # The echo was earlier by as much, which the filter knows only if something was played meanwhile.
            is_known = self._far_quiet < self._frames_watched
            self._frames_watched = 0
            self._least_waiting = MAX_FAR_FRAMES
            if excess:
                self._drop(far, excess)
                if is_known:
                    self._canceller.on_frames_lost(excess)

    def _drop(self, far: _Frames, frames: int) -> None:
        far.skip(frames)
        self.far_dropped += frames

    def _next_far(self, waiting: int) -> Int16 | None:
        if self._far is None:
            return _SILENCE
        if self._far.ready:
            return self._far.take()
        # A microphone that has been late for long is caught up with at once, by what the filter has learned.
        is_patient = not self._far_quiet or self._frames_late >= _SLACK_WINDOW_FRAMES
        if waiting <= (WAIT_PLAYING_FRAMES if is_patient else WAIT_FRAMES):
            return None
        self.far_missing += 1
        if not self._far_quiet:
            # Lost or late: by how much the echo moves is seen when the loudspeaker is back. In a pause none does.
            self._canceller.on_frames_lost()
        return _SILENCE

    def _meter_only(self) -> None:
        while self._far is not None and self._far.ready:
            self.out_level.add(mean_square(self._far.take()))

    def _frame(self, mic: Int16, far: Int16, moment: float) -> None:
        far_power = mean_square(far)
        if self._far is not None:
            self.out_level.add(far_power)
        self._far_quiet = 0 if far_power > 1e-7 else self._far_quiet + 1
        # A muted microphone is still processed during playback, so that the canceller keeps tracking the echo.
        if not self.microphone_on and self._far_quiet > _QUIET_FRAMES:
            return
        self._canceller.render(far)
        clean = self._canceller.capture(mic)
        mic_power, clean_power = mean_square(mic), mean_square(clean)
        if self._far_quiet <= _QUIET_FRAMES:
            # Neither learns anything while nothing is played.
            if self._far is not None and self.erle.add(far_power, mic_power, clean_power):
                self._listener.on_echo_warning(self.erle.leaking)
            self.self_hearing.add(far_power, clean_power)
        if not self.microphone_on:
            return
        self.mic_level.add_frame(mic, mic_power)
        self.clean_level.add(clean_power)
        playing = self._far_quiet < _QUIET_FRAMES // 4
        newest = MicFrame(clean, moment, self._canceller.has_near_end, playing)
        for frame in self._kept.add(newest, self._canceller.probe):
            self._chunk.append(frame.sound)
            self._chunk_power += (clean_power if frame is newest else mean_square(frame.sound)) / CHUNK_FRAMES
            self._near_end |= frame.near_end
            if len(self._chunk) == CHUNK_FRAMES:
                self._deliver(frame.moment, playing=frame.playing)

    def _deliver(self, moment: float, *, playing: bool) -> None:
        pcm = np.concatenate(self._chunk).tobytes()
        power = self._chunk_power
        near_end, self._near_end = self._near_end, False
        self._chunk.clear()
        self._chunk_power = 0.0
        # A callback that came late has told a later time than the next one tells.
        self._captured_until = max(self._captured_until, moment)
        self._listener.on_mic_chunk(MicChunk(pcm, self._captured_until, near_end))
        if self._voice.add(pcm, power, playing=playing, near_end=near_end):
            self.self_hearing.on_voice(self._voice.speaking)
            self._listener.on_voice(self._voice.speaking)

    def _forget_microphone(self) -> None:
        self._kept.clear()
        self._chunk.clear()
        self._chunk_power = 0.0
        spoke = self._voice.speaking
        self._voice.reset()
        self.mic_level.reset()
        self.clean_level.reset()
        if spoke:
            self._listener.on_voice(False)
