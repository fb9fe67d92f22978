"""Run the embedded Live server as a child process of the engine.

Speech recognition needs the interpreter for long stretches; in a process of its own it never disturbs a call.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process

from gemini_live_runtime.errors import EngineError
from gemini_live_runtime.text import sanitise_line

READY_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 2.0


class LocalServerProcess:
    """Running `python -m gemini_live_runtime.local`.

    It ends when its standard input closes, and so with this process. Its port on the loopback address is open to every
    user of the machine, so it admits only clients that know its token.
    """

    def __init__(self, process: Process, url: str, token: str, deaf: str) -> None:
        self._process = process
        self.url = url
        self.token = token
        self.deaf = deaf
        """Reason why it recognises no speech; "" when it does."""

    @property
    def is_running(self) -> bool:
        """True while the process lives."""
        return self._process.returncode is None

    @classmethod
    async def start(cls, script: str = "") -> LocalServerProcess:
        """Start the server, or take a prestarted one, and wait for its address.

        Raises `EngineError`, with the last line of its output, when it does not start.
        """
        prestarted = _prestarted.pop(script, None)
        return await prestarted if prestarted is not None else await cls._launch(script)

    @classmethod
    async def _launch(cls, script: str) -> LocalServerProcess:
        # Lazy: a console waits for the address, and the parts load while the session connects.
        arguments = ["-P", "-m", "gemini_live_runtime.local", "--host", "127.0.0.1", "--port", "0"]
        arguments += ["--exit-with-parent", "--lazy", "--private"]
        if script:
            arguments += ["--script", script]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=1 << 20
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                line = await process.stdout.readline()
            ready = json.loads(line)
            url, token, hears = str(ready["url"]), str(ready["token"]), ready["recogniser"]
        except (TimeoutError, ValueError, KeyError, TypeError):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            _, errors = await process.communicate()
            words = sanitise_line(errors.decode("utf-8", "replace").strip().rpartition("\n")[2], 300)
            raise EngineError(
                f"The embedded server did not start{': ' + words if words else ''}",
                remedy="Run gemini-live-tui serve-local to see why",
            ) from None
        server = cls(process, url, token, "" if hears is True else sanitise_line(str(hears), 300))
        server._drain = asyncio.gather(_discard(process.stdout), _discard(process.stderr))
        return server

    _drain: asyncio.Future[tuple[None, None]]

    async def stop(self) -> None:
        """End the server; idempotent."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        await self._drain


_prestarted: dict[str, asyncio.Task[LocalServerProcess]] = {}


async def prestart(script: str = "") -> None:
    """Start a server for a later `start` with the same script; do not wait for it."""
    task = _prestarted[script] = asyncio.create_task(LocalServerProcess._launch(script))
    # Read the exception, so that asyncio logs none when `start` is never called; `start` raises it.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    # Let the task create the process before the caller blocks the loop with imports.
    await asyncio.sleep(0)


async def _discard(stream: asyncio.StreamReader | None) -> None:
    # The server would block on a full pipe.
    while stream is not None and await stream.read(65536):
        pass
