"""Play the sound of a session's past in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    from gemini_live_runtime.journal.history.session_history import History
    from gemini_live_runtime.journal.sound.playback_sound import Portion

AHEAD_S = 4.0
"""Seconds of sound handed over beyond what was heard."""

Spawn = Callable[[str], Awaitable[Process]]
"""Starts a player for a device, "" is the system's choice."""


async def spawn_player(device: str) -> Process:
    """Start a player process of the runtime."""
    command = [sys.executable, "-P", "-m", "gemini_live_runtime.audio.checks.player", *([device] if device else [])]
    return await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=asyncio.subprocess.DEVNULL)


class SoundPlayback:
    """Playback of one stretch.

    `on_change` is called when `note` or `position` changed. `note` is the state of the sound in a few words; `position`
    is the session time that is heard, None before the first sample and without sound. Without tracks or a device the
    cursor goes on in silence.
    """

    def __init__(
        self,
        history: History,
        folder: Path,
        *,
        begin: float,
        speed: float,
        device: str,
        on_change: Callable[[], None],
        end: float | None = None,
        spawn: Spawn = spawn_player,
    ) -> None:
        """Begin at `begin` and go on to `end`, None for the end of the session (s)."""
        self.note = "opening the speaker"
        self.position: float | None = None
        self._history, self._folder = history, folder
        self._begin, self._end_t, self._speed, self._device = begin, end, speed, device
        self._on_change = on_change
        self._spawn = spawn
        self._played = 0
        self._moved = asyncio.Event()
        self._process: Process | None = None
        self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        """Stop the sound at once."""
        self._task.cancel()

    async def gone(self) -> None:
        """Return when the player has ended."""
        await asyncio.gather(self._task, return_exceptions=True)

    def _say(self, note: str) -> None:
        self.note = note
        self._on_change()

    async def _run(self) -> None:
        try:
            await self._play()
        except GeminiLiveError as error:
            self._say(f"silent: {sanitise_line(str(error), 60)}")
        except OSError as error:
            self._say(f"silent: {error.strerror or error}")
        finally:
            self.position = None
            await self._end()

    async def _play(self) -> None:
        # It imports numpy, so import it in a thread: the loop answers keys.
        portions = await asyncio.to_thread(
            _portions, self._history, self._folder, self._begin, self._speed, self._end_t
        )
        first = next(portions, None)
        if first is None or len(first.missing) == 2:
            self._say("silent: no sound was recorded")
            return
        self._process = await self._spawn(self._device)
        reader = asyncio.create_task(self._listen(self._process))
        try:
            await self._feed(self._process, first, portions)
            await reader
        finally:
            reader.cancel()

    async def _feed(self, process: Process, first: Portion, portions: Iterator[Portion]) -> None:
        from gemini_live_runtime.journal.sound.playback_sound import RATE

        assert process.stdin is not None
        written = 0
        portion: Portion | None = first
        while portion is not None:
            with contextlib.suppress(ConnectionError):
                process.stdin.write(portion.pcm)
                await process.stdin.drain()
            written += len(portion.pcm) // 2
            while written - self._played > AHEAD_S * RATE and process.returncode is None:
                self._moved.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._moved.wait(), 1.0)
            if process.returncode is not None:
                return
            portion = next(portions, None)

    async def _listen(self, process: Process) -> None:
        from gemini_live_runtime.journal.sound.playback_sound import RATE

        assert process.stdout is not None
        problem = "the speaker cannot be opened"
        async for line in process.stdout:
            try:
                report = json.loads(line)
                kind = report["report"]
                if kind == "opened":
                    self._say("with sound")
                elif kind == "position":
                    self._played = int(report["samples"])
                    if self._played:
                        self.position = self._begin + self._played / RATE * self._speed
                    self._moved.set()
                    self._on_change()
                elif kind == "problem":
                    problem = sanitise_line(str(report["text"]), 60)
            except (ValueError, TypeError, KeyError):
                continue
        self.position = None
        self._moved.set()
        self._say(f"silent: {problem}")

    async def _end(self) -> None:
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 2.0)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def _portions(history: History, folder: Path, begin: float, speed: float, end: float | None) -> Iterator[Portion]:
    from gemini_live_runtime.journal.sound.playback_sound import playback

    return playback(history, folder, begin, end, speed=speed)
