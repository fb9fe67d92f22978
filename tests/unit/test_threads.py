from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime.threads import call_in_thread, start_daemon_thread

_NAME: ContextVar[str] = ContextVar("name", default="")


def test_a_call_runs_in_a_named_daemon_thread_with_the_callers_context() -> None:
    async def main() -> tuple[str, bool, str]:
        _NAME.set("caller")
        return await call_in_thread(
            lambda: (threading.current_thread().name, threading.current_thread().daemon, _NAME.get()), "work"
        )

    assert asyncio.run(main()) == ("work", True, "caller")


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ValueError("no"), ValueError),
        (StopIteration("no"), RuntimeError),
        (GeneratorExit("no"), RuntimeError),
        (KeyboardInterrupt("no"), RuntimeError),
    ],
)
def test_an_exception_in_a_thread_is_raised_by_awaiting_it(error: BaseException, raised: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    async def main() -> None:
        with pytest.raises(raised, match="no"):
            await call_in_thread(fail, "work")

    asyncio.run(main())


def test_a_call_that_ends_after_its_loop_or_its_future_is_ignored() -> None:
    release, ended = threading.Event(), threading.Event()

    def work() -> None:
        release.wait()
        ended.set()

    async def main() -> None:
        call_in_thread(work, "work").cancel()

    asyncio.run(main())
    release.set()
    assert ended.wait(PATIENCE_S)


def test_a_started_thread_is_a_running_daemon() -> None:
    done = threading.Event()
    thread = start_daemon_thread(done.set, "work")
    assert done.wait(PATIENCE_S)
    assert thread.daemon
    assert thread.name == "work"
