"""What the folds of the mind share: names and values fit to show, bounded dictionaries, ticks of the timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.agent_view import MAX_TICKS, AgentView, Tick, pack
from gemini_live_runtime.journal.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line

MAX_TEXT = 200
"""Characters of a value as it is shown on one line."""

MAX_NAME = 80

T = TypeVar("T")
Handler = Callable[[SessionView, ev.Event, Any], Dirty]
"""Folds one event's payload into a view, and says what changed."""


def shown(packed: str, limit: int = MAX_TEXT) -> str:
    """A packed value on one line, fit to show."""
    if "\\" not in packed:
        return packed if len(packed) <= limit else f"{packed[: limit - 1]}…"
    import json

    return sanitise_line(json.dumps(json.loads(packed), ensure_ascii=False), limit)


@lru_cache(maxsize=4096)
def _short_name(text: str) -> str:
    return sanitise_line(text, MAX_NAME)


def clean_name(text: str) -> str:
    """A name fit to show. The same few come with every event and are kept once; a long one is not worth the memory."""
    return _short_name(text) if len(text) <= MAX_NAME else sanitise_line(text, MAX_NAME)


@lru_cache(maxsize=16)
def clean_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that are the same for every turn, kept once."""
    return tuple(clean_name(name) for name in names)


def bound(items: dict[Any, T], limit: int) -> None:
    """Let the oldest items go until there are at most `limit`."""
    while len(items) > limit:
        del items[next(iter(items))]


def tick(agent: AgentView, event: ev.Event, lane: str, text: str) -> None:
    """Put a moment on a lane of the timeline."""
    agent.ticks.append(Tick(lane, event.t, event.seq, sanitise_line(text, MAX_TEXT)))
    if len(agent.ticks) > MAX_TICKS:
        del agent.ticks[: MAX_TICKS // 10]


def packed_tree(tree: object) -> str:
    """An explanation's tree, packed; "" for what is none."""
    return pack(tree) if isinstance(tree, Mapping) else ""
