"""Step the pipeline on a thread of its own and watch the streams.

The worker's thread owns the pipeline between `start` and `stop`. It never calls into the sound system itself: such a
call may block for ever and stop the sound with it. Streams are closed and reopened in daemon threads.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from gemini_live_runtime.audio.devices.streams import DeviceStream, LoudspeakerStream, MicrophoneStream
from gemini_live_runtime.audio.interface import AudioListener, Direction
from gemini_live_runtime.audio.processing.clock_rate import ClockRate, drift_ppm
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline
from gemini_live_runtime.audio.processing.step_clock import CHUNK_FRAMES, StepClock
from gemini_live_runtime.audio.samples import FRAME_MS
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.threads import start_daemon_thread

SILENT_AFTER_S = 1.0
"""Seconds without a callback after which a stream is lost."""
FIRST_CALLBACK_S = 3.0
"""Seconds allowed for the first callback, as some sound servers start late."""
REOPEN_AFTER = 3
"""Underflows after which the loudspeaker is reopened with larger blocks."""


def lead_slots(block_ms: int) -> int:
    """Return the 10 ms slots to keep ready: two blocks of `block_ms`, and a step."""
    return 2 * block_ms // FRAME_MS + CHUNK_FRAMES


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {sanitise_line(str(error), 120)}"


class _WakeUp:
    """Event for one thread; a wait costs half of one on `threading.Event`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        with contextlib.suppress(RuntimeError):  # It is set already.
            self._lock.release()

    def clear(self) -> None:
        self._lock.acquire(blocking=False)

    def wait(self, timeout: float | None) -> bool:
        """Wait up to `timeout` seconds; return True, and clear the event, when it is set."""
        return self._lock.acquire(timeout=-1 if timeout is None else timeout)


class AudioWorker:
    """Worker thread that owns pipeline and streams from `start` to `stop`."""

    def __init__(
        self,
        pipeline: AudioPipeline,
        listener: AudioListener,
        portaudio: Any,
        microphone: MicrophoneStream | None,
        loudspeaker: LoudspeakerStream | None,
        *,
        on_larger_blocks: Callable[[], None] = lambda: None,
        on_stepped: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_larger_blocks` is called once the loudspeaker is open anew after underflows.

        `on_stepped` is called after each step.
        """
        self.pipeline = pipeline
        self.microphone = microphone
        self.loudspeaker = loudspeaker
        self.restarts = 0
        """Times the loudspeaker was reopened with larger blocks."""
        self.has_failed = False
        """True when the thread has ended by a fault in the processing."""
        self._listener = listener
        self._portaudio = portaudio
        self._on_larger_blocks = on_larger_blocks
        self._on_stepped = on_stepped
        self._clock = StepClock()
        self._latency_before = 0.0
        self._wake = _WakeUp()
        self._stopping = False
        self._reopening: threading.Thread | None = None
        self._refused: DeviceError | None = None
        streams: tuple[DeviceStream | None, ...] = (microphone, loudspeaker)
        self._clocks = {stream.direction: ClockRate(1000 / stream.block_ms) for stream in streams if stream is not None}
        self._drops: deque[Callable[[], None]] = deque()
        self._is_done = False
        """True when the thread takes no more orders."""
        self._exchange: tuple[DeviceStream, Callable[[], None]] | None = None
        self._exchanged = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audio-worker", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """True while the thread steps the pipeline."""
        return self._thread.is_alive()

    def wake(self) -> None:
        """Step now instead of when the next blocks have come."""
        self._wake.set()

    def drop_output(self, before: Callable[[], None]) -> None:
        """Drop what is queued for the loudspeaker, which was lost and not replaced.

        Calls `before` once all that was heard is reported: on the thread, or here when it has ended.
        """
        self._drops.append(before)
        self._wake.set()
        if self._is_done:
            self._drop_output()

    def exchange(self, stream: DeviceStream, move: Callable[[], None]) -> bool:
        """Take a running stream in place of the one of its direction, which is closed.

        Calls `move` on the thread, to make the pipeline use it. Blocks for about a step; returns False when the thread
        has ended.
        """
        self._exchanged.clear()
        self._exchange = (stream, move)
        self._wake.set()
        while not self._exchanged.wait(FRAME_MS / 1000):
            if not self.running:
                return False
        return True

    @property
    def drift_ppm(self) -> float | None:
        """Millionths by which the microphone's clock is faster than the loudspeaker's."""
        if len(self._clocks) < 2:
            return None
        return drift_ppm(self._clocks["input"], self._clocks["output"])

    @property
    def xruns(self) -> int:
        """Underflows and overflows that the open devices have reported."""
        return sum(stream.xruns for stream in self._streams())

    def _streams(self) -> list[DeviceStream]:
        streams: tuple[DeviceStream | None, ...] = (self.microphone, self.loudspeaker)
        return [stream for stream in streams if stream is not None]

    def _observe_clocks(self) -> None:
        for stream in self._streams():
            self._clocks[stream.direction].add(stream.last_callback, stream.callbacks)

    def stop(self, timeout: float = 1.0) -> None:
        """Stop the thread after a last playback report; blocks for about a step."""
        self._stopping = True
        self._wake.set()
        self._thread.join(timeout)

    def check_streams(self, now: float) -> None:
        """Find streams that ended, stopped or do not keep up; `now` is monotonic seconds."""
        if self.microphone is not None:
            reason = self._loss_reason(self.microphone, now)
            if reason:
                self._lose("input", reason)
        if self.loudspeaker is None:
            return
        if self._reopening is not None:
            if self._reopening.is_alive() and now - self.loudspeaker.last_callback < FIRST_CALLBACK_S:
                return
            self._finish_reopening()
            return
        reason = self._loss_reason(self.loudspeaker, now)
        if reason:
            self._lose("output", reason)
        elif self.loudspeaker.xruns >= REOPEN_AFTER and self.restarts == 0:
            self._reopen_with_larger_blocks()

    def _run(self) -> None:
        try:
            self._step_until_stopped()
        finally:
            # In this order: whoever orders a drop from now on carries it out.
            self._is_done = True
            self._drop_output()

    def _step_until_stopped(self) -> None:
        while not self._stopping:
            try:
                now = time.monotonic()
                # Counted before: a block that comes during a long step is not waited for once more.
                found = {stream: stream.callbacks for stream in self._streams()}
                self.pipeline.step(now)
                self.check_streams(now)
                self._observe_clocks()
                self._drop_output()
                if self._exchange is not None:
                    self._take(*self._exchange)
                self._plan(now, found)
                # Last: another thread that this wakes would wait for the interpreter until the step is over.
                self._on_stepped()
            except Exception as error:
                self._give_up(error)
                return
            self._await_blocks()
        self.pipeline.playout.finish()

    def _plan(self, now: float, found: Mapping[DeviceStream, int]) -> None:
        """Wait for the frames that complete a chunk of both streams, or more in a silence.

        `found` are the callbacks whose blocks the step has found.
        """
        active = self.pipeline.playout.playing or self.pipeline.capture.speaking
        mic, far = self.pipeline.capture.frames_until(self._clock.frames(now, active=active))
        # A loudspeaker that is being opened anew is still watched, but holds up no microphone.
        waits = self._reopening is None or self.microphone is None
        streams = [stream for stream in self._streams() if waits or stream.direction == "input"]
        self._clock.plan(
            now,
            [(stream, found.get(stream, 0), mic if stream.direction == "input" else far) for stream in streams],
        )

    def _await_blocks(self) -> None:
        # Without a stream only `wake` and `stop` need a step, so the thread does not poll.
        while not self._stopping and (left := self._clock.left(time.monotonic())) != 0:
            if self._wake.wait(left):
                break
        self._wake.clear()

    def _drop_output(self) -> None:
        while self._drops:
            try:
                before = self._drops.popleft()
            except IndexError:
                # At the thread's end whoever ordered it comes here, too, and was first.
                return
            self.pipeline.playout.finish()
            before()
            self.pipeline.lose_output()

    def _take(self, stream: DeviceStream, move: Callable[[], None]) -> None:
        self._exchange = None
        move()
        old: DeviceStream | None
        if isinstance(stream, MicrophoneStream):
            old, self.microphone = self.microphone, stream
        else:
            assert isinstance(stream, LoudspeakerStream)
            old, self.loudspeaker = self.loudspeaker, stream
            self.restarts, self._reopening, self._refused = 0, None, None
            self.pipeline.playout.lead = lead_slots(stream.block_ms)
        self._clocks[stream.direction] = ClockRate(1000 / stream.block_ms)
        if old is not None:
            start_daemon_thread(old.close, "audio-close")
        self._exchanged.set()

    def _loss_reason(self, stream: DeviceStream, now: float) -> str:
        noun = "microphone" if stream.direction == "input" else "loudspeaker"
        name = sanitise_line(stream.device.name, 60)
        if stream.ended:
            return f"The {noun} {name!r} was disconnected."
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
            # What is queued stays: another loudspeaker may go on with it.
            stream, self.loudspeaker = self.loudspeaker, None
            self.pipeline.capture.lose_output()
        if stream is not None:
            # Closing a stream whose device is gone often blocks; the other direction must go on.
            start_daemon_thread(stream.close, "audio-close")
        self._listener.on_device_lost(direction, reason)

    def _reopen_with_larger_blocks(self) -> None:
        stream = self.loudspeaker
        assert stream is not None
        self.restarts += 1
        self._latency_before = stream.latency
        # What is missing from now on is not late: nothing plays, and the echo's path is not to be moved for it.
        self.pipeline.capture.suspend_output()

        def reopen() -> None:
            stream.close()
            try:
                stream.open(self._portaudio, safe=True)
            except DeviceError as error:
                self._refused = error
            if self.loudspeaker is not stream:
                stream.close()  # The stream was lost meanwhile.

        # No callback comes while the stream is closed: this must not count as a lost stream.
        stream.last_callback = time.monotonic()
        self._reopening = start_daemon_thread(reopen, "audio-reopen")

    def _finish_reopening(self) -> None:
        stream, thread = self.loudspeaker, self._reopening
        assert stream is not None
        assert thread is not None
        self._reopening = None
        if self._refused is not None or thread.is_alive():
            self._lose("output", str(self._refused) if self._refused else self._stopped_reason(stream))
            return
        self._clocks["output"] = ClockRate(1000 / stream.block_ms)
        self.pipeline.playout.lead = lead_slots(stream.block_ms)
        longer_ms = (stream.latency - self._latency_before) * 1000
        self.pipeline.capture.resume_output(round(longer_ms / FRAME_MS))
        self._on_larger_blocks()

    @staticmethod
    def _stopped_reason(stream: DeviceStream) -> str:
        return f"The loudspeaker {sanitise_line(stream.device.name, 60)!r} stopped responding."

    def _give_up(self, error: Exception) -> None:
        self.has_failed = True
        reason = f"Sound processing failed: {_described(error)}."
        if self.microphone is not None:
            self._lose("input", reason)
        if self.loudspeaker is not None:
            self._lose("output", reason)
