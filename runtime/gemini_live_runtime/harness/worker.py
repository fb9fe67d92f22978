"""Use a harness from an event loop: its disk work runs in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from gemini_live_runtime.clock import Clock
from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.call_claims import CallClaim, claim_call
from gemini_live_runtime.harness.paths import HarnessPaths, may_exist, root_path
from gemini_live_runtime.harness.store import Harness

T = TypeVar("T")


class HarnessWorker:
    """Harness in a thread of its own, opened at its first use.

    The calls run in their order, one at a time; one whose caller is cancelled still ends before the next begins.
    """

    def __init__(self, root: str | Path = "", *, clock: Clock | None = None) -> None:
        """Without a `root` the harness lies in a private folder that `close` deletes.

        Records have the time of `clock`; None is the system's. Raises `HarnessError` for a root that no path can be.
        """
        self.root = str(root_path(root)) if str(root) else ""
        self._clock = clock
        self._wall = 0.0
        """Unix seconds at the newest call: a clock may belong to the loop, and the work runs in a thread."""
        self._harness: Harness | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="harness")
        self._closed = self._has_claimed = False

    @property
    def is_open(self) -> bool:
        """True once the harness was used."""
        return self._harness is not None

    @property
    def has_consent(self) -> bool:
        """True when consent may have been remembered; asking opens no harness."""
        return bool(self.root) and may_exist(HarnessPaths(Path(self.root)).consent)

    @property
    def consent_mark(self) -> tuple[int, int, int] | None:
        """Time, number and size of the file of consent; None without one.

        Zeros where the system does not tell.
        """
        if not self.root:
            return None
        try:
            status = os.lstat(HarnessPaths(Path(self.root)).consent)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return 0, 0, 0
        return status.st_mtime_ns, status.st_ino, status.st_size

    async def call(self, work: Callable[[Harness], T]) -> T:
        """Return the result of `work`, which gets the harness.

        Raises `HarnessError`, also once the harness is closed.
        """
        if self._closed:
            raise HarnessError("The session is over, and its records are closed", remedy="Use Harness.open")
        if not callable(work):
            raise HarnessError(f"call runs a function, not {work!r:.100}", remedy="Give a function of the Harness")
        wall = time.time() if self._clock is None else self._clock.wall()
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(self._opened(wall)))

    async def claim(self, key: str) -> CallClaim | None:
        """Return the claim of a call, or None while another program has it.

        Opens no harness. A claim whose caller is cancelled is given back.
        """
        if not self.root:
            return CallClaim()
        self._has_claimed = True
        loop = asyncio.get_running_loop()
        claiming = loop.run_in_executor(self._thread, claim_call, Path(self.root), key)
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            claiming.add_done_callback(_give_back)
            raise

    def release(self, claim: CallClaim) -> None:
        """Give a claim back, after the calls before; at once when this is closed."""
        try:
            self._thread.submit(claim.release)
        except RuntimeError:
            claim.release()

    def _opened(self, wall: float) -> Harness:
        self._wall = wall
        if self._harness is None:
            root = self.root
            if not root:
                self._temporary = tempfile.TemporaryDirectory(prefix="glt-harness-")
                root = self._temporary.name
            self._harness = Harness.open(root, wall=lambda: self._wall)
            self._harness.reconcile()
        return self._harness

    async def close(self) -> None:
        """Give the instance lock back, once the calls before have ended."""
        if self._closed:
            return
        self._closed = True
        if self._harness is not None or self._temporary is not None or self._has_claimed:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    def _close(self) -> None:
        if self._harness is not None:
            self._harness.close()
        if self._temporary is not None:
            self._temporary.cleanup()


def _give_back(claiming: asyncio.Future[CallClaim | None]) -> None:
    if not claiming.cancelled() and claiming.exception() is None and (claim := claiming.result()) is not None:
        claim.release()
