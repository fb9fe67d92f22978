"""Play and record through the devices of an audio process.

Another process replaces one that is lost. The model's speech is kept until the device has taken it, so that the next
process goes on where the last one ended. Positions of a generation count from its start, whichever process plays it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gemini_live_runtime.audio.interface import AudioListener, AudioOpened, Direction, OpenDevice
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.audio.playback.kept_speech import KeptSpeech
from gemini_live_runtime.audio.process.process_link import ProcessLink
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.restarts import RestartLimit
from gemini_live_runtime.samples import MeterSample

RETRY_S = 60.0
"""Seconds between attempts once the audio process has ended too often; until then there is no sound."""
_POSITIONS = 16
"""Generations whose positions are kept."""


class ProcessAudio:
    """`AudioIO` for the devices of an audio process.

    `options` are those of `DeviceAudio`; `program` replaces the process's program.
    """

    def __init__(self, options: Mapping[str, Any], *, program: Sequence[str] = ()) -> None:
        self._options = dict(options)
        self._program = program
        self._listener: AudioListener | None = None
        self._link: ProcessLink | None = None
        self._is_open = False
        self._closed = False
        self._silent: NoAudio | None = None
        self._opened = AudioOpened(None, None, (), "")
        self._restarting: asyncio.Task[None] | None = None
        self._limit = RestartLimit()
        self._microphone_on = True
        self._speaker_on = True
        self._is_paused = False
        self._cut_below = 0
        self._speech: dict[int, KeptSpeech] = {}
        self._base: dict[int, int] = {}
        self._taken: dict[int, int] = {}
        self._heard: dict[int, int] = {}
        self._started_gen = -1
        self._ordered = 0
        self._obeyed = 0
        self._is_playing = False
        self._is_finished = True
        self._levels: dict[str, Any] = {}
        self.restarts = 0
        """Times another process took over."""

    @property
    def process_id(self) -> int | None:
        """Number of the audio process, None while none runs."""
        return self._link.process_id if self._link is not None and self._link.is_running else None

    # -- the devices -------------------------------------------------------------------------------------------------

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Start the process and open the devices there; failures are in `problems`."""
        self._listener = listener
        try:
            self._opened = await self._start()
        except DeviceError as error:
            await self._fall_silent(listener)
            self._opened = AudioOpened(None, None, (str(error),), "")
            self._restarting = asyncio.get_running_loop().create_task(self._retry(listener))
        return self._opened

    async def change(self, input: str | None, output: str | None, headphones: bool | None = None) -> AudioOpened:
        """Switch to other devices (None: the system's choice) and keep queued speech.

        Raises `DeviceError` when one of them cannot be used; then the old ones go on. After the process was given up
        this starts another.
        """
        wanted = {**self._options, "input": input, "output": output}
        if headphones is not None:
            wanted["headphones"] = headphones
        listener = self._listener
        if self._silent is not None and listener is not None and not self._closed:
            await self._stop_restarting()
            self._limit.clear()
            before, self._options = self._options, wanted
            try:
                self._opened = await self._start()
            except DeviceError:
                self._options = before
                self._restarting = asyncio.get_running_loop().create_task(self._retry(listener))
                raise
            await self._sound_again()
            return self._opened
        link = self._link
        if link is None or not self._is_open:
            raise DeviceError("The sound devices are not open yet", remedy="Wait a moment", field="devices")
        self._opened = _opened(await link.ask("change", input=input, output=output, headphones=headphones))
        self._options = wanted
        return self._opened

    async def close(self) -> None:
        """Close the devices and end the process, after a last report. Idempotent."""
        self._closed = True
        await self._stop_restarting()
        link, self._link = self._link, None
        if link is not None:
            await link.close()
        self._is_open = False
        if self._silent is not None:
            await self._silent.close()

    async def _start(self) -> AudioOpened:
        """Start a process that opens the devices and plays on; raise DeviceError."""
        self._is_open = False
        link = await ProcessLink.start(lambda report: self._on_report(link, report), self._on_lost, self._program)
        self._link = link
        self._ordered = self._obeyed = 0
        try:
            opened = _opened(
                await link.ask("open", options=self._options, microphone=self._microphone_on, speaker=self._speaker_on)
            )
        except BaseException:
            link.kill()
            raise
        self._is_open = True
        self._is_finished = opened.input is None
        self._order("microphone", on=self._microphone_on)
        self._order("speaker", on=self._speaker_on)
        self._order("pause", on=self._is_paused)
        if self._cut_below:
            self._order("cut", below=self._cut_below)
        self._send_speech()
        return opened

    def _on_lost(self, reason: str) -> None:
        # While the devices are opening, whoever waits for them is told.
        if self._is_open and not self._closed:
            self._is_open = False
            self._restarting = asyncio.get_running_loop().create_task(self._restart(reason))

    async def _restart(self, reason: str) -> None:
        listener, before = self._listener, self._opened
        assert listener is not None
        self._settle_positions(listener)
        loop = asyncio.get_running_loop()
        while True:
            if not self._limit.allows(loop.time()):
                await self._give_up(listener, reason)
                await self._retry(listener)
                return
            try:
                self._opened = await self._start()
                break
            except DeviceError as error:
                reason = str(error)
        self.restarts += 1
        problems = (reason, *self._opened.problems)
        self._report_lost(listener, before, self._opened, " ".join(problems))
        listener.on_devices_opened(replace(self._opened, problems=problems))

    async def _give_up(self, listener: AudioListener, reason: str) -> None:
        before, self._opened = self._opened, AudioOpened(None, None, (), "")
        self._link = None
        self._levels = {}
        self._is_finished = True
        await self._fall_silent(listener)
        self._report_lost(listener, before, self._opened, reason)

    async def _retry(self, listener: AudioListener) -> None:
        """Start a process now and then, until one opens the devices."""
        while self._silent is not None:
            await asyncio.sleep(RETRY_S)
            with contextlib.suppress(DeviceError):
                self._opened = await self._start()
                self._limit.clear()
                await self._sound_again()
        listener.on_devices_opened(self._opened)

    async def _sound_again(self) -> None:
        """Leave the state without a process."""
        silent, self._silent = self._silent, None
        if silent is not None:
            await silent.close()

    async def _stop_restarting(self) -> None:
        if self._restarting is not None:
            self._restarting.cancel()
            await asyncio.gather(self._restarting, return_exceptions=True)

    def _report_lost(self, listener: AudioListener, before: AudioOpened, now: AudioOpened, reason: str) -> None:
        directions: tuple[Direction, ...] = ("input", "output")
        for direction in directions:
            if getattr(before, direction) is not None and getattr(now, direction) is None:
                listener.on_device_lost(direction, reason)

    async def _fall_silent(self, listener: AudioListener) -> None:
        """Go on without a process: turns still end."""
        self._silent = NoAudio()
        await self._silent.open(listener)
        for gen, speech in self._speech.items():
            self._silent.play(gen, bytes(speech.kept))
            self._skip(gen, len(speech.kept) // 2)
            if speech.is_complete:
                self._silent.end_of_turn(gen)
        self._speech.clear()

    def _skip(self, gen: int, count: int) -> None:
        """Count the next samples of `gen` as after `count` that no process plays."""
        at = max(self._taken.get(gen, 0), self._base.get(gen, 0)) + count
        self._base = {one: first for one, first in self._base.items() if one in self._taken} | {gen: at}

    def _settle_positions(self, listener: AudioListener) -> None:
        """Report what the lost process played but did not report, and go on from there."""
        for gen, taken in self._taken.items():
            heard = self._heard.get(gen, 0)
            if taken > heard:
                self._heard[gen] = taken
                listener.on_playback_heard(gen, heard, taken - heard)
            self._base[gen] = taken
        for gen, speech in self._speech.items():
            speech.drop_until(self._base.get(gen, 0))
            self._base[gen] = speech.sent = speech.first
            speech.is_end_sent = False
        self._is_playing = False

    # -- playing -----------------------------------------------------------------------------------------------------

    def play(self, gen: int, pcm: bytes) -> None:
        """Queue 24 kHz s16le of `gen`; dropped when `gen` was cut."""
        if self._silent is not None:
            self._silent.play(gen, pcm)
            self._skip(gen, len(pcm) // 2)
        elif gen >= self._cut_below:
            speech = self._speech_of(gen)
            speech.kept += pcm[: len(pcm) & ~1]
            self._send_speech()
            speech.drop_excess()

    def end_of_turn(self, gen: int) -> None:
        """Mark the audio of `gen` as complete."""
        if self._silent is not None:
            self._silent.end_of_turn(gen)
        elif gen >= self._cut_below:
            self._speech_of(gen).is_complete = True
            self._send_speech()
        else:
            self._order("end", gen=gen)

    def cut(self, cut_below: int) -> None:
        """Stop all generations below `cut_below` and report what was played of them."""
        self._cut_below = max(self._cut_below, cut_below)
        for gen in [gen for gen in self._speech if gen < self._cut_below]:
            del self._speech[gen]
        self._order("cut", below=self._cut_below)
        if self._silent is not None:
            self._silent.cut(self._cut_below)

    def played_samples(self, gen: int) -> int:
        """Return the samples of `gen` that the device has taken, as last reported."""
        return self._taken.get(gen, 0)

    def set_microphone(self, on: bool) -> None:
        """Start or stop delivering microphone chunks."""
        self._microphone_on = on
        self._order("microphone", on=on)

    def set_speaker(self, on: bool) -> None:
        """Play, or play silence while playback goes on."""
        self._speaker_on = on
        self._order("speaker", on=on)

    def set_paused(self, paused: bool) -> None:
        """Consume no more samples, or go on with the next one."""
        self._is_paused = paused
        self._order("pause", on=paused)

    def levels(self) -> MeterSample:
        """Return the meters as last reported."""
        priority = self._link.priority if self._link is not None else ""
        return MeterSample(**{**self._levels, "audio_priority": priority, "audio_restarts": self.restarts})

    @property
    def finished(self) -> bool:
        """True when no microphone is open."""
        return self._is_finished

    @property
    def playing(self) -> bool:
        """True while samples are queued that the device has not consumed."""
        if self._silent is not None:
            return self._silent.playing
        if self._is_playing or self._ordered != self._obeyed:
            return True
        return any(speech.sent < speech.end for speech in self._speech.values())

    def _speech_of(self, gen: int) -> KeptSpeech:
        speech = self._speech.get(gen)
        if speech is None:
            base = max(self._taken.get(gen, 0), self._base.get(gen, 0))
            speech = self._speech[gen] = KeptSpeech(first=base, sent=base)
        return speech

    def _order(self, kind: str, **values: Any) -> None:
        if self._link is not None and self._is_open:
            self._ordered += 1
            self._link.order(kind, **values)

    def _send_speech(self) -> None:
        """Send what fits in the ring; the rest follows when the process has read some."""
        link = self._link
        if link is None or not self._is_open:
            return
        for gen, speech in self._speech.items():
            while speech.sent < speech.end:
                count = min(speech.end - speech.sent, link.speech.room // 2)
                if count == 0:
                    return
                at = 2 * (speech.sent - speech.first)
                link.speech.write(bytes(speech.kept[at : at + 2 * count]))
                speech.sent += count
                self._order("play", gen=gen, to=link.speech.written)
            if speech.is_complete and not speech.is_end_sent:
                speech.is_end_sent = True
                self._order("end", gen=gen)

    # -- what the process reports ------------------------------------------------------------------------------------

    def _on_report(self, link: ProcessLink, report: Mapping[str, Any]) -> None:
        listener = self._listener
        assert listener is not None
        link.speech.on_taken(report["speech"])
        self._obeyed = report["orders"]
        self._is_playing = report["playing"]
        if self._is_open:
            self._is_finished = report["finished"]
        self._levels = report.get("levels", self._levels)
        for gen, count in report["taken"]:
            self._on_taken(gen, count)
        self._send_speech()
        for name, *arguments in report["calls"]:
            self._on_call(listener, name, arguments)
        for chunk in link.chunks.take(report["chunks"]):
            listener.on_mic_chunk(chunk)

    def _on_taken(self, gen: int, count: int) -> None:
        taken = self._base.get(gen, 0) + count
        if gen not in self._taken and len(self._taken) >= _POSITIONS:
            oldest = min(self._taken)
            for positions in (self._taken, self._base, self._heard):
                positions.pop(oldest, None)
        self._taken[gen] = taken
        speech = self._speech.get(gen)
        if speech is not None:
            speech.drop_until(min(taken, speech.sent))

    def _on_call(self, listener: AudioListener, name: str, arguments: list[Any]) -> None:
        if name == "on_playback_started":
            (gen,) = arguments
            if gen <= self._started_gen:
                return  # Another process goes on with it.
            self._started_gen = gen
        elif name == "on_playback_heard":
            gen, first, count, _ = arguments
            arguments[1] = first + self._base.get(gen, 0)
            self._heard[gen] = arguments[1] + count
        elif name == "on_playback_drained":
            self._speech.pop(arguments[0], None)
        elif name == "on_device_lost":
            kept = self._opened
            is_input = arguments[0] == "input"
            self._opened = replace(kept, input=None) if is_input else replace(kept, output=None)
        elif name == "on_devices_opened":
            self._opened = _opened({"opened": arguments[0]})
            arguments = [self._opened]
        elif name not in _CALLS:
            raise ValueError(name)
        getattr(listener, name)(*arguments)


_CALLS = frozenset(name for name in vars(AudioListener) if name.startswith("on_"))


def _opened(answer: Mapping[str, Any]) -> AudioOpened:
    found = dict(answer["opened"])
    for direction in ("input", "output"):
        found[direction] = OpenDevice(**found[direction]) if found[direction] else None
    found["problems"] = tuple(found["problems"])
    return AudioOpened(**found)
