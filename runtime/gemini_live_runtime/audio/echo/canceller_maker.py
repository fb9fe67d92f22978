"""Make the echo canceller of a pair of devices, and keep what it learns of them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.echo.cancellers import EchoCanceller, NoCanceller
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.echo.echo_path import EchoPath, no_echo_path
from gemini_live_runtime.audio.interface import NONE_NEEDED


class CancellerMaker:
    """Maker of the canceller between the devices of a call.

    `echo_path` returns what is known of a pair of devices, with which `canceller` makes theirs; `keep_path` gets what a
    call has learned of it. With `headphones` no echo is looked for.
    """

    def __init__(
        self,
        *,
        echo: bool = True,
        headphones: bool = False,
        noise_suppression: bool = False,
        echo_path: Callable[[SoundDevice, SoundDevice], EchoPath | None] = no_echo_path,
        keep_path: Callable[[SoundDevice, SoundDevice, EchoPath], None] | None = None,
        canceller: Callable[[EchoPath | None], EchoCanceller] = DualCanceller,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`wall` is the clock for what is kept, in Unix seconds."""
        self.echo = echo
        self.headphones = headphones
        self.noise_suppression = noise_suppression
        self.echo_path = echo_path
        self.keep_path = keep_path
        self._canceller = canceller
        self._wall = wall
        self._learning: tuple[SoundDevice, SoundDevice, EchoCanceller] | None = None

    def make(self, mic: SoundDevice | None, out: SoundDevice | None) -> EchoCanceller:
        """Return what processes the microphone; echo needs both devices."""
        canceller: EchoCanceller = NoCanceller()
        # A canceller suppresses whoever speaks with the model until it knows the room: headphones have none.
        if self.echo and not self.headphones and mic is not None and out is not None:
            canceller = self._canceller(self.echo_path(mic, out))
            self._learning = mic, out, canceller
        if not self.noise_suppression:
            return canceller
        from gemini_live_runtime.audio.echo.noise_suppression import NoiseSuppression

        return NoiseSuppression(canceller)

    def name_of(self, canceller: EchoCanceller, *, has_both: bool) -> str:
        """Return the name to report; `has_both` devices are open."""
        if self.headphones:
            return NONE_NEEDED
        return str(getattr(canceller, "name", "")) if self.echo and has_both else ""

    def keep_learned(self) -> None:
        """Keep the echo path that the newest canceller has learned, for the next call."""
        if self._learning is None or self.keep_path is None:
            return
        (mic, out, canceller), self._learning = self._learning, None
        path = canceller.learned_path(self._wall()) if isinstance(canceller, DualCanceller) else None
        if path is not None:
            with contextlib.suppress(OSError):  # It is a hint: the next call learns it again.
                self.keep_path(mic, out, path)
