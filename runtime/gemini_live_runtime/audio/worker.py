"""The audio worker: one thread that steps the pipeline every 10 ms while a stream is open, and watches the streams."""

from __future__ import annotations

import threading
import time
from typing import Any

from gemini_live_runtime.audio.interface import AudioListener, Direction
from gemini_live_runtime.audio.pipeline import AudioPipeline
from gemini_live_runtime.audio.streams import DeviceStream, LoudspeakerStream, MicrophoneStream
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.threads import start_daemon_thread

PERIOD_S = 0.01
SILENT_AFTER_S = 1.0
"""A stream without a callback for this long is lost."""
FIRST_CALLBACK_S = 3.0
"""The first callback may take longer: some sound servers start late."""
STEP_UP_AFTER = 3
"""Underflows after which the loudspeaker is opened anew with larger blocks."""


def lead_slots(block_ms: int) -> int:
    """10 ms slots kept ready for a callback that takes `block_ms` at a time: two of its blocks and one for jitter."""
    return 2 * block_ms // 10 + 1


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {sanitise_line(str(error), 120)}"


class AudioWorker:
    """Owns pipeline and streams from `start` to `stop`."""

    def __init__(
        self,
        pipeline: AudioPipeline,
        listener: AudioListener,
        portaudio: Any,
        microphone: MicrophoneStream | None,
        loudspeaker: LoudspeakerStream | None,
    ) -> None:
        self.pipeline = pipeline
        self.microphone = microphone
        self.loudspeaker = loudspeaker
        self.restarts = 0
        """Times the loudspeaker was opened anew with larger blocks."""
        self._listener = listener
        self._portaudio = portaudio
        self._wake = threading.Event()
        self._stopping = False
        self._reopening: threading.Thread | None = None
        self._refused: DeviceError | None = None
        self._thread = threading.Thread(target=self._run, name="audio-worker", daemon=True)

    def start(self) -> None:
        """Begin to step."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """True while the thread steps the pipeline."""
        return self._thread.is_alive()

    def wake(self) -> None:
        """Step now rather than at the next tick."""
        self._wake.set()

    def stop(self, timeout: float = 1.0) -> None:
        """End the thread and report what was heard; blocks for a tick."""
        self._stopping = True
        self._wake.set()
        self._thread.join(timeout)

    def check_streams(self, now: float) -> None:
        """Find streams that ended, fell silent or do not keep up. `now` is `time.monotonic()`."""
        if self.microphone is not None:
            reason = self._verdict(self.microphone, now)
            if reason:
                self._lose("input", reason)
        if self.loudspeaker is None:
            return
        if self._reopening is not None:
            if self._reopening.is_alive() and now - self.loudspeaker.last_callback < FIRST_CALLBACK_S:
                return
            self._finish_reopening()
            return
        reason = self._verdict(self.loudspeaker, now)
        if reason:
            self._lose("output", reason)
        elif self.loudspeaker.xruns >= STEP_UP_AFTER and self.restarts == 0:
            self._step_up()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopping:
            now = time.monotonic()
            due = max(due + PERIOD_S, now) if due <= now else due
            watching = self.microphone is not None or self.loudspeaker is not None
            self._wake.wait(max(0.0, due - now) if watching else None)
            self._wake.clear()
            try:
                now = time.monotonic()
                self.pipeline.step(now)
                self.check_streams(now)
            except Exception as error:
                self._give_up(error)
                return
        self.pipeline.playout.finish()

    def _verdict(self, stream: DeviceStream, now: float) -> str:
        noun = "microphone" if stream.direction == "input" else "loudspeaker"
        name = sanitise_line(stream.device.name, 60)
        if stream.ended:
            return f"The {noun} {name!r} went away."
        allowed = SILENT_AFTER_S if stream.callbacks else FIRST_CALLBACK_S
        if now - stream.last_callback <= allowed:
            return ""
        if stream.fault is not None:
            return f"The {noun} {name!r} stopped: {_described(stream.fault)}."
        return f"The {noun} {name!r} stopped responding."

    def _lose(self, direction: Direction, reason: str) -> None:
        stream: DeviceStream | None
        if direction == "input":
            stream, self.microphone = self.microphone, None
            self.pipeline.lose_input()
        else:
            stream, self.loudspeaker = self.loudspeaker, None
            self.pipeline.lose_output()
        if stream is not None:
            start_daemon_thread(stream.close, "audio-close")
        self._listener.device_lost(direction, reason)

    def _step_up(self) -> None:
        stream = self.loudspeaker
        assert stream is not None
        self.restarts += 1

        def reopen() -> None:
            stream.close()
            try:
                stream.open(self._portaudio, safe=True)
            except DeviceError as error:
                self._refused = error
            if self.loudspeaker is not stream:
                stream.close()  # It was given up meanwhile.

        stream.last_callback = time.monotonic()
        self._reopening = start_daemon_thread(reopen, "audio-reopen")

    def _finish_reopening(self) -> None:
        stream, thread = self.loudspeaker, self._reopening
        assert stream is not None
        assert thread is not None
        self._reopening = None
        if self._refused is not None or thread.is_alive():
            self._lose("output", str(self._refused) if self._refused else self._verdict_hung(stream))
            return
        self.pipeline.playout.latency = stream.latency
        self.pipeline.playout.lead = lead_slots(stream.block_ms)

    @staticmethod
    def _verdict_hung(stream: DeviceStream) -> str:
        return f"The loudspeaker {sanitise_line(stream.device.name, 60)!r} stopped responding."

    def _give_up(self, error: Exception) -> None:
        reason = f"Sound processing failed: {_described(error)}."
        if self.microphone is not None:
            self._lose("input", reason)
        if self.loudspeaker is not None:
            self._lose("output", reason)
