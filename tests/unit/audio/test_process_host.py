"""Test the reports and the priority of the audio process, in this process."""

from __future__ import annotations

import asyncio
import io
import json
import mmap
import os
import threading
from typing import Any

import pytest

from gemini_live_runtime.audio.devices import priority
from gemini_live_runtime.audio.interface import AudioListener, AudioOpened, MicChunk, OpenDevice
from gemini_live_runtime.audio.process import process_host
from gemini_live_runtime.audio.process.process_host import AudioHost, Reports
from gemini_live_runtime.audio.process.shared_rings import MEMORY_BYTES
from gemini_live_runtime.samples import MeterSample

resource = pytest.importorskip("resource")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes that do not block are POSIX")


class QuietDevices:
    """Devices where nothing plays."""

    playing = False
    finished = False
    listener: AudioListener

    async def open(self, listener: AudioListener) -> AudioOpened:
        self.listener = listener
        return AudioOpened(OpenDevice("input", "microphone", 48_000, 10.0), None, (), "")

    def levels(self) -> MeterSample:
        return MeterSample()

    def played_samples(self, gen: int) -> int:
        return 0

    def set_microphone(self, on: bool) -> None:
        """Do nothing."""

    def set_speaker(self, on: bool) -> None:
        """Do nothing."""

    def set_paused(self, paused: bool) -> None:
        """Do nothing."""


class Sent(Reports):
    """Reports kept in a list."""

    def __init__(self) -> None:
        self.reports: list[Any] = []

    @property
    def is_behind(self) -> bool:
        return False

    def send(self, report: Any) -> None:
        self.reports.append(json.loads(json.dumps(report)))

    @property
    def positions(self) -> list[int]:
        """Positions of the microphone in the order of their reports."""
        return [report["chunks"] for report in self.reports if "chunks" in report]


async def test_the_chunks_of_a_step_are_one_report_from_the_workers_thread() -> None:
    sent, devices, options = Sent(), QuietDevices(), dict[str, Any]()
    with mmap.mmap(-1, MEMORY_BYTES) as memory:
        host = AudioHost(memory, sent, lambda **given: (options.update(given), devices)[1])  # type: ignore[arg-type, return-value]
        host.obey({"order": "open", "id": 1, "options": {}, "microphone": True, "speaker": True})
        while not any("answer" in report for report in sent.reports):  # noqa: ASYNC110 - a few turns of the loop
            await asyncio.sleep(0)
        before = len(sent.positions)

        def step() -> None:
            options["on_chunks"]([MicChunk(bytes(640), 0.0)] * 3)

        for _ in range(2):
            # The loop waits for the thread, so it reports nothing itself.
            thread = threading.Thread(target=step)
            thread.start()
            thread.join()
        assert sent.positions[before:] == [3, 6]


async def test_what_the_loop_notes_while_a_report_is_sent_comes_with_the_next() -> None:
    devices = QuietDevices()

    class NotesMeanwhile(Sent):
        def send(self, report: Any) -> None:
            super().send(report)
            if "chunks" in report and len(self.positions) <= 3:
                devices.listener.on_playback_drained(len(self.positions))

    sent = NotesMeanwhile()
    with mmap.mmap(-1, MEMORY_BYTES) as memory:
        host = AudioHost(memory, sent, lambda **_: devices)  # type: ignore[arg-type, return-value]
        host.obey({"order": "open", "id": 1, "options": {}, "microphone": True, "speaker": True})
        for _ in range(20):
            await asyncio.sleep(0)
    calls = [call for report in sent.reports for call in report.get("calls", ())]
    assert calls == [["on_playback_drained", number] for number in (1, 2, 3)]


async def test_speech_that_is_cut_is_silent_although_the_loop_of_the_process_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[tuple[str, int]] = []

    class Devices(QuietDevices):
        def silence(self, cut_below: int) -> None:
            done.append(("silence", cut_below))

        def cut(self, cut_below: int) -> None:
            done.append(("cut", cut_below))

    class EndOfEngine(BaseException):
        """Raised in place of ending this process."""

    def end(code: int) -> None:
        raise EndOfEngine

    sent = Sent()
    with mmap.mmap(-1, MEMORY_BYTES) as memory:
        host = AudioHost(memory, sent, lambda **_: Devices())  # type: ignore[arg-type, return-value]
        host.obey({"order": "open", "id": 1, "options": {}, "microphone": True, "speaker": True})
        while not any("answer" in report for report in sent.reports):  # noqa: ASYNC110 - a few turns of the loop
            await asyncio.sleep(0)
        monkeypatch.setattr(process_host, "_open_orders", lambda: io.BytesIO(b'{"order": "cut", "below": 3}\n'))
        monkeypatch.setattr(os, "_exit", end)
        with pytest.raises(EndOfEngine):
            # On the loop itself, which cannot carry out anything meanwhile.
            process_host._read_orders(asyncio.get_running_loop(), host)
        assert done == [("silence", 3)]
        await asyncio.sleep(0)
        assert done == [("silence", 3), ("cut", 3)]


def test_reports_that_the_engine_does_not_read_do_not_hold_up_the_process() -> None:
    reading, writing = os.pipe()
    reports, written = Reports(writing), 0
    while not reports.is_behind:
        reports.send({"number": written, "text": "x" * 5_000})
        written += 1
    text = b""
    while reports.is_behind or text.count(b"\n") < written:
        text += os.read(reading, 1 << 20)
    os.close(reading)
    os.close(writing)
    assert [json.loads(line)["number"] for line in text.splitlines()] == list(range(written))


def refuse(*_: object) -> None:
    raise PermissionError


def test_without_real_time_rights_the_priority_is_raised_and_without_any_it_is_normal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_setscheduler", refuse, raising=False)
    monkeypatch.setattr(os, "nice", lambda by: by)
    assert priority.raise_priority() == "raised"
    monkeypatch.setattr(os, "nice", refuse)
    assert priority.raise_priority() == "normal"


def test_a_real_time_priority_without_the_limit_that_ends_a_spinning_thread_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not hasattr(os, "sched_setscheduler"):
        pytest.skip("this system has no such scheduling")
    chosen: list[int] = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda process, policy, parameters: chosen.append(policy))
    monkeypatch.setattr(os, "nice", lambda by: by)
    before = os.sched_getscheduler(0)
    limits: list[Any] = []
    monkeypatch.setattr(resource, "setrlimit", lambda *limit: limits.append(limit))
    assert priority.raise_priority() == "real-time"
    assert chosen == [os.SCHED_RR]
    assert limits[0][0] == resource.RLIMIT_RTTIME
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert priority.raise_priority() == "raised"
    assert chosen[1:] == [os.SCHED_RR, before]
