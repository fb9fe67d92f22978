"""Start one audio process and exchange orders, reports and sound with it.

The link lives as long as its process and knows nothing of sessions: `process_audio` starts another when it is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gemini_live_runtime.audio.devices.probe import read_answer
from gemini_live_runtime.audio.process.shared_rings import ChunkRing, MemoryFile, SpeechRing, open_memory
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line

BEAT_S = 0.5
"""Seconds between heartbeats to the audio process."""
SILENT_BEATS = 20
"""Beats (10 s) without a report after which the audio process hangs and is ended."""
CLOSE_S = 1.5
"""Seconds for the audio process to close its devices, before it is ended."""
LAST_REPORTS_S = 0.5
"""Seconds to read the last reports of a process that has ended."""
ERROR_CHARS = 2000

PROGRAM = (sys.executable, "-P", "-m", "gemini_live_runtime.audio.process.process_host")

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[3])
_PASSED_ON = frozenset(
    {
        "APPDATA",
        "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY",
        "HOME",
        "LANG",
        "LD_LIBRARY_PATH",
        "LOCALAPPDATA",
        "LOGNAME",
        "PATH",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "TMPDIR",
        "TZ",
        "USER",
        "USERPROFILE",
        "WAYLAND_DISPLAY",
        "WINDIR",
    }
)
_PASSED_ON_PREFIXES = ("ALSA_", "DYLD_", "JACK_", "LC_", "PA_", "PIPEWIRE_", "PULSE_", "XDG_")


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return what sound systems and Python need of the environment `given`.

    The list says what passes: a list of keys would never be complete.
    """
    kept = {name: value for name, value in given.items() if name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES)}
    folders = (_PACKAGE_ROOT, given.get("PYTHONPATH", ""))
    # One thread does all the arithmetic; a library's own threads would wait beside it.
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(folder for folder in folders if folder),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


class ProcessLink(asyncio.SubprocessProtocol):
    """Link to a running audio process.

    `on_report` gets each report, `on_lost` a sentence when the process ended without being closed.
    """

    def __init__(self, on_report: Callable[[dict[str, Any]], None], on_lost: Callable[[str], None]) -> None:
        self.priority = ""
        """Scheduling of the process: real-time, raised or normal."""
        self._on_report = on_report
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._file = MemoryFile()
        memory = open_memory(self._file.path or f"fd:{os.dup(self._file.descriptor)}")
        self.chunks = ChunkRing(memory)
        self.speech = SpeechRing(memory)
        self._transport: asyncio.SubprocessTransport | None = None
        self._orders: asyncio.WriteTransport | None = None
        self._text = b""
        self._errors = b""
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next_id = 0
        self._silent_beats = 0
        self._fault = ""
        self._is_opening = False
        self._closing = False
        self._exited: asyncio.Future[None] = self._loop.create_future()

    @classmethod
    async def start(
        cls,
        on_report: Callable[[dict[str, Any]], None],
        on_lost: Callable[[str], None],
        program: Sequence[str] = (),
    ) -> ProcessLink:
        """Return a link to a new process; `program` replaces ours. Raises DeviceError."""
        link = cls(on_report, on_lost)
        detached: dict[str, Any] = (
            {"start_new_session": True, "pass_fds": link._file.inherited}
            if os.name == "posix"
            else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        )
        try:
            transport, _ = await link._loop.subprocess_exec(
                lambda: link,
                *(program or PROGRAM),
                link._file.name,
                str(os.getpid()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(os.environ),
                **detached,
            )
        except OSError as error:
            link._file.close()
            raise DeviceError(
                f"The audio process cannot be started: {error.strerror or error}", field="sound"
            ) from None
        except BaseException:
            link._file.close()
            raise
        link._transport = transport
        orders = transport.get_pipe_transport(0)
        assert isinstance(orders, asyncio.WriteTransport)
        link._orders = orders
        link._loop.call_later(BEAT_S, link._beat)
        return link

    @property
    def process_id(self) -> int:
        """Number of the process."""
        assert self._transport is not None
        return self._transport.get_pid()

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return not self._exited.done()

    def order(self, kind: str, **values: Any) -> None:
        """Send an order."""
        if self._orders is not None and not self._orders.is_closing():
            line = json.dumps({"order": kind, **values}, separators=(",", ":"))
            self._orders.write(line.encode() + b"\n")

    async def ask(self, kind: str, **values: Any) -> dict[str, Any]:
        """Send an order and return its answer; raise DeviceError.

        That is a refusal, or the reason why the process ended.
        """
        self._next_id += 1
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        if self._exited.done():
            raise DeviceError("The audio process has ended", field="sound")
        self._answers[self._next_id] = future
        self._is_opening = kind == "open"
        self.order(kind, id=self._next_id, **values)
        answer = await future
        self._is_opening = False
        if "refused" in answer:
            refused = answer["refused"]
            raise DeviceError(refused["message"], remedy=refused["remedy"], field=refused["field"])
        return answer

    async def close(self) -> None:
        """Close the devices and end the process, by force after `CLOSE_S`."""
        self._closing = True
        for closing in (lambda: self.ask("close"), self._end):
            with contextlib.suppress(TimeoutError, DeviceError):
                async with asyncio.timeout(CLOSE_S):
                    await closing()
                    await asyncio.shield(self._exited)

    def kill(self, fault: str = "") -> None:
        """End the process at once; `fault` is the reason given to `on_lost`."""
        self._fault = self._fault or fault
        if self._transport is not None:
            with contextlib.suppress(ProcessLookupError):
                self._transport.kill()

    async def _end(self) -> None:
        self.kill()

    # -- what asyncio calls ------------------------------------------------------------------------------------------

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take reports, or the end of what C libraries and crashes print."""
        self._silent_beats = 0
        if fd != 1:
            self._errors = (self._errors + data)[-ERROR_CHARS:]
            return
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
                self.kill(f"its report could not be read ({type(error).__name__})")
                raise

    def process_exited(self) -> None:
        """Close the pipes soon, also when another program holds their other ends."""
        assert self._transport is not None
        self._loop.call_later(LAST_REPORTS_S, self._transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail what waits for an answer and tell the reason, after the last report."""
        self._exited.set_result(None)
        self._file.close()
        reason = self._reason()
        for future in self._answers.values():
            if not future.done():
                future.set_exception(DeviceError(reason, field="sound"))
        self._answers.clear()
        if not self._closing:
            self._on_lost(reason)

    def _take(self, report: dict[str, Any]) -> None:
        if "answer" in report:
            future = self._answers.pop(report["answer"], None)
            if future is not None and not future.done():
                future.set_result(report)
        elif "priority" in report:
            self.priority = report["priority"]
            self._file.close()  # Both have mapped it.
        elif report:
            self._on_report(report)

    def _reason(self) -> str:
        assert self._transport is not None
        code = self._transport.get_returncode() or 0
        said = self._fault
        if not said and code < 0 and self._is_opening:
            return read_answer(code, b"").problem
        if not said and code < 0:
            with contextlib.suppress(ValueError):
                said = signal.Signals(-code).name
        if not said:
            printed = self._errors.decode("utf-8", "replace").strip().splitlines()
            said = sanitise_line(printed[-1], 160) if printed else f"exit status {code}"
        return f"The audio process ended: {said}."

    def _beat(self) -> None:
        if self._exited.done():
            return
        # Counted, not timed: after this loop was held up, reports are waiting to be read.
        self._silent_beats += 1
        if self._silent_beats > SILENT_BEATS:
            self.kill("it did not respond")
        self.order("beat", chunks=self.chunks.taken)
        self._loop.call_later(BEAT_S, self._beat)
