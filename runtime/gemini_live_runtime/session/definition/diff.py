"""Compare two loads of an agent and name the parts that differ.

Parts are compared by fingerprint. A fingerprint is taken when the agent is loaded, because a running session may
change the data behind it. It consists of what an author edits: constants, code objects, closures and the globals of
the same file that a function uses. File positions are left out: a line inserted above a function does not change it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

from gemini_live_runtime.conversation.extraction import as_extractor
from gemini_live_runtime.session.definition.callbacks import CALLBACKS
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.state.watchers import WatcherRegistry

NEXT_SESSION = (
    "name",
    "model",
    "local_model",
    "voice",
    "greeting",
    "greeting_allow_interruptions",
    "chat",
    "phrases",
    "text_model",
    "steering",
    "context_delivery",
    "instruction_route",
    "turn_taking",
    "turn_preset",
    "server_detection",
    "min_endpointing_delay_s",
    "max_endpointing_delay_s",
    "end_of_turn_model",
    "soft_turn_s",
    "turn_rules",
    "persistence",
    "persistence_id",
    "telemetry_s",
    "background_agents",
    "delivery",
)
"""Settings that a running session keeps; a reload applies them to the next session."""

_PLACES = frozenset(("defined_at", "built_at"))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
MAX_DEPTH = 40
"""Nesting below which values count as equal."""

Parts = dict[str, Any]
"""Fingerprints of an agent's parts, by the name that reports show."""


def parts_of(plan: SessionPlan) -> Parts:
    """Return the fingerprints of an agent's parts."""
    parts = dict(_parts(plan))
    for name in NEXT_SESSION:
        parts[f"{name} (from the next session)"] = fingerprint(getattr(plan.definition, name))
    return parts


def differences(old: Parts, new: Parts) -> tuple[str, ...]:
    """Return the names of the parts that differ, new and removed ones marked."""
    found = []
    for name in dict.fromkeys((*old, *new)):
        if name not in new:
            found.append(f"{name} removed")
        elif name not in old:
            found.append(f"{name} added")
        elif old[name] != new[name]:
            found.append(name)
    return tuple(found)


def _parts(plan: SessionPlan) -> Iterator[tuple[str, Any]]:
    definition = plan.definition
    yield "instruction", definition.instruction
    yield "initial phase", plan.initial_phase
    yield "modifiers of every phase", fingerprint(definition.phase_defaults)
    yield "repair", fingerprint(definition.repair)
    yield "tool advisory", definition.tool_advisory
    for phase in definition.phases:
        yield f"phase {phase.name}", fingerprint(phase)
    statuses = WatcherRegistry(definition.watchers).status
    for status, watcher in zip(statuses, definition.watchers, strict=True):
        yield f"watcher {status.name}", fingerprint(watcher)
    for pattern in definition.patterns:
        yield f"pattern {pattern.name}", fingerprint(pattern)
    for item in definition.computed:
        yield f"computed {item.name}", fingerprint(item)
    for tool in plan.declared:
        yield f"tool {tool.name}", fingerprint(tool)
    for extractor in map(as_extractor, definition.extractors):
        yield f"extractor {extractor.name}", fingerprint(extractor)
    for rule in definition.rules:
        yield f"rule {rule.name}", fingerprint(rule)
    for key in definition.state_keys:
        yield f"key {key.key}", (key.json_schema(), fingerprint(key.default), key.description)
    for name, value in definition.initial_state.items():
        yield f"initial value of {name}", fingerprint(value)
    for callback in CALLBACKS:
        if definition.callbacks.of(callback):
            ending = " (from the next session)" if callback == "on_audio" else ""
            yield f"{callback}{ending}", fingerprint(definition.callbacks.of(callback))


def fingerprint(value: Any) -> Any:
    """Return a value that is equal for two loads of the same source.

    Functions are compared by their code, not by their position in the file.
    """
    return _print(value, (), 0)


def _print(value: Any, above: tuple[int, ...], depth: int) -> Any:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return type(value).__name__, value
    if depth > MAX_DEPTH or id(value) in above:
        return "..."
    above, depth = (*above, id(value)), depth + 1
    if isinstance(value, CodeType):
        consts = tuple(_print(item, above, depth) for item in value.co_consts)
        return "code", value.co_code, value.co_names, value.co_varnames, consts
    if isinstance(value, MethodType):
        return "method", _print(value.__func__, above, depth), _print(value.__self__, above, depth)
    if isinstance(value, FunctionType):
        return "function", _function(value, above, depth)
    if isinstance(value, type):
        return "class", value.__qualname__, _class(value, above, depth)
    if isinstance(value, list | tuple):
        return "list", tuple(_print(item, above, depth) for item in value)
    if isinstance(value, set | frozenset):
        return "set", frozenset(repr(_print(item, above, depth)) for item in value)
    if isinstance(value, Mapping):
        return "dict", tuple((repr(name), _print(item, above, depth)) for name, item in value.items())
    return type(value).__qualname__, _object(value, above, depth)


def _function(function: FunctionType, above: tuple[int, ...], depth: int) -> tuple[Any, ...]:
    closure = []
    for cell in function.__closure__ or ():
        try:
            closure.append(_print(cell.cell_contents, above, depth))
        except ValueError:  # an empty cell
            closure.append("...")
    used = []
    for name in sorted(_names(function.__code__)):
        item = function.__globals__.get(name)
        # A function of the same file is the author's own, so an edit of it changes this function too.
        own = isinstance(item, FunctionType) and item.__globals__ is function.__globals__
        if own or isinstance(item, bool | int | float | str | tuple | list | dict | frozenset):
            used.append((name, _print(item, above, depth)))
    defaults = (function.__defaults__, function.__kwdefaults__)
    return _print(function.__code__, above, depth), tuple(closure), tuple(used), _print(defaults, above, depth)


def _names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for item in code.co_consts:
        if isinstance(item, CodeType):
            names |= _names(item)
    return names


def _class(kind: type, above: tuple[int, ...], depth: int) -> Any:
    schema = getattr(kind, "model_json_schema", None)
    if schema is not None:
        return repr(schema())
    members = [(name, item) for name, item in vars(kind).items() if isinstance(item, FunctionType)]
    return tuple((name, _print(item, above, depth)) for name, item in members)


def _object(value: Any, above: tuple[int, ...], depth: int) -> Any:
    names: Iterable[str]
    if is_dataclass(value):
        names = [item.name for item in fields(value)]
    else:
        slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
        names = [*slots, *getattr(value, "__dict__", {})]
    found = [(name, getattr(value, name, None)) for name in names if name not in _PLACES]
    if not found:
        return _ADDRESS.sub("", repr(value))
    return tuple((name, _print(item, above, depth)) for name, item in found)


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
