"""Run the coroutine tests of a folder in virtual time.

A folder's `conftest.py` imports the hook. Its coroutine tests then run on a `VirtualTimeLoop`, on which an hour of
waiting takes no time and the same test always runs in the same order. A module marked `asyncio` keeps the real loop.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from gemini_live_runtime.clock import run_virtual


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: Any) -> None:
    """Replace a coroutine test by a function that runs it.

    This hook comes before that of pytest-asyncio.
    """
    if not collector.istestfunction(obj, name) or collector.get_closest_marker("asyncio") is not None:
        return
    given = getattr(obj, "hypothesis", None)
    if given is not None and inspect.iscoroutinefunction(given.inner_test):
        given.inner_test = _in_virtual_time(given.inner_test)  # each example on a loop of its own
    elif inspect.iscoroutinefunction(obj):
        setattr(collector.obj, name, _in_virtual_time(obj))


def _in_virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **fixtures: Any) -> None:
        run_virtual(test(*args, **fixtures))

    return run
