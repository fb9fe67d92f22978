"""Run a host as a process: its files, signals, output and end.

Order matters at both ends. The lock is taken first, so that `ps` sees a living engine; output is captured before any
code of the agent runs; the console server listens before the session is created, so that a console can attach and read
why it failed. At the end the console server closes while output is still captured, then the journal, then the folder
is removed, and last the lock is released. A thread of a tool that still runs cannot keep the process alive: a timer
ends it `EXIT_GUARD_S` later.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from gemini_live_runtime import paths
from gemini_live_runtime.engine.console_server import ConsoleServer, ServerKind
from gemini_live_runtime.engine.host import PROGRAM, Host, SessionFactory
from gemini_live_runtime.engine.launch import drop_addition, take_secrets
from gemini_live_runtime.engine.registry import ENGINE_FILE, remove_folder, take_lock
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.engine.stdio import CapturedOutput
from gemini_live_runtime.errors import EngineError, GeminiLiveError
from gemini_live_runtime.redactor import redactor

_USUAL_THRESHOLDS = gc.get_threshold()

EXIT_GUARD_S = 3.0
"""Seconds that threads of tools or a blocked event loop may delay the exit."""


def main(
    spec_file: Path,
    factory: SessionFactory,
    *,
    server_kind: ServerKind | None = None,
    on_listening: Callable[[EngineSpec], Awaitable[None]] | None = None,
) -> int:
    """Run the engine of `spec_file` in that file's folder; return its exit code.

    `on_listening` is called once consoles can attach, before the session is created.
    """
    os.umask(0o077)
    drop_addition()
    take_secrets()
    try:
        with contextlib.suppress(FileNotFoundError):  # `read_spec` names the file
            paths.own_folder(spec_file.parent)
        spec = read_spec(spec_file)
        return asyncio.run(_serve(spec, spec_file.parent, factory, server_kind, on_listening))
    except GeminiLiveError as error:
        print(redactor.text(str(error)), file=sys.stderr)
        return error.exit_code


def read_spec(spec_file: Path) -> EngineSpec:
    """Read the spec in a file; raises `EngineError`."""
    try:
        value = json.loads(spec_file.read_text("utf-8"))
        if not isinstance(value, dict):
            raise ValueError("it is not an object")
        return EngineSpec.from_json(value)
    except OSError as error:
        raise EngineError(f"The spec {spec_file} cannot be read: {error.strerror or error}", field="spec") from None
    except (ValueError, TypeError) as error:
        raise EngineError(f"The spec {spec_file} is malformed: {error}", field="spec") from None


async def _serve(
    spec: EngineSpec,
    folder: Path,
    factory: SessionFactory,
    kind: ServerKind | None,
    on_listening: Callable[[EngineSpec], Awaitable[None]] | None,
) -> int:
    lock_fd = take_lock(folder)
    host = Host(spec, factory)
    server = ConsoleServer(
        host.hub, folder, host.submit, kind=kind, on_poke=host.on_records_changed, status=host.status
    )
    code, output_wanted = 1, True
    try:
        asyncio.get_running_loop().set_exception_handler(partial(_report_fault, host))
        with _signals(host), CapturedOutput(host.hub.report) as output:
            faulthandler.enable(output.original_stderr)
            try:
                await server.open()
                _register(spec, folder, host)
                if on_listening is not None:
                    await on_listening(spec)
                code = await host.run(started=_freeze)
                await server.close()
            finally:
                faulthandler.disable()
        # The capture passed its last lines to the loop: let them reach the journal.
        await asyncio.sleep(0)
        output_wanted = False
    finally:
        await host.close()
        remove_folder(folder, keep_output=output_wanted)
        os.close(lock_fd)
        _exit_soon(code)
    return code


def _register(spec: EngineSpec, folder: Path, host: Host) -> None:
    paths.write_private(
        folder / ENGINE_FILE,
        {
            "pid": os.getpid(),
            "session_id": spec.session_id,
            "agent": spec.agent,
            "backend": redactor.text(spec.backend),
            "started": host.hub.wall,
            "program": PROGRAM,
            "profile": spec.profile.name,
        },
    )


def _report_fault(host: Host, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report a fault that reached the event loop.

    Its traceback goes to the captured output.
    """
    loop.default_exception_handler(context)
    error = context.get("exception")
    if isinstance(error, Exception):
        host.report_fault(error)


def _freeze() -> None:
    # All objects so far live as long as the engine: exclude them from every later collection.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_USUAL_THRESHOLDS)


@contextlib.contextmanager
def _signals(host: Host) -> Iterator[None]:
    """Hang up on the first signal that asks to end, end at once on the second."""
    loop = asyncio.get_running_loop()
    count = 0

    def asked(number: int, frame: FrameType | None) -> None:
        # Runs between two bytecodes, and so also while code of the agent blocks the loop.
        nonlocal count
        count += 1
        name = signal.Signals(number).name
        if count == 1:
            # Thread-safe although on the loop's thread: it wakes a loop that waits in its selector.
            loop.call_soon_threadsafe(host.hang_up, f"asked to stop by {name}")
        else:
            loop.call_soon_threadsafe(host.stop_at_once, f"{name} came twice")
            _exit_soon(1)

    # An engine has no terminal, so a SIGHUP is somebody's wish to end it. Windows has none.
    names = ("SIGTERM", "SIGINT", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = [(number, signal.signal(number, asked)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _exit_soon(code: int) -> None:
    timer = threading.Timer(EXIT_GUARD_S, os._exit, (code,))
    timer.daemon = True
    timer.start()
