"""Cancel echo by a linear filter and AEC3; a probe finds whom to let through.

WebRTC's AEC3 alone is close to half-duplex: in double talk at equal levels it cuts almost half of the near-end words. A
linear filter in front of it removes most of the echo without touching near-end speech, so AEC3 has little left to
suppress. But a filter needs time to learn, and loses its way when devices drift or stall, where AEC3 alone does well.
So both run, and each frame takes the better one. `tests/bench/bench_echo.py` measures them in drawn rooms.
"""

from __future__ import annotations

import math

import numpy as np

from gemini_live_runtime.audio.echo.cancellers import SILENCE, Aec3, EchoState, FarQueue
from gemini_live_runtime.audio.echo.delay_tracker import FarDelay
from gemini_live_runtime.audio.echo.echo_path import RESPONSE_LEAD_MS, EchoPath
from gemini_live_runtime.audio.echo.expected_echo import LouderSpeech
from gemini_live_runtime.audio.echo.incoherence import Incoherence
from gemini_live_runtime.audio.echo.linear_echo import LinearEchoFilter
from gemini_live_runtime.audio.echo.near_end import (
    GOOD_LEFTOVER,
    PROVEN_LEFTOVER,
    ClearSpeech,
    NearEndShare,
    NearEndWitness,
    PredictionDoubt,
)
from gemini_live_runtime.audio.echo.path_judge import PathJudge
from gemini_live_runtime.audio.echo.pause_probe import PauseProbe
from gemini_live_runtime.audio.levels import power_db
from gemini_live_runtime.audio.samples import FRAME, FRAME_MS, FULL_SCALE, Float32, Int16, rounded

_DISTURBED_FRAMES = 50
TAIL_FRAMES = 30
"""Frames (300 ms) after a sound in which its echo may return."""
_PLAYING_FRAMES = 4
"""Frames after the last sound in which the loudspeaker may be paused."""
_IDLE_FRAMES = 100
"""Frames (1 s) after the last sound in which an echo may still come."""
_AUDIBLE_ECHO = 3.0
"""RMS (int16 units, -81 dBFS) below which a predicted echo is too weak to judge the filter."""
_AEC3_DELAY = 128
"""Delay of AEC3's output in samples (8 ms)."""
_STORED_TAPS = 1_600
"""Samples (100 ms) of the echo path that are stored."""
_MIX_SMOOTHING = 0.5
_OPEN_SMOOTHING, _CLOSE_SMOOTHING = 0.7, 0.3
_LEAST_OPEN = 0.4
"""Least part (-8 dB) of a good filter's output that passes while a person is confirmed."""
_SUPPRESSED = 0.01
"""Ratio (-20 dB) of the output of AEC3 behind the filter to its input below which there is no person."""
_LEAST_INCOHERENCE = 0.5
"""Part of what the filter leaves, unlike its prediction, below which it is an echo on another path."""
_LEAST_SHARE = 0.3
"""Share of a person's speech in what the filter leaves that counts while the echo is lower."""
_EXPLAINED = 0.15
"""Part, as above, below which all that is left is echo."""
_HELD_BACK = 0.3
"""Gain (-10 dB) of what is left of the echo until a person is confirmed."""
_MAX_LEAK = FULL_SCALE**2 * 1.5e-5
"""Mean square (-48 dBFS, below what a server takes for speech) to which what is left is limited until then.

Limited further, it is so quiet that voice detectors adapt to it and take each burst for speech."""
_HOLD_SMOOTHING, _FREE_SMOOTHING = 0.2, 0.7


class DualCanceller:
    """Linear filter with AEC3 behind it, beside AEC3 alone.

    While only the model speaks, the output is the quieter of the two, so it is never worse than AEC3. While a person
    speaks for certain, it is the filter's output, of which AEC3 suppresses what is not near-end speech. While the
    filter is disturbed it is AEC3 alone. While an echo is to be expected and no person is confirmed, what AEC3 let
    through is attenuated by 10 dB more. Who spoke in a pause has to be found anew when the model goes on, as both are
    at their worst when an echo begins. A second after the model's last sound there is nothing to cancel, and the
    microphone passes through. The delay is 8 ms in all.
    """

    name = "linear filter + WebRTC AEC3"
    __slots__ = (
        "_alone",
        "_behind",
        "_behind_power",
        "_clear",
        "_disturbed",
        "_doubt",
        "_far",
        "_far_delay",
        "_filter",
        "_gain",
        "_has_moved",
        "_incoherence",
        "_is_loud",
        "_left",
        "_louder",
        "_louder_frames",
        "_mix",
        "_open",
        "_open_share",
        "_path_judge",
        "_person",
        "_quiet",
        "_share",
        "_was_good",
        "_witness",
        "probe",
        "restarts",
    )

    def __init__(self, echo_path: EchoPath | None = None) -> None:
        """`echo_path` is what the filter begins with, where it was measured."""
        self._far = FarQueue()
        self._filter = LinearEchoFilter()
        is_known = echo_path is not None and echo_path.delay_ms is not None and bool(echo_path.response)
        self._far_delay = FarDelay()
        if echo_path is not None and echo_path.delay_ms is not None and echo_path.response:
            self._far_delay = FarDelay(echo_path.delay_ms)
            first_ms = echo_path.delay_ms - RESPONSE_LEAD_MS - self._far_delay.frames * FRAME_MS
            self._filter.begin_with(echo_path.response, max(0.0, first_ms))
        self._louder = LouderSpeech(self._filter.partitions)
        self._louder_frames = 0
        """Frames for which a person is still believed who was louder than the echo to be expected."""
        self._behind = Aec3()
        self._alone = Aec3()
        self._share = NearEndShare()
        self._incoherence = Incoherence()
        self._doubt = PredictionDoubt()
        self._clear = ClearSpeech()
        self._witness = NearEndWitness()
        self._left: Float32 = np.zeros(_AEC3_DELAY + FRAME, np.float32)
        self._behind_power = self._person = self._mix = self._open = 0.0
        self._gain = 1.0
        self._open_share = 0.0
        self.probe = PauseProbe()
        self._path_judge = PathJudge(is_known=is_known)
        self._disturbed = 0
        self._has_moved = False
        """True when frames were lost while nothing was played, and nothing was since."""
        self._was_good = False
        """True once the filter was good: a wrong prediction then shows an echo that has moved, not one not learned."""
        self._is_loud = False
        self._quiet = _IDLE_FRAMES
        self.restarts = 0
        """Times that the filter had to start over."""

    @property
    def state(self) -> EchoState:
        """State of the linear filter."""
        if self._disturbed:
            return "disturbed"
        return "proven" if self._share.leftover < PROVEN_LEFTOVER else "learning"

    @property
    def has_near_end(self) -> bool:
        """True when what comes through may be a person.

        It is one for certain and louder than a leak, or no echo is to be expected.
        """
        heard = self._witness.is_fresh and not self._disturbed and self._is_loud
        return not self._expects_echo or (self._may_open and heard)

    @property
    def _may_open(self) -> bool:
        """True while a person's voice may pass: one was found, or nothing is played."""
        return self.probe.state == "person" or self._quiet > TAIL_FRAMES

    @property
    def _expects_echo(self) -> bool:
        return self._quiet <= TAIL_FRAMES or self._share.has_echo

    def learned_path(self, measured_at: float) -> EchoPath | None:
        """Return the echo path as the filter has learned it; None before it is proven.

        `measured_at` is the present in Unix seconds.
        """
        if self.state != "proven":
            return None
        response = self._filter.response
        if not response.any():
            return None
        heights = np.abs(response)
        # Of the direct sound: a reflection may be louder.
        direct = int(np.flatnonzero(heights >= heights.max() / 2)[0])
        per_ms = FRAME // FRAME_MS
        lead = round(RESPONSE_LEAD_MS * per_ms)
        taps = response[max(0, direct - lead) :][:_STORED_TAPS]
        return EchoPath(
            measured_at=round(measured_at, 1),
            room_db=round(power_db(self._witness.noise / FULL_SCALE**2), 1),
            delay_ms=round(direct / per_ms + self._far_delay.frames * FRAME_MS, 2),
            level_db=round(10 * math.log10(max(float(response @ response), 1e-6)), 1),
            response=tuple(round(float(tap), 5) for tap in taps),
            is_learned=True,
        )

    def render(self, frame: Int16) -> None:
        """Queue the far frame for the next capture."""
        self._far.put(frame)

    def on_frames_lost(self, later: int = 0) -> None:
        """Shift the filter with the echo, and trust AEC3 alone for a moment.

        A person who speaks while nothing is played is heard on, and looked for on: that moment begins with the next
        sound.
        """
        self._filter.shift(later)
        is_person = self._may_open and self._witness.is_confirmed
        self._has_moved = self._quiet > 0 and (is_person or self.probe.state == "paused")
        if not self._has_moved:
            self._disturb()

    def capture(self, frame: Int16) -> Int16:
        """Return the frame without the echo of the rendered frames."""
        newest_far = self._far.take()
        if self._far_delay.follow(newest_far, frame, is_known=self._share.leftover < PROVEN_LEFTOVER):
            self._learn_anew()
        far = self._far_delay.delayed(newest_far)
        bare = frame.astype(np.float32)
        if np.count_nonzero(far):
            if self._quiet > TAIL_FRAMES and not self.probe.is_open:
                self._close()
            self._quiet = 0
            if self._has_moved:
                self._has_moved = False
                self._disturb()
        else:
            self._quiet += 1
        self.probe.is_listening = self._quiet <= TAIL_FRAMES
        if self._quiet > _IDLE_FRAMES and self._person == 1.0:
            self.probe.begin()
            self._witness.hear_noise(_power(bare))
            return self._pass(bare)
        error, echo = self._filter.step(far, frame)
        bare_power, error_power, echo_power = _power(bare), _power(error), _power(echo)
        self._judge_path(bare_power, error_power, echo_power)
        is_audible = bare_power > self._witness.least_speech
        doubted = self._doubt.update(bare_power, error_power, echo_power, is_audible=is_audible)
        moved = doubted and not self._witness.is_confirmed
        if moved:
            # What was believed a moment ago was the echo on its new path.
            self._witness.reset()
        incoherence = self._incoherence.update(error, echo)
        share = self._share.update(
            error_power * incoherence,
            echo_power,
            believed=self._witness.believes,
            confirmed=self._witness.is_confirmed,
            doubted=moved,
        )
        left = rounded(error)
        behind = self._behind.process(left, far).astype(np.float32)
        alone = self._alone.process(frame, far).astype(np.float32)
        proven = self._share.leftover < PROVEN_LEFTOVER
        self._path_judge.proven |= proven
        self._was_good |= self._share.leftover < GOOD_LEFTOVER
        self._behind_power += 0.3 * (_power(behind) - self._behind_power)
        louder = False
        if self._expects_echo:
            suppressed = self._behind_power < _SUPPRESSED * self._share.left
            is_hidden = doubted or suppressed
            heard = 0.0 if is_hidden or incoherence < _LEAST_INCOHERENCE else share
            newest = 0.0 if is_hidden else self._share.newest
            is_loud = error_power > self._witness.least_speech
            clear = self._clear.update(heard, newest, self._share.leftover, incoherence, is_loud=is_loud)
            self._witness.update(
                heard, bare_power, _power(alone), proven=proven, clear=clear, explained=incoherence < _EXPLAINED
            )
            self._louder_frames = max(0, self._louder_frames - 1)
            louder = self._louder.update(
                self._filter,
                self._incoherence.spectra,
                incoherence,
                proven=proven,
                is_audible=is_audible,
            )
            louder &= not (proven and suppressed)
        elif self.probe.state:
            # Nothing has been played for so long that all is a person's.
            self._witness.update(float(is_audible), bare_power, _power(alone), proven=proven)
        else:
            self._witness.hear_noise(bare_power)
        self._ask(louder=louder, moved=moved and self._was_good)
        if self._expects_echo and self._louder_frames and self._witness.believes:
            share = max(share, self._louder.passing_share)
        self._delay(error)
        if self._quiet > _IDLE_FRAMES:
            self._open = share = 1.0  # From here on it passes.
        return self._output(self._left[:FRAME], behind, alone, share)

    def _ask(self, *, louder: bool, moved: bool) -> None:
        """Let the probe decide what may be a person's voice while something is played.

        `louder` tells that it exceeds the echo to be expected, `moved` that this echo has moved.
        """
        witness, probe = self._witness, self.probe
        # A person's first sound may look like a move of the echo: that is no reason not to ask.
        exceeding = self._louder.is_likely or (self._louder.suspects and not moved)
        louder &= not moved
        if (self._quiet > TAIL_FRAMES and not probe.is_open) or self._disturbed:
            probe.begin()
            return
        # There is nothing to pause where the model is silent by itself.
        plays = self._quiet < _PLAYING_FRAMES
        exceeds = self._share.newest > _LEAST_SHARE
        heard = self._is_loud and ((witness.has_evidence and (exceeds or not self._expects_echo)) or louder)
        if heard and probe.is_deciding and self._far_delay.follow_at_once():
            self._learn_anew()
            probe.begin()
            return
        found = probe.update(
            suspected=plays and (witness.suspects or exceeding or self._clear.suspects),
            likely=plays and (witness.is_confirmed or self._louder.is_likely),
            heard=heard,
            believed=witness.believes,
            delay=self._filter.delay,
            silent=self._quiet,
            late=self._far_delay.frames,
        )
        if found or (louder and probe.state == "person"):
            witness.confirm()
            self._louder_frames = witness.HOLD_FRAMES

    def _close(self) -> None:
        """Expect an echo after a pause: who spoke in it has to be found anew."""
        if self._quiet > _IDLE_FRAMES:
            # Both still have what they were given before the pause.
            newest = rounded(self._left[_AEC3_DELAY:])
            self._behind.process(newest, SILENCE)
            self._alone.process(newest, SILENCE)
            self._share.forget_echo()
            self._louder.forget_sound()
        self._witness.reset()
        self._clear.begin()
        self._open, self._gain = 0.0, _HELD_BACK

    def _delay(self, frame: Float32) -> None:
        self._left[:_AEC3_DELAY] = self._left[FRAME:]
        self._left[_AEC3_DELAY:] = frame

    def _pass(self, frame: Float32) -> Int16:
        """Return the microphone, as late as it would be from AEC3."""
        # Far frames are dropped in pauses: what that disturbs is over after the same time.
        self._disturbed = max(0, self._disturbed - 1)
        self._delay(frame)
        return rounded(self._left[:FRAME])

    def _output(self, left: Float32, behind: Float32, alone: Float32, share: float) -> Int16:
        """Mix the filter's output, AEC3 behind it and AEC3 alone, with ramps."""
        believed = self._witness.is_certain and self._may_open
        certain = not self._disturbed and (believed or not self._expects_echo)
        if self._disturbed:
            self._disturbed -= 1
            person = mix = 0.0
        else:
            speed = _OPEN_SMOOTHING if certain else _CLOSE_SMOOTHING
            self._open += speed * (certain - self._open)
            is_good = self._share.leftover < GOOD_LEFTOVER
            least = _LEAST_OPEN if is_good and self._witness.is_confirmed else 0.0
            person = max(share, least) * self._open
            quieter = self._behind_power < self._witness.suppressed_power
            mix = max(self._open, self._mix + _MIX_SMOOTHING * (quieter - self._mix))
        free = certain and (self._witness.is_confirmed or not self._expects_echo)
        speed, target = (_FREE_SMOOTHING, 1.0) if free else (_HOLD_SMOOTHING, _HELD_BACK)
        gain = self._gain + speed * (target - self._gain)
        of_behind = self._mix + (mix - self._mix) * _RAMP
        gains = self._gain + (gain - self._gain) * _RAMP
        of_filter = self._person + (person - self._person) * _RAMP if person or self._person else None
        self._person, self._mix, self._gain = person, mix, gain
        rest = of_behind * behind + (1 - of_behind) * alone
        if not certain and self._expects_echo:
            gains *= min(1.0, math.sqrt(_MAX_LEAK / (_power(gains * rest) + 1e-9)))
        out = gains * rest
        if of_filter is not None:
            # The filter's output is held back half as much: it may be a person's first sound.
            out = of_filter * np.sqrt(gains) * left + (1 - of_filter) * out
        if self.probe.state or self._expects_echo:
            least = _LEAST_OPEN if self._share.leftover < GOOD_LEFTOVER else 0.0
            share_before, self._open_share = self._open_share, max(share, least)
            of_filter = share_before + (self._open_share - share_before) * _RAMP
            opened = of_filter * left + (1 - of_filter) * behind
            self._is_loud = _power(opened) > _MAX_LEAK
            self.probe.frame = rounded(opened)
        return rounded(out)

    def _judge_path(self, bare_power: float, error_power: float, echo_power: float) -> None:
        """Start over with a filter whose echo path is no longer the room's."""
        if echo_power < _AUDIBLE_ECHO**2 or bare_power < self._witness.least_speech:
            return
        verdict = self._path_judge.update(bare_power, error_power, echo_power)
        if verdict == "right":
            return
        self._filter.reset()
        self.restarts += 1
        if verdict == "moved":
            self._disturb()
        else:
            # AEC3 alone has learned the real path all the time, and knows it as well as in a first call.
            self._forget()

    def _learn_anew(self) -> None:
        """Begin with a far signal that is delayed by another number of frames."""
        self._filter.reset()
        self._disturb()

    def _disturb(self) -> None:
        self._forget()
        self._disturbed = _DISTURBED_FRAMES

    def _forget(self) -> None:
        self._share.reset()
        self._witness.reset()
        self._clear.begin()
        self._path_judge.begin()
        self._open = 0.0


_RAMP: Float32 = ((np.arange(FRAME, dtype=np.float32) + 1) / FRAME).astype(np.float32)


def _power(frame: Float32) -> float:
    return float(frame.dot(frame)) / FRAME
