"""A tool's fingerprint changes with its name, description, schema and code."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from gemini_live_runtime import Tool, tool
from gemini_live_runtime.tools.fingerprint import fingerprint


def build(steps: int) -> int:
    """Build."""
    return steps + 1


def other(steps: int) -> int:
    """Build."""
    return steps + 2


def wider(steps: float) -> float:
    """Build."""
    return steps + 1


def choose(answer: str) -> bool:
    """Build."""
    return answer in {"yes", "sure", "of course", "please"}


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


class Shop:
    def __init__(self, factor: int) -> None:
        self.factor = factor

    def build(self, steps: int) -> int:
        """Build."""
        return steps * self.factor


def of(function: Callable[..., Any], **options: Any) -> Tool:
    return tool(name="build", description="Build.", **options)(function)


def test_the_same_tool_has_the_same_fingerprint() -> None:
    assert fingerprint(of(build)) == fingerprint(of(build))


@pytest.mark.parametrize(
    "changed",
    [
        tool(name="built", description="Build.")(build),
        tool(name="build", description="Build all.")(build),
        of(other),
        of(wider),
        of(logged(build)),
    ],
)
def test_a_changed_tool_has_another_one(changed: Tool) -> None:
    assert fingerprint(changed) != fingerprint(of(build))


def test_a_change_behind_a_decorator_is_seen() -> None:
    assert fingerprint(of(logged(build))) != fingerprint(of(logged(other)))


def adding(count: Any) -> Callable[[int], int]:
    def add(steps: int) -> int:
        return steps + int(count)

    return add


def test_a_change_behind_a_cache_is_seen() -> None:
    assert fingerprint(of(functools.cache(adding(1)))) != fingerprint(of(functools.cache(adding(2))))


def test_a_list_that_is_in_itself_has_a_fingerprint() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    assert fingerprint(of(adding(endless))) == fingerprint(of(adding(endless)))


def test_a_change_behind_a_partial_is_seen() -> None:
    def schema(function: Callable[..., Any]) -> Tool:
        return Tool.from_schema("build", "Build.", {"type": "object", "properties": {}}, function)

    def with_args(factor: int, args: dict[str, Any]) -> int:
        return factor

    one, two = (schema(functools.partial(with_args, factor)) for factor in (1, 2))
    assert fingerprint(one) != fingerprint(two)


def test_a_default_counts_and_the_methods_object_does_not() -> None:
    assert fingerprint(of(Shop(1).build)) == fingerprint(of(Shop(2).build))

    def with_default(limit: int) -> Callable[..., Any]:
        def call(*, most: int = limit) -> int:
            return most

        return call

    one, two = (
        Tool.from_schema("build", "Build.", {"type": "object", "properties": {}}, _taking(with_default(limit)))
        for limit in (1, 2)
    )
    assert fingerprint(one) != fingerprint(two)


def _taking(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(args: dict[str, Any]) -> Any:
        return function()

    return call


def test_another_process_finds_the_same() -> None:
    code = (
        "from tests.unit.tools.test_fingerprint import choose, logged, of\n"
        "from gemini_live_runtime.tools.fingerprint import fingerprint\n"
        "print(fingerprint(of(logged(choose))))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
