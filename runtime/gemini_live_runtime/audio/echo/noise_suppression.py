"""Suppress steady noise in the microphone, such as that of a fan."""

from __future__ import annotations

from gemini_live_runtime.audio.echo.cancellers import EchoCanceller, EchoState
from gemini_live_runtime.audio.echo.pause_probe import PauseProbe
from gemini_live_runtime.audio.samples import Int16

LEVEL = 1
"""WebRTC's level, 0 to 3: 1 takes out about 12 dB. Higher ones cost a recogniser more than the noise does."""


class NoiseSuppression:
    """`EchoCanceller` that takes noise out of another's result; adds 6 ms of delay."""

    __slots__ = ("_inner", "_suppressor")

    def __init__(self, inner: EchoCanceller) -> None:
        from pywebrtc_audio import NoiseSuppressor

        self._inner = inner
        self._suppressor = NoiseSuppressor(sample_rate=16_000, level=LEVEL)

    @property
    def name(self) -> str:
        """Name of the canceller inside."""
        return str(getattr(self._inner, "name", ""))

    @property
    def has_near_end(self) -> bool:
        """True when what `capture` returned last may be a person's voice."""
        return self._inner.has_near_end

    @property
    def state(self) -> EchoState:
        """State of the inner canceller's linear filter."""
        return self._inner.state

    @property
    def probe(self) -> PauseProbe | None:
        """Prober of the inner canceller."""
        return self._inner.probe

    def render(self, frame: Int16) -> None:
        """Pass the played frame on."""
        self._inner.render(frame)

    def capture(self, frame: Int16) -> Int16:
        """Cancel the echo, then suppress the noise."""
        clean: Int16 = self._suppressor.process(self._inner.capture(frame))
        return clean

    def on_frames_lost(self, later: int = 0) -> None:
        """Pass the call on."""
        self._inner.on_frames_lost(later)
