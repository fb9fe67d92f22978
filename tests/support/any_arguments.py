"""Draw arguments of every kind for functions of the public interface."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any

from hypothesis import strategies as st

from gemini_live_runtime import (
    Agent,
    ComputedVar,
    DeliveryConfig,
    FunctionExtractor,
    InstructionModifier,
    Live,
    MemoryPersistence,
    Need,
    Phase,
    ReactorRule,
    StateKey,
    TemporalPattern,
    Transition,
    TurnCountDetector,
    Watcher,
    key,
)


class Nothing:
    """Object of an author's class without anything."""


class Choice(Enum):
    """Enumeration of an author's."""

    CLIENT = "client"
    TWO = 2


async def later(*_: Any) -> bool:
    """Decide later."""
    return True


GO = key("app:go")

_CONSTANTS = [
    *(None, True, False, ..., 0, 1, -1, 5, 10**400, 1.5, float("nan"), float("inf"), 3 + 4j),
    *("", "a", "app:x", "two", "first", "second", "a:b:c", "x" * 300, "имя", "\ud800", "\x00", b"b", bytes(640)),
    *("client", "auto", "hybrid", "fresh", "responsive", "turn_complete", "model", "deferred"),
    *([], ["a"], [1], (), {}, {"app:x": 1}, {1: 2}, {"key": "app:x", "value": 1}, {"a": ["echo", "{args}"]}),
    *(set(), frozenset(("a",)), range(3), bytearray(b"x"), memoryview(b"x")),
    *(Nothing(), Nothing, Choice, Choice.CLIENT, Choice.TWO, print, len, type, int, later),
    *(lambda: 1, lambda state: True, lambda a, b: 1, lambda a, b, c: []),
    *(GO, GO == 1, GO.changed(), StateKey("app:k", int), Phase("p", "P."), Transition("p", GO), Need("app:y")),
    *(Watcher(GO.changed(), print), ComputedVar("c", lambda state: 1, "app:x"), FunctionExtractor(lambda window: {})),
    *(InstructionModifier.when(GO, "Go."), ReactorRule("r", lambda event, voice, state: [])),
    *(TemporalPattern("p", TurnCountDetector(GO, 2), print), DeliveryConfig(), MemoryPersistence()),
    *(Live.builder("other").instruction("Help."), Agent(name="third", instructions="Help.")),
]

VALUES = st.sampled_from(_CONSTANTS) | st.text(max_size=20) | st.integers() | st.floats() | st.binary(max_size=20)


def arguments_of(function: Callable[..., Any], data: st.DataObject) -> tuple[list[Any], dict[str, Any]]:
    """Draw what `function` can be called with, by its signature."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += data.draw(st.lists(VALUES, max_size=2))
        elif parameter.kind is parameter.VAR_KEYWORD:
            continue
        elif parameter.kind is parameter.POSITIONAL_ONLY or (
            parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY
        ):
            args.append(data.draw(VALUES))
        elif parameter.default is parameter.empty or data.draw(st.booleans()):
            named[parameter.name] = data.draw(VALUES)
    return args, named
