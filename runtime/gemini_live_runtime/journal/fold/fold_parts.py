"""Helpers of the folds: display text, bounded dictionaries, timeline ticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_view import MAX_TICKS, AgentView, Tick
from gemini_live_runtime.journal.fold.packing import pack
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.text import clip, sanitise_line

MAX_TEXT = 200
"""Characters of a value shown on one line."""

MAX_NAME = 80

NOTICE_CHARS = 2000
"""Characters of a notice."""

T = TypeVar("T")
Handler = Callable[[SessionView, ev.Event, Any], Dirty]
"""Function that folds an event and its payload, and returns what changed."""


class Handlers(dict[type[ev.Payload], Handler]):
    """Handlers by the type of payload that they fold."""

    def on(self, cls: type[ev.Payload]) -> Callable[[Handler], Handler]:
        """Register the decorated function for payloads of `cls`."""

        def register(handler: Handler) -> Handler:
            self[cls] = handler
            return handler

        return register


def shown(packed: str, limit: int = MAX_TEXT) -> str:
    """Return a packed value as one sanitised line of at most `limit` characters."""
    if "\\" not in packed:
        return clip(packed, limit)
    import json

    return sanitise_line(json.dumps(json.loads(packed), ensure_ascii=False), limit)


@lru_cache(maxsize=4096)
def _short_name(text: str) -> str:
    return sanitise_line(text, MAX_NAME)


def clean_name(text: str) -> str:
    """Return a sanitised name of at most `MAX_NAME` characters.

    The same few names come with every event: short ones are cached, a long one is not worth the memory.
    """
    return _short_name(text) if len(text) <= MAX_NAME else sanitise_line(text, MAX_NAME)


@lru_cache(maxsize=16)
def clean_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return sanitised names; cached, since every turn has the same."""
    return tuple(clean_name(name) for name in names)


def bound(items: dict[Any, T], limit: int) -> None:
    """Drop the oldest items until at most `limit` are left."""
    while len(items) > limit:
        del items[next(iter(items))]


def tick(agent: AgentView, event: ev.Event, lane: str, text: str) -> None:
    """Add a moment to a lane of the timeline."""
    agent.ticks.append(Tick(lane, event.t, event.seq, sanitise_line(text, MAX_TEXT)))
    if len(agent.ticks) > MAX_TICKS:
        del agent.ticks[: MAX_TICKS // 10]


def packed_tree(tree: object) -> str:
    """Return an explanation's tree, packed; "" for a value of another shape."""
    return pack(tree) if isinstance(tree, Mapping) else ""
