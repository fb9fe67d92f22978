"""Make payloads fit to be written: without credentials, with JSON values only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from types import NoneType
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.redactor import Redactor
from gemini_live_runtime.wire.enums import Modality

_MODALITIES = frozenset(Modality)
_FIGURES = frozenset((int, float, bool, NoneType))
_SOUND = frozenset(("audio/pcm", "audio/pcm;rate=16000", "audio/pcm;rate=24000"))


def is_figures(payload: ev.Payload) -> bool:
    """Return True for the session's own figures: no text in them is from outside."""
    # Each turn has some, and "token" in their names makes the redactor's scan of the line twice as long as for others.
    if type(payload) is ev.StateChanged:
        return (
            payload.origin == "signal"
            and type(payload.new) in _FIGURES
            and type(payload.old) in _FIGURES
            # A longer key holds the name of a tool, which may come from a server.
            and payload.key.count(":") == 1
            and payload.key.startswith("session:")
            and not payload.by
            and not payload.reason
        )
    if type(payload) is ev.WireAudio:
        return payload.mime_type in _SOUND
    return (
        type(payload) is ev.TurnMeasured
        and _MODALITIES.issuperset(payload.prompt)
        and _MODALITIES.issuperset(payload.response)
    )


def without_secrets(payload: ev.Payload, redactor: Redactor) -> ev.Payload:
    """Return `payload` redacted: texts of tools and servers may hold credentials."""
    changed = {}
    kind: Any = type(payload)
    for name in field_names(kind):
        value = getattr(payload, name)
        if value and isinstance(value, str | Mapping | list | tuple):
            clean = redactor.value(value)
            clean = tuple(clean) if isinstance(value, tuple) else clean
            if clean != value:
                changed[name] = clean
    return replace(payload, **changed) if changed else payload  # type: ignore[type-var]


@cache
def field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of a dataclass's fields."""
    return tuple(field.name for field in fields(kind))


def plain_values(payload: ev.Payload, error: Exception, redactor: Redactor) -> ev.Payload:
    """Return the payload with `repr` of values that JSON lacks, else a notice."""
    from gemini_live_runtime import vocabulary

    probe = ev.Event(1, 0.0, 0, 0, payload)
    try:
        line = json.dumps(probe.to_json(), default=lambda value: redactor.text(repr(value))[:200], skipkeys=True)
        return vocabulary.event_from_line(line).payload
    except Exception:
        return ev.Notice(
            level="error",
            code="event-lost",
            text=f"An event {payload.type} could not be written: {redactor.text(str(error))[:200]}.",
            remedy="Return plain JSON values from tools",
        )
