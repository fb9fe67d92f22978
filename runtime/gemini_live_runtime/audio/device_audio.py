"""Play and record through PortAudio devices.

Threads: the methods run on the event loop; device callbacks and the audio worker have threads of their own. Calls into
a sound system may block for ever, so each runs in a daemon thread with a time limit and is abandoned after it.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gemini_live_runtime.audio.device_exchange import exchange_device
from gemini_live_runtime.audio.device_pair import CLOSE_TIMEOUT_S, close_streams, open_pair
from gemini_live_runtime.audio.device_recovery import DeviceRecovery, best_devices, is_complete
from gemini_live_runtime.audio.devices.opening import (
    NO_ANSWER,
    OPEN_TIMEOUT_S,
    selected_devices,
    within,
)
from gemini_live_runtime.audio.devices.portaudio import PortAudioLibrary, import_portaudio
from gemini_live_runtime.audio.devices.probe import list_devices
from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice, select_device
from gemini_live_runtime.audio.devices.streams import (
    DeviceStream,
    closing_hangs,
)
from gemini_live_runtime.audio.echo.canceller_maker import CancellerMaker
from gemini_live_runtime.audio.echo.cancellers import EchoCanceller
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.echo.echo_path import EchoPath, no_echo_path
from gemini_live_runtime.audio.interface import (
    AudioListener,
    AudioOpened,
    Direction,
    MicChunk,
    OpenDevice,
)
from gemini_live_runtime.audio.playback.playout import Playout
from gemini_live_runtime.audio.processing.loop_listener import LoopListener
from gemini_live_runtime.audio.processing.pipeline import PipelineAudio
from gemini_live_runtime.audio.processing.worker import AudioWorker
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.restarts import RestartLimit
from gemini_live_runtime.samples import MeterSample


class DeviceAudio(PipelineAudio):
    """Microphone and loudspeaker of this machine, with echo cancelling between them.

    `input` and `output` choose a device by number, name or part of a name; None is the default. With `echo` False the
    microphone is taken as it is; `only` one direction leaves the other alone. `echo_path` returns what is known of a
    pair of devices, with which `canceller` makes their canceller, and `keep_path` gets what a call has learned of it.
    With `headphones` no echo is looked for and the microphone is never attenuated, with `noise_suppression` steady
    noise is taken out of it.
    """

    def __init__(
        self,
        input: str | None = None,
        output: str | None = None,
        *,
        echo: bool = True,
        headphones: bool = False,
        noise_suppression: bool = False,
        only: Direction | None = None,
        echo_path: Callable[[SoundDevice, SoundDevice], EchoPath | None] = no_echo_path,
        keep_path: Callable[[SoundDevice, SoundDevice, EchoPath], None] | None = None,
        canceller: Callable[[EchoPath | None], EchoCanceller] = DualCanceller,
        load: Callable[[], Any] = import_portaudio,
        probe: Callable[[], DeviceList] = list_devices,
        reopen: bool = True,
        on_chunks: Callable[[Sequence[MicChunk]], None] | None = None,
    ) -> None:
        """Create closed devices; with `reopen` others replace lost ones for a time.

        `on_chunks` gets the microphone's chunks on the audio worker's thread, in place of the listener.
        """
        wanted: dict[Direction, str | None] = {"input": input, "output": output}
        self._wanted = wanted if only is None else {only: wanted[only]}
        self._closed = False
        self._cancellers = CancellerMaker(
            echo=echo,
            headphones=headphones,
            noise_suppression=noise_suppression,
            echo_path=echo_path,
            keep_path=keep_path,
            canceller=canceller,
        )
        self._library = PortAudioLibrary(load)
        self._probe = probe
        self._on_chunks = on_chunks
        self._worker: AudioWorker | None = None
        self._loop_listener: LoopListener | None = None
        self._listener: AudioListener | None = None
        self._recovery = DeviceRecovery(self._recover, self._report_unreplaced) if reopen else None
        self._changing = asyncio.Lock()
        self._rebuilding = False
        self._homes: dict[Direction, str] = {}
        """Names of the devices that were opened by choice, so not in place of a lost one."""
        self._failed: dict[Direction, SoundDevice] = {}
        """Devices that could not be opened when they were tried last."""
        self._faults = RestartLimit()
        self._given_up: AudioWorker | None = None
        """Worker after whose fault no other one is started, until devices are chosen."""
        self._microphone_on = True
        self._speaker_on = True

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Open the devices; report each one that fails in `problems`.

        A child process lists the devices first, because a broken sound system may abort the process that asks.
        """
        loop_listener = LoopListener(
            asyncio.get_running_loop(), listener, on_device_lost=self._on_device_lost, on_chunks=self._on_chunks
        )
        self._loop_listener, self._listener = loop_listener, listener
        self._closed = False
        opened = await self._open_first(loop_listener)
        self._homes = self._open_names()
        if self._recovery is not None and len(self._homes) < len(self._wanted):
            self._recovery.search(seldom=True)
        return opened

    async def _open_first(self, loop_listener: LoopListener) -> AudioOpened:
        found = await within(self._probe, OPEN_TIMEOUT_S * 3, NO_ANSWER)
        if found.problem:
            return await self._open_streams(loop_listener, None, {}, [found.problem])
        problems: list[str] = []
        chosen: dict[Direction, SoundDevice] = {}
        try:
            portaudio, found_here = await self._library.start(found)
        except DeviceError as error:
            return await self._open_streams(loop_listener, None, {}, [str(error)])
        for direction, wanted in self._wanted.items():
            try:
                chosen[direction] = select_device(found_here, wanted, direction)
            except DeviceError as error:
                problems.append(str(error))
        return await self._open_streams(loop_listener, portaudio, chosen, problems)

    async def change(self, input: str | None, output: str | None, headphones: bool | None = None) -> AudioOpened:
        """Switch to other devices (None: the system's choice) and keep queued speech.

        Raises `DeviceError` when one of them cannot be used; then the old ones go on, as far as they still can.
        """
        async with self._changing:
            before = self._cancellers.headphones
            if headphones is not None:
                self._cancellers.headphones = headphones
            try:
                return await self._change(input, output)
            except DeviceError:
                self._cancellers.headphones = before
                raise

    async def _change(self, input: str | None, output: str | None) -> AudioOpened:
        loop_listener, worker, pipeline = self._loop_listener, self._worker, self._pipeline
        if loop_listener is None or worker is None or pipeline is None:
            raise DeviceError("The sound devices are not open yet", remedy="Wait a moment", field="devices")
        found = await within(self._probe, OPEN_TIMEOUT_S * 3, NO_ANSWER)
        if found.problem:
            raise DeviceError(found.problem, field="devices")
        wanted: dict[Direction, str | None] = {"input": input, "output": output}
        before: dict[Direction, DeviceStream | None] = {"input": worker.microphone, "output": worker.loudspeaker}
        # Refuse unknown names before the old devices are closed.
        selected_devices(found.devices, wanted, before)
        await self._stop(worker)
        if worker.running:
            raise DeviceError("The sound system does not release its devices", field="devices")
        old = {direction: stream for direction, stream in before.items() if stream is not None}
        try:
            portaudio, found_here = await self._library.start(found)
        except DeviceError as error:
            await self._open_streams(loop_listener, None, {}, [], playout=pipeline.playout)
            self._report_lost(loop_listener, old, str(error))
            raise
        chosen = selected_devices(found_here, wanted, before)
        opened = await self._open_streams(loop_listener, portaudio, chosen, [], playout=pipeline.playout, whole=True)
        if opened.problems:
            # Devices are opened by name again: restarting PortAudio may have renumbered them.
            again = selected_devices(
                found_here, {side: stream.device.name for side, stream in old.items()}, {}, strict=False
            )
            reopened = await self._open_streams(loop_listener, portaudio, again, [], playout=pipeline.playout)
            lost = {side: stream for side, stream in old.items() if getattr(reopened, side) is None}
            self._report_lost(loop_listener, lost, " ".join(reopened.problems))
            await self._close_if_ended()
            raise DeviceError(" ".join(opened.problems), remedy="The devices stay as they were", field="devices")
        await self._close_if_ended()
        self._faults.clear()
        self._wanted = wanted
        self._homes = self._open_names()
        if self._recovery is not None:
            for direction in self._homes:
                self._recovery.take_untold(direction)
        return opened

    # -- devices that were lost --------------------------------------------------------------------------------------

    def _on_device_lost(self, direction: Direction, reason: str) -> None:
        """Replace a device that was lost, or report it. Called on the loop."""
        self._library.is_list_old = True
        worker = self._worker
        if worker is not None and worker.has_failed:
            worker.has_failed = False
            if not self._faults.allows(asyncio.get_running_loop().time()):
                self._given_up = worker
        if self._recovery is None or self._is_given_up:
            remedy = " Choose the devices to try again." if self._is_given_up else ""
            self._report_unreplaced(direction, reason + remedy)
        elif not self._closed:
            self._recovery.on_lost(direction, reason)

    @property
    def _is_given_up(self) -> bool:
        return self._given_up is not None and self._given_up is self._worker

    def _report_unreplaced(self, direction: Direction, reason: str) -> bool:
        """Report a loss and drop what is queued; return False while devices are opened."""
        if self._rebuilding:
            return False
        loop_listener, worker, listener = self._loop_listener, self._worker, self._listener
        if loop_listener is None or worker is None or listener is None:
            return True

        def tell() -> None:
            loop_listener.call(listener.on_device_lost, direction, reason)

        if direction == "input":
            tell()
        elif worker.running:
            worker.drop_output(tell)
        else:
            tell()
            worker.pipeline.lose_output()
        return True

    async def _recover(self) -> bool:
        """Open better devices than those that are open, where there are some.

        Returns True when nothing is left to look for.
        """
        async with self._changing:
            found = await within(self._probe, OPEN_TIMEOUT_S * 3, NO_ANSWER)
            worker = self._worker
            if self._closed or worker is None or self._is_given_up:
                return True
            before = self._open_names()
            best = best_devices(found.devices, self._choices)
            better = any(before.get(direction) != device.name for direction, device in best.items())
            # Opening takes all streams down for a moment: not again for a device that has just failed.
            if better and (not before or best != self._failed) and not await self._open_beside(best, worker, before):
                await self._open_best(found, worker, before)
            homes = {direction: self._homes.get(direction) or wanted for direction, wanted in self._wanted.items()}
            return is_complete(found.devices, homes, self._open_names())

    @property
    def _choices(self) -> dict[Direction, str | None]:
        """Devices as they were chosen, by name: numbers change with every device."""
        return {side: wanted and self._homes.get(side, wanted) for side, wanted in self._wanted.items()}

    async def _open_best(self, found: DeviceList, worker: AudioWorker, before: Mapping[Direction, str]) -> None:
        loop_listener, pipeline, recovery = self._loop_listener, self._pipeline, self._recovery
        if loop_listener is None or pipeline is None or recovery is None:
            return
        self._rebuilding = True
        try:
            await self._stop(worker)
            if worker.running or closing_hangs():
                worker.microphone = worker.loudspeaker = None
                for direction in before:
                    recovery.on_lost(direction, "The sound system does not release its devices.")
                return
            try:
                portaudio, found_here = await self._library.start(found)
            except DeviceError as error:
                opened = await self._open_streams(loop_listener, None, {}, [str(error)], playout=pipeline.playout)
            else:
                best = self._failed = best_devices(found_here, self._choices)
                opened = await self._open_streams(loop_listener, portaudio, best, [], playout=pipeline.playout)
            await self._close_if_ended()
        finally:
            self._rebuilding = False
        if self._closed:
            return
        if not opened.problems:
            self._failed = {}
        self._on_reopened(opened, before)

    def _on_reopened(self, opened: AudioOpened, before: Mapping[Direction, str]) -> None:
        """Report which lost devices were replaced, and which were not."""
        recovery = self._recovery
        if recovery is None:
            return
        replaced: list[str] = []
        failed: list[Direction] = []
        for direction in self._wanted:
            if getattr(opened, direction) is not None:
                replaced.append(recovery.take_untold(direction))
            elif direction in before:
                recovery.on_lost(direction, " ".join(opened.problems))
                failed.append(direction)
        # A device that was lost in the meantime is replaced by the next look.
        recovery.tell(failed)
        if self._listener is not None and any(before.get(side) != name for side, name in self._open_names().items()):
            self._listener.on_devices_opened(replace(opened, problems=tuple(filter(None, replaced))))

    async def _open_beside(
        self, best: Mapping[Direction, SoundDevice], worker: AudioWorker, before: Mapping[Direction, str]
    ) -> bool:
        """Replace one device while the other stays open, which loses nothing.

        Returns False when all must be opened again: none stays, or PortAudio, which lists devices only when it starts,
        does not know the new one or cannot open it.
        """
        changed = {side: device for side, device in best.items() if before.get(side) != device.name}
        pipeline = self._pipeline
        if pipeline is None or not worker.running or before.keys() <= changed.keys():
            return False
        ((side, device),) = changed.items()
        self._rebuilding = True
        try:
            portaudio, known = await self._library.find(device)
            if known is None:
                return False
            muted = not self._speaker_on
            canceller = await exchange_device(worker, side, known, portaudio, self._cancellers.make, muted=muted)
        except DeviceError:
            return False
        finally:
            self._rebuilding = False
        if canceller is None:
            return False
        self._failed = {}
        still_open = {direction: name for direction, name in before.items() if direction in self._open_names()}
        self._on_reopened(self._describe_open(worker), still_open)
        return True

    def _open_names(self) -> dict[Direction, str]:
        worker = self._worker
        if worker is None:
            return {}
        streams: tuple[DeviceStream | None, ...] = (worker.microphone, worker.loudspeaker)
        return {stream.direction: stream.device.name for stream in streams if stream is not None}

    async def _close_if_ended(self) -> None:
        """Close the new streams if the session ended while they were opening."""
        if self._closed:
            await self.close()

    def _report_lost(self, loop_listener: LoopListener, lost: Mapping[Direction, DeviceStream], reason: str) -> None:
        for direction in lost:
            loop_listener.on_device_lost(direction, reason)

    def _report_larger_blocks(self) -> None:
        worker = self._worker
        if worker is None or worker.loudspeaker is None or self._listener is None:
            return
        problem = f"The speaker did not keep up: it plays {worker.loudspeaker.block_ms} ms at a time from now on."
        self._listener.on_devices_opened(self._describe_open(worker, problem))

    async def _open_streams(
        self,
        loop_listener: LoopListener,
        portaudio: Any,
        chosen: dict[Direction, SoundDevice],
        problems: list[str],
        *,
        playout: Playout | None = None,
        whole: bool = False,
    ) -> AudioOpened:
        """Open the `chosen` devices and start the worker.

        `playout` continues another pipeline's playback. With `whole` a failure closes everything again.
        """
        pair = await open_pair(loop_listener, portaudio, chosen, self._cancellers.make, playout=playout, whole=whole)
        told = (*problems, *pair.problems)
        if whole and pair.problems:
            return AudioOpened(None, None, told, "")
        pair.pipeline.set_microphone(self._microphone_on)
        pair.pipeline.set_speaker(self._speaker_on)
        pair.pipeline.playout.set_paused(self._is_paused)
        self._pipeline = pair.pipeline
        self._worker = worker = AudioWorker(
            pair.pipeline,
            loop_listener,
            portaudio,
            pair.microphone,
            pair.loudspeaker,
            on_stepped=loop_listener.flush,
            on_larger_blocks=functools.partial(loop_listener.call, self._report_larger_blocks),
        )
        opened = self._describe_open(worker, *told)
        if pair.is_open:
            worker.start()
        else:
            self._library.release()
        return opened

    def _describe_open(self, worker: AudioWorker, *problems: str) -> AudioOpened:
        microphone, loudspeaker = worker.microphone, worker.loudspeaker
        has_both = microphone is not None and loudspeaker is not None
        name = self._cancellers.name_of(worker.pipeline.capture.canceller, has_both=has_both)
        return AudioOpened(_opened(microphone), _opened(loudspeaker), problems, name)

    async def close(self) -> None:
        """Stop the worker and close the streams, after a last playback report.

        Idempotent. A sound system that hangs is abandoned after `CLOSE_TIMEOUT_S`.
        """
        self._closed = True
        if self._recovery is not None:
            await self._recovery.close()
        worker, self._worker = self._worker, None
        loop_listener, self._loop_listener = self._loop_listener, None
        if worker is not None:
            await self._stop(worker)
        if loop_listener is not None:
            loop_listener.close()
        self._library.release()

    async def _stop(self, worker: AudioWorker) -> None:
        """Stop the worker and close its streams, within `CLOSE_TIMEOUT_S`."""

        def stop() -> None:
            if worker.running:
                worker.stop()
            if worker.microphone is not None and worker.loudspeaker is not None:
                self._cancellers.keep_learned()
            close_streams(worker.loudspeaker, worker.microphone)

        await within(stop, CLOSE_TIMEOUT_S, None)

    def set_microphone(self, on: bool) -> None:
        """Start or stop delivering microphone chunks."""
        self._microphone_on = on
        if self._pipeline is not None:
            self._pipeline.set_microphone(on)
            self._step_soon()

    def set_speaker(self, on: bool) -> None:
        """Play, or play silence while playback goes on."""
        self._speaker_on = on
        if self._pipeline is not None:
            self._pipeline.set_speaker(on)

    def levels(self) -> MeterSample:
        """Return the current meter values."""
        if self._pipeline is None or self._loop_listener is None:
            return MeterSample()
        dropped = self._loop_listener.dropped_chunks + self._pipeline.overflowed_chunks
        worker = self._worker
        drift, xruns = (worker.drift_ppm, worker.xruns) if worker is not None else (None, 0)
        return self._pipeline.levels_with(mic_dropped=dropped, drift_ppm=drift, xruns=xruns)

    @property
    def finished(self) -> bool:
        """True when no microphone is open."""
        return self._worker is None or self._worker.microphone is None

    def _step_soon(self) -> None:
        worker = self._worker
        if worker is None or self._pipeline is None:
            return
        if worker.running:
            worker.wake()
        else:
            # No worker runs without a stream, but turns must still end: step on the loop instead.
            loop = asyncio.get_running_loop()
            loop.call_soon(self._pipeline.playout.step, loop.time())


def _opened(stream: DeviceStream | None) -> OpenDevice | None:
    if stream is None:
        return None
    return OpenDevice(stream.direction, stream.device.name, stream.device.rate, stream.latency * 1000)
