"""Run the sound devices in a process of their own, for an engine.

Started as `python -P -m gemini_live_runtime.audio.process.process_host MEMORY ENGINE_PID`. It hosts `DeviceAudio` and
nothing else: no credential is in its environment and no code of the user is imported. Orders on standard input and
reports on standard output are JSON objects, one a line; sound is in `shared_rings`. A report is absolute (positions,
counters, meters) but for its listener calls, so a report that the engine is too slow to read is merged into the next.

The process ends with its engine: standard input's end, or the engine's own where the system tells (a process that the
agent forked may hold the pipe open), ends it within a few milliseconds, and with it the microphone.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from operator import attrgetter
from typing import Any, BinaryIO

from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.devices.priority import Priority, raise_priority
from gemini_live_runtime.audio.devices.probe import list_devices, list_here
from gemini_live_runtime.audio.devices.selection import DeviceList
from gemini_live_runtime.audio.echo.echo_path import remember_echo_path, stored_echo_path
from gemini_live_runtime.audio.interface import AudioOpened, Direction, MicChunk
from gemini_live_runtime.audio.process.shared_rings import ChunkRing, SpeechRing, open_memory
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.threads import start_daemon_thread

BEAT_S = 0.25
"""Longest pause between reports, in seconds."""
POSITION_S = 0.02
"""Longest pause between reports during playback, in seconds."""
WITH_CHUNKS_S = 0.1
"""The same while microphone chunks give occasion to report more often."""
ENGINE_SILENT_BEATS = 120
"""Beats (30 s) without an order after which the engine counts as hanging."""
GENERATIONS = 4
"""Number of generations whose positions are reported."""

_METERS = tuple(meter.name for meter in fields(MeterSample))
_meters_of = attrgetter(*_METERS)
_encode = json.JSONEncoder(separators=(",", ":")).encode

MakeDevices = Callable[..., DeviceAudio]


class FirstProbe:
    """Probe that lists the devices in this process once, and in a child from then on.

    PortAudio lists devices when it starts: its first list is new, and this process may be aborted by a sound system,
    which its engine survives.
    """

    def __init__(self) -> None:
        self._is_first = True

    def __call__(self) -> DeviceList:
        """Return the devices; blocks."""
        if not self._is_first:
            return list_devices()
        self._is_first = False
        try:
            return list_here()
        except Exception as error:
            return DeviceList((), f"The sound devices could not be listed: {sanitise_line(str(error), 120)}.")


def make_devices(**options: Any) -> DeviceAudio:
    """Return the devices for the options of an engine."""
    return DeviceAudio(**options, echo_path=stored_echo_path, keep_path=remember_echo_path, probe=FirstProbe())


class EngineListener:
    """`AudioListener` that notes calls for the engine's next report."""

    def __init__(self, chunks: ChunkRing, on_call: Callable[[], None]) -> None:
        self.calls: deque[tuple[Any, ...]] = deque()
        self._chunks = chunks
        self._on_call = on_call

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        """Write `chunk` to the shared memory, for the report that follows."""
        self._chunks.write(chunk)

    def on_playback_started(self, gen: int) -> None:
        """Note the call."""
        self._note("on_playback_started", gen)

    def on_playback_heard(self, gen: int, first: int, count: int, heard_at: float | None = None) -> None:
        """Note the call."""
        self._note("on_playback_heard", gen, first, count, heard_at)

    def on_playback_drained(self, gen: int) -> None:
        """Note the call."""
        self._note("on_playback_drained", gen)

    def on_voice(self, speaking: bool) -> None:
        """Note the call."""
        self._note("on_voice", speaking)

    def on_echo_warning(self, leaking: bool) -> None:
        """Note the call."""
        self._note("on_echo_warning", leaking)

    def on_device_lost(self, direction: Direction, reason: str) -> None:
        """Note the call."""
        self._note("on_device_lost", direction, reason)

    def on_devices_opened(self, opened: AudioOpened) -> None:
        """Note the call."""
        self._note("on_devices_opened", asdict(opened))

    def _note(self, *call: Any) -> None:
        self.calls.append(call)
        self._on_call()


class Reports:
    """Writer of lines that does not wait for the engine.

    It does on systems whose pipes always block.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""
        if os.name == "posix":
            os.set_blocking(descriptor, False)

    @property
    def is_behind(self) -> bool:
        """True while the engine has not read an earlier line."""
        if self._rest:
            self._write()
        return bool(self._rest)

    def send(self, report: Mapping[str, Any]) -> None:
        """Write `report` as a line, as far as the pipe takes it now."""
        self._rest += _encode(report).encode() + b"\n"
        self._write()

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._rest:
                self._rest = self._rest[os.write(self._descriptor, self._rest) :]


class AudioHost:
    """Host of the devices: obeys the engine's orders and reports to it.

    Orders are obeyed on the loop. The audio worker's thread reports the microphone's chunks, with all else that there
    is to report, so that the loop sleeps meanwhile.
    """

    def __init__(
        self, memory: Any, reports: Reports, make: MakeDevices = make_devices, priority: Priority = "normal"
    ) -> None:
        self.ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._chunks = ChunkRing(memory)
        self._speech = SpeechRing(memory)
        self._reports = reports
        self._make = make
        self._audio: DeviceAudio | None = None
        self._listener = EngineListener(self._chunks, self._report_soon)
        self._orders = 0
        self._generations: deque[int] = deque(maxlen=GENERATIONS)
        """Newest generations that were ordered to play."""
        self._reporting = threading.Lock()
        self._is_scheduled = False
        self._is_following = False
        self._silent_beats = 0
        self._last_report = 0.0
        self._last_levels = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        reports.send({"priority": priority})

    def start(self) -> None:
        """Start the heartbeat."""
        self._loop.call_later(BEAT_S, self._beat)

    def silence(self, cut_below: int) -> None:
        """Make the device skip what a cut order ends; any thread may call."""
        audio = self._audio
        if audio is not None:
            audio.silence(cut_below)

    def obey(self, order: Mapping[str, Any]) -> None:
        """Carry out one order; the slow ones go on in the background."""
        self._silent_beats = 0
        kind, audio = order["order"], self._audio
        if kind == "beat":
            self._chunks.on_taken(order["chunks"])
        elif kind in ("open", "change", "close"):
            task = self._loop.create_task(self._slow(kind, order))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif audio is not None:
            self._orders += 1
            self._quick(audio, kind, order)
            self._report_soon()

    def _quick(self, audio: DeviceAudio, kind: str, order: Mapping[str, Any]) -> None:
        if kind == "play":
            gen = order["gen"]
            audio.play(gen, self._speech.take(order["to"]))
            if gen not in self._generations:
                self._generations.append(gen)
            if not self._is_following:
                self._is_following = True
                self._loop.call_later(POSITION_S, self._follow_playback)
        elif kind == "end":
            audio.end_of_turn(order["gen"])
        elif kind == "cut":
            # What was ordered before is in the ring still: it is dropped by its number.
            audio.cut(order["below"])
        elif kind == "microphone":
            audio.set_microphone(order["on"])
        elif kind == "speaker":
            audio.set_speaker(order["on"])
        elif kind == "pause":
            audio.set_paused(order["on"])

    async def _slow(self, kind: str, order: Mapping[str, Any]) -> None:
        answer: dict[str, Any] = {"answer": order["id"]}
        try:
            if kind == "open":
                self._audio = self._make(**order["options"], on_chunks=self._take_chunks)
                self._audio.set_microphone(order["microphone"])
                self._audio.set_speaker(order["speaker"])
                answer["opened"] = asdict(await self._audio.open(self._listener))
                # What was imported lives as long as the process: looking through it again makes the callbacks wait.
                gc.collect()
                gc.freeze()
            elif self._audio is not None and kind == "change":
                changed = await self._audio.change(order["input"], order["output"], order["headphones"])
                answer["opened"] = asdict(changed)
            elif self._audio is not None:
                await self._audio.close()
        except DeviceError as error:
            answer["refused"] = {"message": error.message, "remedy": error.remedy, "field": error.field}
        except Exception as error:
            traceback.print_exc()
            reason = f"The sound devices failed: {type(error).__name__}: {sanitise_line(str(error), 120)}"
            answer["refused"] = {"message": reason, "remedy": "", "field": "sound"}
        # What the devices told before comes before the answer.
        self._report()
        with self._reporting:
            self._reports.send(answer)
        if kind == "close":
            self.ended.set()

    def _report_soon(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._report)

    def _take_chunks(self, chunks: Sequence[MicChunk]) -> None:
        """Report the chunks of a step. Called on the audio worker's thread."""
        for chunk in chunks:
            self._listener.on_mic_chunk(chunk)
        with self._reporting:
            self._send_report()

    def _report(self) -> None:
        self._is_scheduled = False
        with self._reporting:
            self._send_report()

    def _send_report(self) -> None:
        audio, calls = self._audio, self._listener.calls
        if audio is None or self._reports.is_behind:
            return
        now = self._last_report = self._loop.time()
        report = {
            "chunks": self._chunks.written,
            "speech": self._speech.taken,
            "orders": self._orders,
            "taken": [(gen, audio.played_samples(gen)) for gen in tuple(self._generations)],
            "playing": audio.playing,
            "finished": audio.finished,
            # Others are noted on the loop meanwhile.
            "calls": [calls.popleft() for _ in range(len(calls))],
        }
        if now - self._last_levels >= 0.045:
            self._last_levels = now
            levels = dict(zip(_METERS, _meters_of(audio.levels()), strict=True))
            levels["mic_dropped"] += self._chunks.dropped
            report["levels"] = levels
        self._reports.send(report)

    def _follow_playback(self) -> None:
        """Report while something plays, also when no microphone gives occasion to."""
        assert self._audio is not None
        is_recent = self._loop.time() - self._last_report < POSITION_S * 1.5
        self._is_following = self._audio.playing
        if self._is_following:
            self._loop.call_later(WITH_CHUNKS_S if is_recent else POSITION_S, self._follow_playback)
        if not self._is_following or not is_recent:
            self._report()

    def _beat(self) -> None:
        # Counted, not timed: a machine that slept or a stopped process is no silent engine.
        self._silent_beats += 1
        if self._silent_beats > ENGINE_SILENT_BEATS:
            print("the engine did not respond", file=sys.stderr, flush=True)
            os._exit(3)
        if self._audio is None or self._loop.time() - self._last_report >= BEAT_S * 0.75:
            self._reports.send({}) if self._audio is None else self._report()
        self._loop.call_later(BEAT_S, self._beat)


def _open_orders() -> BinaryIO:
    return open(0, "rb", closefd=False)


def _read_orders(loop: asyncio.AbstractEventLoop, host: AudioHost) -> None:
    """Pass on each order; end the process with the engine's end of the pipe.

    Here and not on the loop, which may be busy: the microphone must stop at once, and so must speech that is cut.
    """
    with _open_orders() as orders:
        for line in orders:
            order = json.loads(line)
            if order["order"] == "cut":
                host.silence(order["below"])
            loop.call_soon_threadsafe(host.obey, order)
    os._exit(0)


def _end_with(engine: int, loop: asyncio.AbstractEventLoop) -> None:
    """End this process as soon as the engine's process ends, where the system tells."""
    if not hasattr(os, "pidfd_open"):
        return
    with contextlib.suppress(OSError):
        loop.add_reader(os.pidfd_open(engine), os._exit, 0)
    if os.getppid() != engine:
        os._exit(0)


async def _serve(memory: Any, out: int, engine: int, make: MakeDevices, priority: Priority) -> None:
    loop = asyncio.get_running_loop()
    _end_with(engine, loop)
    host = AudioHost(memory, Reports(out), make, priority)
    host.start()
    start_daemon_thread(lambda: _read_orders(loop, host), "orders")
    await host.ended.wait()


def main(make: MakeDevices = make_devices) -> None:
    """Serve the engine named on the command line until it ends or closes the devices."""
    memory = open_memory(sys.argv[1])
    # The terminal's Ctrl+C is the engine's to answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.dup(1)
    os.dup2(2, 1)  # C libraries print to both: the engine keeps the end of it, for the reason of a crash.
    # The worker must not keep the device's callback waiting for the interpreter.
    sys.setswitchinterval(0.001)
    priority = raise_priority()
    with contextlib.suppress(BrokenPipeError):
        asyncio.run(_serve(memory, out, int(sys.argv[2]), make, priority))
    # Without waiting for threads that a sound system holds.
    os._exit(0)


if __name__ == "__main__":
    main()
