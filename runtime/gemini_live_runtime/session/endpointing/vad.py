"""Detect the start and end of speech in the microphone's audio, in audio time.

Unlike the detector of the display (`audio/processing/voice_detector.py`), this one decides turns: it takes chunks of
any size, confirms a start, keeps the audio that led to it, and counts time in samples, so the same audio always has
the same edges.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Literal, TypeAlias

from gemini_live_runtime.audio.interface import MIC_RATE
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import frozen_record, record

VadState: TypeAlias = Literal["silence", "pending_speech", "speech", "hangover"]
Detector: TypeAlias = Callable[[bytes], bool]
"""Function that returns True for a frame with speech (s16le mono PCM at 16 kHz)."""

FRAME_LENGTHS_MS = (10, 20, 30)
"""Frame lengths in ms that WebRTC's detector accepts."""

OVER_MODEL_MS = 80
"""Voice in ms that starts speech while the model speaks, with up to half as much silence in it.

What a canceller takes for a person flickers where the echo is the louder."""


@record
class VadEdge:
    """Start or end of speech. Times are audio seconds since the detector began.

    `at_s` is the time of the decision; `voice_s` is the beginning of the first voiced frame, or the end of the last.
    """

    kind: Literal["start", "end"]
    at_s: float
    voice_s: float


@frozen_record
class InputVadSnapshot:
    """State of the detector.

    `last_transition_s`: audio time of the last change of state, or None.
    """

    sample_rate: int
    frame_ms: int
    state: VadState
    speaking: bool
    frames_processed: int
    last_transition_s: float | None


def webrtc_detector() -> Detector:
    """Return WebRTC's detector in its strictest mode, 3."""
    import webrtcvad

    vad = webrtcvad.Vad(3)
    return lambda frame: bool(vad.is_speech(frame, MIC_RATE))


class InputVad:
    """Voice activity detector of s16le mono PCM at 16 kHz.

    `min_speech_frames` voiced frames in a row start speech, over the model `OVER_MODEL_MS` of them;
    `hangover_frames` unvoiced ones in a row end it; both are at least 1. `pre_speech_frames` (0 or more) frames from
    before a start are kept besides those that decided it. Raises `AgentError` for other values.
    """

    def __init__(
        self,
        *,
        frame_ms: int = 20,
        min_speech_frames: int = 2,
        hangover_frames: int = 12,
        pre_speech_frames: int = 5,
        detector: Detector | None = None,
    ) -> None:
        if frame_ms not in FRAME_LENGTHS_MS:
            raise AgentError(
                f"A voice activity frame cannot be {frame_ms!r} ms long",
                remedy="Use 10, 20 or 30",
                field="frame_ms",
                value=frame_ms,
            )
        bounds = (
            ("min_speech_frames", min_speech_frames, 1),
            ("hangover_frames", hangover_frames, 1),
            ("pre_speech_frames", pre_speech_frames, 0),
        )
        for name, value, least in bounds:
            if value < least:
                raise AgentError(f"{name} cannot be {value}", remedy=f"Use {least} or more", field=name, value=value)
        self._frame_ms = frame_ms
        self._frame_bytes = MIC_RATE * frame_ms // 1000 * 2
        self._min_speech = min_speech_frames
        self._hangover = hangover_frames
        self._pre_speech = pre_speech_frames
        self._over_model = max(min_speech_frames, math.ceil(OVER_MODEL_MS / frame_ms))
        window = self._over_model + self._over_model // 2
        self._recent: deque[bool] = deque(maxlen=window)
        """Verdicts on the newest frames outside of speech: voiced or not."""
        self._voiced = detector if detector is not None else webrtc_detector()
        self._ring: deque[bytes] = deque(maxlen=pre_speech_frames + window)
        self._rest = b""
        self._state: VadState = "silence"
        self._run = 0
        """Number of voiced frames while speech is pending, of unvoiced ones in the hang-over."""
        self._frames = 0
        self._changed_at: float | None = None

    @property
    def audio_s(self) -> float:
        """Seconds of audio processed so far: the clock of the edges; never goes back."""
        return self._at(self._frames)

    @property
    def speaking(self) -> bool:
        """True when speech has started and not ended."""
        return self._state in ("speech", "hangover")

    @property
    def voiced(self) -> bool:
        """True while speech goes on with a voiced frame, False in its hang-over."""
        return self._state == "speech"

    def add(self, pcm: bytes, *, near_end: bool = True, over_model: bool = False) -> list[VadEdge]:
        """Process the next chunk, of any size, and return its edges.

        An incomplete frame waits for the next chunk. Without `near_end`, where an echo canceller takes the chunk for
        echo, no frame that ends in it is voiced; `over_model` says that the model speaks.
        """
        data = self._rest + pcm
        whole = len(data) // self._frame_bytes * self._frame_bytes
        self._rest = data[whole:]
        edges = []
        for at in range(0, whole, self._frame_bytes):
            edge = self._judge(data[at : at + self._frame_bytes], near_end, over_model)
            if edge is not None:
                edges.append(edge)
        return edges

    def take_pre_speech(self) -> bytes:
        """Remove and return the audio up to the decision of the last start.

        It consists of silent frames, then voiced ones.
        """
        pcm = b"".join(self._ring)
        self._ring.clear()
        return pcm

    def reset(self) -> list[VadEdge]:
        """Return to silence after a gap in the audio; return the end of current speech.

        Gaps come from a change of device or a muted microphone.
        """
        edges = [VadEdge("end", self.audio_s, self._voice_end())] if self.speaking else []
        self._rest = b""
        self._ring.clear()
        self._recent.clear()
        if self._state != "silence":
            self._change("silence")
        return edges

    def snapshot(self) -> InputVadSnapshot:
        """Return the state of the detector."""
        return InputVadSnapshot(
            sample_rate=MIC_RATE,
            frame_ms=self._frame_ms,
            state=self._state,
            speaking=self.speaking,
            frames_processed=self._frames,
            last_transition_s=self._changed_at,
        )

    def _judge(self, frame: bytes, near_end: bool, over_model: bool) -> VadEdge | None:
        # The detector has to hear all frames: it follows the noise.
        voiced = self._voiced(frame) and near_end
        self._frames += 1
        if not self.speaking:
            self._ring.append(frame)
            return self._judge_silence(voiced, over_model)
        if voiced:
            if self._state == "hangover":
                self._change("speech")
            return None
        if self._state == "speech":
            self._change("hangover")
        self._run += 1
        if self._run < self._hangover:
            return None
        edge = VadEdge("end", self.audio_s, self._voice_end())  # before `_change`, which resets the run
        self._ring.clear()
        self._change("silence")
        return edge

    def _judge_silence(self, voiced: bool, over_model: bool) -> VadEdge | None:
        self._recent.append(voiced)
        if not voiced:
            if self._state == "pending_speech":
                self._change("silence")
            return None
        if self._state == "silence":
            self._change("pending_speech")
        self._run += 1
        if over_model:
            if sum(self._recent) < self._over_model:
                return None
            led = len(self._recent) - self._recent.index(True)
        elif self._run < self._min_speech:
            return None
        else:
            led = self._run
        while len(self._ring) > self._pre_speech + led:
            self._ring.popleft()
        self._recent.clear()
        edge = VadEdge("start", self.audio_s, self._at(self._frames - led))
        self._change("speech")
        return edge

    def _voice_end(self) -> float:
        return self._at(self._frames - (self._run if self._state == "hangover" else 0))

    def _change(self, state: VadState) -> None:
        self._state, self._run, self._changed_at = state, 0, self.audio_s

    def _at(self, frames: int) -> float:
        return frames * self._frame_ms / 1000
