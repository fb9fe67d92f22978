"""An engine as a process of its own: its files, its signals, its output, its end."""

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
from pathlib import Path
from types import FrameType

from gemini_live_runtime import paths
from gemini_live_runtime.engine.door import Door, DoorKind
from gemini_live_runtime.engine.host import PROGRAM, Host, SessionFactory
from gemini_live_runtime.engine.launch import drop_addition
from gemini_live_runtime.engine.registry import ENGINE_FILE, remove_folder, take_lock
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.engine.stdio import CapturedOutput
from gemini_live_runtime.errors import EngineError, GeminiLiveError
from gemini_live_runtime.text import redactor

EXIT_GUARD_S = 3.0
"""Seconds that leftovers (threads of tools, a blocked loop) may delay an exit that is due."""


def main(
    spec_file: Path,
    factory: SessionFactory,
    *,
    door: DoorKind | None = None,
    early: Callable[[EngineSpec], Awaitable[None]] | None = None,
) -> int:
    """Run the engine whose spec is in `spec_file`, in that file's folder; the exit code.

    `early` is called once consoles can enter, before the session is made.
    """
    os.umask(0o077)
    drop_addition()
    try:
        spec = read_spec(spec_file)
        return asyncio.run(_serve(spec, spec_file.parent, factory, door, early))
    except GeminiLiveError as error:
        print(redactor.text(str(error)), file=sys.stderr)
        return error.exit_code


def read_spec(spec_file: Path) -> EngineSpec:
    """The spec in a file; raises `EngineError`."""
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
    kind: DoorKind | None,
    early: Callable[[EngineSpec], Awaitable[None]] | None,
) -> int:
    held = take_lock(folder)
    host = Host(spec, factory)
    door = Door(host.hub, folder, host.submit, kind=kind)
    code, words_wanted = 1, True
    try:
        with _signals(host), CapturedOutput(host.hub.report) as output:
            faulthandler.enable(output.original_stderr)
            try:
                await door.open()
                _register(spec, folder, host)
                if early is not None:
                    await early(spec)
                code = await host.run(started=_freeze)
                await door.close()
            finally:
                faulthandler.disable()
        # The last lines of output are on their way through the loop.
        await asyncio.sleep(0)
        words_wanted = False
    finally:
        await host.close()
        remove_folder(folder, keep_words=words_wanted)
        os.close(held)
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
        },
    )


def _freeze() -> None:
    # What exists now lives as long as the engine: the collector need not walk it again.
    gc.collect()
    gc.freeze()
    gc.enable()


@contextlib.contextmanager
def _signals(host: Host) -> Iterator[None]:
    """The first SIGTERM or SIGINT hangs up, the second ends the session at once."""
    loop = asyncio.get_running_loop()
    count = 0

    def asked(number: int, frame: FrameType | None) -> None:
        # Runs between two bytecodes, so also while somebody's code blocks the loop.
        nonlocal count
        count += 1
        name = signal.Signals(number).name
        if count == 1:
            loop.call_soon_threadsafe(host.hang_up, f"asked to stop by {name}")
        else:
            loop.call_soon_threadsafe(host.stop_at_once, f"{name} came twice")
            _exit_soon(1)

    before = [(number, signal.signal(number, asked)) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _exit_soon(code: int) -> None:
    timer = threading.Timer(EXIT_GUARD_S, os._exit, (code,))
    timer.daemon = True
    timer.start()
