"""Errors of an author's code are results; a cancelled or closed task is not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gemini_live_runtime.author_code import error_text, result_or_error
from gemini_live_runtime.clock import run_virtual


@pytest.mark.parametrize("error", [ValueError(), asyncio.CancelledError(), GeneratorExit(), KeyboardInterrupt()])
def test_what_is_raised_is_returned(error: BaseException) -> None:
    async def work() -> None:
        raise error

    assert run_virtual(result_or_error(work())) == (None, error)


def test_a_cancelled_task_is_cancelled() -> None:
    async def main() -> None:
        task = asyncio.create_task(result_or_error(asyncio.sleep(1000)))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtual(main())


def test_a_coroutine_that_is_closed_is_closed() -> None:
    went_on: list[Any] = []

    async def main() -> None:
        async def step() -> None:
            went_on.append(await result_or_error(asyncio.sleep(1000)))

        coroutine = step()
        coroutine.send(None)
        coroutine.close()

    run_virtual(main())
    assert not went_on


def test_of_an_exception_without_a_text_the_class_is_told() -> None:
    assert (error_text(KeyboardInterrupt()), error_text(ValueError("no"))) == ("KeyboardInterrupt", "ValueError: no")
