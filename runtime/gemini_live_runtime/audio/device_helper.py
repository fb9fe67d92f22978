"""Report levels and run sound checks in a child process of the console.

Started as `python -m gemini_live_runtime.audio.device_helper`. The console opens no device itself, since some sound
systems abort the process that uses them. Both directions carry one JSON object a line. Orders on standard input:
`{"order": "levels", "input": DEVICE}`, `{"order": "microphone", "input": DEVICE}`,
`{"order": "echo", "input": DEVICE, "output": DEVICE}` and `{"order": "stop"}`; a device is a number, a part of a name,
or "" for the default, and each order ends the one before. Reports on standard output carry the `serial` of their order
and are `opened`, `level`, `result` or `problem`. The end of standard input ends the process, so that no microphone
stays open.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict
from typing import Any, TextIO

from gemini_live_runtime.audio.devices import DeviceList
from gemini_live_runtime.audio.interface import AudioIO, AudioOpened, Direction, MicChunk
from gemini_live_runtime.threads import start_daemon_thread

LEVEL_EVERY_S = 0.05

Report = Callable[[dict[str, Any]], None]
MakeAudio = Callable[[str | None, str | None, Direction | None, bool], AudioIO]
"""Factory for (input, output, only direction or None for both, cancel echo)."""


class _Listener:
    """`AudioListener` that keeps the state the checks read."""

    def __init__(self) -> None:
        self.speaking = False
        self.lost = ""
        self.on_chunk: Callable[[MicChunk], None] | None = None

    def mic_chunk(self, chunk: MicChunk) -> None:
        if self.on_chunk is not None:
            self.on_chunk(chunk)

    def playback_started(self, gen: int) -> None: ...

    def playback_heard(self, gen: int, first: int, count: int) -> None: ...

    def playback_drained(self, gen: int) -> None: ...

    def voice(self, speaking: bool) -> None:
        self.speaking = speaking

    def echo_warning(self, leaking: bool) -> None: ...

    def device_lost(self, direction: Direction, reason: str) -> None:
        self.lost = reason


class DeviceHelper:
    """Runs one order at a time and reports its results."""

    def __init__(self, report: Report, make: MakeAudio) -> None:
        self._report = report
        self._make = make
        self._task: asyncio.Task[None] | None = None

    async def order(self, order: dict[str, Any]) -> None:
        """Cancel the current order and start `order`."""
        await self.stop()
        name, serial = str(order.get("order", "")), order.get("serial", 0)

        def report(**values: Any) -> None:
            self._report({"serial": serial, **values})

        device, output = str(order.get("input", "")) or None, str(order.get("output", "")) or None
        work: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "levels": lambda: self._levels(report, device),
            "microphone": lambda: self._microphone(report, device),
            "echo": lambda: self._echo(report, device, output),
        }
        if name in work:
            self._task = asyncio.create_task(self._guarded(report, work[name]))
        elif name != "stop":
            report(report="problem", text=f"There is no order {name[:40]!r}.")

    async def stop(self) -> None:
        """Cancel the current order and wait until its devices are closed."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _guarded(self, report: Callable[..., None], work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:
            report(report="problem", text=f"The sound could not be tested: {type(error).__name__}: {error!s:.200}.")

    async def _levels(self, report: Callable[..., None], device: str | None) -> None:
        listener = _Listener()
        audio = self._make(device, None, "input", False)
        try:
            if not _report_opened(report, await audio.open(listener), ("input",)):
                return
            while not listener.lost:
                _report_level(report, audio)
                await asyncio.sleep(LEVEL_EVERY_S)
            report(report="problem", text=listener.lost)
        finally:
            await audio.close()

    async def _microphone(self, report: Callable[..., None], device: str | None) -> None:
        from gemini_live_runtime.audio.sound_check import MICROPHONE_S, MicrophoneCheck

        listener, trial = _Listener(), MicrophoneCheck()
        audio = self._make(device, None, "input", False)
        try:
            if not _report_opened(report, await audio.open(listener), ("input",)):
                return
            listener.on_chunk = lambda chunk: trial.add(chunk.pcm, speaking=listener.speaking)
            await self._meter(report, audio, listener, MICROPHONE_S)
        finally:
            await audio.close()
        if listener.lost:
            report(report="problem", text=listener.lost)
            return
        report(
            report="result",
            test="microphone",
            peak_db=trial.peak_db,
            floor_db=trial.floor_db,
            voice_db=trial.voice_db,
            **asdict(trial.verdict()),
        )

    async def _echo(self, report: Callable[..., None], device: str | None, output: str | None) -> None:
        from gemini_live_runtime.audio.sound_check import ROOM_S, SOUND_S, TAIL_S, EchoCheck, echo_check_sound

        listener, trial = _Listener(), EchoCheck()
        audio = self._make(device, output, None, True)
        try:
            if not _report_opened(report, await audio.open(listener), ("input", "output")):
                return
            left = ROOM_S + SOUND_S + TAIL_S
            await self._meter(
                report,
                audio,
                listener,
                ROOM_S,
                then=left - ROOM_S,
                seen=lambda: trial.add(audio.levels(), playing=False),
            )
            audio.play(1, echo_check_sound().tobytes())
            audio.end_of_turn(1)
            await self._meter(
                report, audio, listener, SOUND_S, then=TAIL_S, seen=lambda: trial.add(audio.levels(), playing=True)
            )
        finally:
            await audio.close()
        if listener.lost:
            report(report="problem", text=listener.lost)
            return
        report(
            report="result",
            test="echo",
            return_db=trial.return_db,
            reduction_db=trial.reduction_db,
            **asdict(trial.verdict()),
        )

    async def _meter(
        self,
        report: Callable[..., None],
        audio: AudioIO,
        listener: _Listener,
        seconds: float,
        *,
        then: float = 0.0,
        seen: Callable[[], None] | None = None,
    ) -> None:
        """Report levels for `seconds`, with `then` more to come; call `seen` each time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not listener.lost and (left := end - loop.time()) > 0:
            if seen is not None:
                seen()
            _report_level(report, audio, left_s=left + then)
            await asyncio.sleep(min(LEVEL_EVERY_S, left))


def _report_opened(report: Callable[..., None], opened: AudioOpened, needed: tuple[Direction, ...]) -> bool:
    """Report the open devices, or a problem; return True when all `needed` are open."""
    missing = [name for name in needed if getattr(opened, name) is None]
    if missing:
        nouns = {"input": "microphone", "output": "speaker"}
        report(report="problem", text=" ".join(opened.problems) or f"No {nouns[missing[0]]} could be opened.")
        return False
    report(
        report="opened",
        input=opened.input.name if opened.input else "",
        output=opened.output.name if opened.output else "",
        rate=opened.input.rate if opened.input else 0,
        canceller=opened.echo_canceller,
    )
    return True


def _report_level(report: Callable[..., None], audio: AudioIO, *, left_s: float | None = None) -> None:
    levels = audio.levels()
    if levels.mic_db is None:
        # The device is open, but has not delivered yet.
        return
    report(
        report="level",
        mic_db=levels.mic_db,
        peak_db=levels.mic_peak_db,
        out_db=levels.out_db,
        clipped=levels.clipped,
        speech=levels.speech,
        erle_db=levels.erle_db,
        left_s=left_s,
    )


def open_devices(input: str | None, output: str | None, only: Direction | None, echo: bool) -> AudioIO:
    """Return this machine's devices, listed in this process: it is a child already."""
    from gemini_live_runtime.audio.device_audio import DeviceAudio

    return DeviceAudio(input, output, echo=echo, only=only, probe=_probe_here)


def _probe_here() -> DeviceList:
    """List the devices in this process, which a broken sound system may abort."""
    from gemini_live_runtime.audio.probe import NO_DEVICE, NO_PORTAUDIO, describe

    try:
        import sounddevice
    except (ImportError, OSError):
        return DeviceList((), NO_PORTAUDIO)
    devices = describe(sounddevice)
    return DeviceList(devices, "" if devices else NO_DEVICE)


async def serve(out: TextIO, make: MakeAudio = open_devices) -> None:
    """Run the orders from standard input until its end."""
    loop = asyncio.get_running_loop()
    orders: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    def report(value: dict[str, Any]) -> None:
        out.write(json.dumps(value) + "\n")
        out.flush()

    def read() -> None:
        for line in sys.stdin:
            try:
                order = json.loads(line)
            except ValueError:
                continue
            if isinstance(order, dict):
                loop.call_soon_threadsafe(orders.put_nowait, order)
        loop.call_soon_threadsafe(orders.put_nowait, None)

    start_daemon_thread(read, "orders")
    helper = DeviceHelper(report, make)
    try:
        while (order := await orders.get()) is not None:
            await helper.order(order)
    finally:
        await helper.stop()


def main() -> None:
    """Serve on standard input and output, with C libraries silenced."""
    out = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        with os.fdopen(out, "w", encoding="utf-8") as stream:
            asyncio.run(serve(stream))
    except BrokenPipeError:
        # The console has ended.
        os._exit(0)


if __name__ == "__main__":
    main()
