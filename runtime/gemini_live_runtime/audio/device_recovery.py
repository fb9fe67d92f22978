"""Replace lost devices, and look for them until they are back.

A loss is reported only when there is no replacement within `REPLACE_WITHIN_S`, so that a default device can take over
in mid-sentence. After it the devices are listed again and again, ever more seldom. Everything runs on the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from gemini_live_runtime.audio.devices.selection import SoundDevice, select_device
from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.errors import DeviceError

REPLACE_WITHIN_S = 1.5
"""Seconds after which a loss is reported although the search for a replacement goes on."""

FIRST_WAITS_S = (0.5, 1.0, 1.0, 2.0, 2.0)
"""Seconds between the first looks for a device; a sound server is back within seconds."""

AGAIN_WAIT_S = 1.0
"""Seconds before a look after another loss: a device that dies when opened must not be opened in a loop."""

NEXT_WAIT_S, NEXT_LOOKS = 3.0, 20
"""Seconds between the looks of the next minute, and their number."""

LATER_WAIT_S = 10.0
"""Seconds between later looks; one takes 0.15 s of a processor."""


class DeviceRecovery:
    """Search for lost devices of one session, begun by the first loss."""

    def __init__(self, reopen: Callable[[], Awaitable[bool]], report: Callable[[Direction, str], bool]) -> None:
        """`reopen` opens what it can and returns True when nothing is left to look for.

        `report` tells of a loss, or returns False when it cannot at the moment.
        """
        self._reopen = reopen
        self._report = report
        self._untold: dict[Direction, str] = {}
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._lost_again = asyncio.Event()

    def on_lost(self, direction: Direction, reason: str) -> None:
        """Look for a replacement of a device that was lost."""
        self._untold[direction] = reason
        self._tell_later()
        self._lost_again.set()
        self.search()

    def search(self, *, seldom: bool = False) -> None:
        """Begin to look for what is missing, unless a search is under way.

        `seldom` is for devices that were never there: on some machines there are none.
        """
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._search(seldom=seldom), name="look for devices")

    def take_untold(self, direction: Direction) -> str:
        """Return and forget why a device was lost, "" after `tell`."""
        return self._untold.pop(direction, "")

    def tell(self, directions: Collection[Direction] | None = None) -> None:
        """Report the losses that were not replaced, or only those of `directions`."""
        for direction in list(self._untold if directions is None else directions):
            if direction in self._untold and self._report(direction, self._untold[direction]):
                self._untold.pop(direction, None)
        if self._untold:
            self._tell_later()

    async def close(self) -> None:
        """End the search. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _tell_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(REPLACE_WITHIN_S, self.tell)

    async def _search(self, *, seldom: bool) -> None:
        if seldom:
            await self._pause(LATER_WAIT_S)
        for wait_s in itertools.chain(FIRST_WAITS_S, [NEXT_WAIT_S] * NEXT_LOOKS, itertools.repeat(LATER_WAIT_S)):
            self._lost_again.clear()
            # What is lost during a look is not what it was for: the next one may replace it in time.
            looked_for = tuple(self._untold)
            if await self._reopen():
                return
            self.tell(looked_for)
            await self._pause(LATER_WAIT_S if seldom else wait_s)

    async def _pause(self, seconds: float) -> None:
        """Wait until the next look is due, or a device was lost again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._lost_again.wait()
                await asyncio.sleep(min(seconds, AGAIN_WAIT_S))


def best_devices(
    devices: Sequence[SoundDevice], wanted: Mapping[Direction, str | None]
) -> dict[Direction, SoundDevice]:
    """Return the wanted device of each direction, else the default, else none."""
    best: dict[Direction, SoundDevice] = {}
    for direction, name in wanted.items():
        for choice in dict.fromkeys((name, None)):
            with contextlib.suppress(DeviceError):
                best[direction] = select_device(devices, choice, direction)
                break
    return best


def is_complete(
    devices: Sequence[SoundDevice],
    homes: Mapping[Direction, str | None],
    open_names: Mapping[Direction, str],
) -> bool:
    """Return True when each direction has a device, and its home is listed.

    `homes` are the chosen devices, or those that were open before the loss.
    """
    for direction, home in homes.items():
        if not open_names.get(direction):
            return False
        if home:
            try:
                select_device(devices, home, direction)
            except DeviceError:
                return False
    return True
