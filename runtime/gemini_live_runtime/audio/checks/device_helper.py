"""Report levels and run sound checks in a child process of the console.

Started as `python -m gemini_live_runtime.audio.checks.device_helper`. The console opens no device itself, since some
sound systems abort the process that uses them. Both directions carry one JSON object a line. Orders on standard input:
`{"order": "levels", "input": DEVICE}`, `{"order": "microphone", "input": DEVICE}`, `{"order": "echo", "input": DEVICE,
"output": DEVICE}` and `{"order": "stop"}`; a device is a number, a part of a name, or "" for the default, and each
order ends the one before. Reports on standard output carry the `serial` of their order and are `opened`, `level`,
`result` or `problem`. The end of standard input ends the process, so that no microphone stays open.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TextIO

from gemini_live_runtime.audio.devices.native_stderr import private_stdout
from gemini_live_runtime.audio.interface import AudioIO, AudioOpened, Direction, MicChunk
from gemini_live_runtime.threads import start_daemon_thread

if TYPE_CHECKING:
    from gemini_live_runtime.audio.checks.sound_check import Verdict

LEVEL_EVERY_S = 0.05

Report = Callable[[dict[str, Any]], None]
MakeAudio = Callable[[str | None, str | None, Direction | None, bool], AudioIO]
"""Factory for (input, output, only direction or None for both, cancel echo)."""


class HelperListener:
    """`AudioListener` that keeps speech, chunks and the reason of a lost device."""

    def __init__(self) -> None:
        self.speaking = False
        self.lost = ""
        self.on_chunk: Callable[[MicChunk], None] | None = None

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        """Pass `chunk` to `on_chunk`, if set."""
        if self.on_chunk is not None:
            self.on_chunk(chunk)

    def on_playback_started(self, gen: int) -> None:
        """Do nothing."""

    def on_playback_heard(self, gen: int, first: int, count: int, heard_at: float | None = None) -> None:
        """Do nothing."""

    def on_playback_drained(self, gen: int) -> None:
        """Do nothing."""

    def on_echo_warning(self, leaking: bool) -> None:
        """Do nothing."""

    def on_voice(self, speaking: bool) -> None:
        """Keep `speaking`."""
        self.speaking = speaking

    def on_device_lost(self, direction: Direction, reason: str) -> None:
        """Keep `reason`."""
        self.lost = reason

    def on_devices_opened(self, opened: AudioOpened) -> None:
        """Do nothing: a test ends with its device."""


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

    @contextlib.asynccontextmanager
    async def _open(
        self,
        report: Callable[..., None],
        listener: HelperListener,
        input: str | None,
        output: str | None = None,
        *,
        echo: bool,
    ) -> AsyncIterator[AudioIO | None]:
        """Open and report the microphone, with `echo` the speaker too; None if missing."""
        audio = self._make(input, output, None if echo else "input", echo)
        try:
            opened = await audio.open(listener)
            yield audio if _report_opened(report, opened, ("input", "output") if echo else ("input",)) else None
        finally:
            await audio.close()

    async def _levels(self, report: Callable[..., None], device: str | None) -> None:
        listener = HelperListener()
        async with self._open(report, listener, device, echo=False) as audio:
            if audio is None:
                return
            while not listener.lost:
                _report_level(report, audio)
                await asyncio.sleep(LEVEL_EVERY_S)
            report(report="problem", text=listener.lost)

    async def _microphone(self, report: Callable[..., None], device: str | None) -> None:
        from gemini_live_runtime.audio.checks.sound_check import MICROPHONE_S, MicrophoneCheck

        listener, check = HelperListener(), MicrophoneCheck()
        async with self._open(report, listener, device, echo=False) as audio:
            if audio is None:
                return
            listener.on_chunk = lambda chunk: check.add(chunk.pcm, speaking=listener.speaking)
            await self._meter(report, audio, listener, MICROPHONE_S)
        levels = {"peak_db": check.peak_db, "floor_db": check.floor_db, "voice_db": check.voice_db}
        _report_result(report, listener, "microphone", levels, check.verdict())

    async def _echo(self, report: Callable[..., None], device: str | None, output: str | None) -> None:
        from gemini_live_runtime.audio.checks.sound_check import ROOM_S, SOUND_S, TAIL_S, EchoCheck, echo_check_sound

        listener, check = HelperListener(), EchoCheck()
        async with self._open(report, listener, device, output, echo=True) as audio:
            if audio is None:
                return

            def add(*, playing: bool) -> None:
                check.add(audio.levels(), playing=playing)

            await self._meter(report, audio, listener, ROOM_S, then=SOUND_S + TAIL_S, seen=lambda: add(playing=False))
            audio.play(1, echo_check_sound().tobytes())
            audio.end_of_turn(1)
            await self._meter(report, audio, listener, SOUND_S, then=TAIL_S, seen=lambda: add(playing=True))
        levels = {"return_db": check.return_db, "reduction_db": check.reduction_db}
        _report_result(report, listener, "echo", levels, check.verdict())

    async def _meter(
        self,
        report: Callable[..., None],
        audio: AudioIO,
        listener: HelperListener,
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


def _report_result(
    report: Callable[..., None],
    listener: HelperListener,
    test: str,
    levels: Mapping[str, float | None],
    verdict: Verdict,
) -> None:
    if listener.lost:
        report(report="problem", text=listener.lost)
    else:
        report(report="result", test=test, **levels, **asdict(verdict))


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
    from gemini_live_runtime.audio.devices.probe import list_here

    return DeviceAudio(input, output, echo=echo, only=only, probe=list_here, reopen=False)


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
    try:
        with private_stdout() as stream:
            asyncio.run(serve(stream))
    except BrokenPipeError:
        # The console has ended.
        os._exit(0)


if __name__ == "__main__":
    main()
