"""Refuse invalid client messages as Google's servers do.

Close codes and wording are theirs, because clients look for them.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any, get_args

from gemini_live_runtime.wire.base import Message
from gemini_live_runtime.wire.codec import unknown_fields
from gemini_live_runtime.wire.messages import ClientMessage

INVALID = 1007
VIOLATION = 1008
FAILURE = 1011

INVALID_ARGUMENT = "Request contains an invalid argument"
NOT_FOUND = "Requested entity was not found"
INTERNAL = "Internal error encountered."
UNAVAILABLE = "The service is currently unavailable."
DEADLINE = "Deadline expired before operation could complete."

SYSTEM_ROLE = "system"
"""Role of content that replaces the instruction, as on Vertex; the Developer API has two roles."""


class Refusal(Exception):  # noqa: N818 - an answer to the client
    """Error that closes the connection with `code` and `reason`."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason


def invalid(detail: str = "") -> Refusal:
    """Return a refusal (1007) of an invalid argument."""
    return Refusal(INVALID, f"{INVALID_ARGUMENT}: {detail}." if detail else f"{INVALID_ARGUMENT}.")


def context_exhausted() -> Refusal:
    """Return a refusal (1007) of a conversation that exceeds the window."""
    return invalid("the context window is exhausted")


def invalid_json(detail: str) -> Refusal:
    """Return a refusal (1007) of a frame that is not this protocol's JSON."""
    return Refusal(INVALID, f"Invalid JSON payload received. {detail}")


def check_form(message: ClientMessage) -> None:
    """Raise `Refusal` for unknown fields, wrong types and unknown enum values."""
    # A value of the wrong type is also listed as unknown; its problem names the type, so it comes first.
    problem = next((text for text in message.problems if not text.startswith("message: ")), "")
    if problem:
        field, _, what = problem.partition(": ")
        raise invalid_json(f"Invalid value at '{_end_of(field, 40)}': {what}")
    unknown = next(unknown_fields(message), None)
    if unknown is not None:
        parent, _, name = unknown.rpartition(".")
        where = f" at '{_end_of(parent, 40)}'" if parent else ""
        raise invalid_json(f'Unknown name "{name[:30]}"{where}: Cannot find field.')
    if message.problems:
        raise invalid_json(message.problems[0].removeprefix("message: "))
    for path, value in bad_enums(message):
        raise invalid_json(f"Invalid value at '{_end_of(path, 40)}': \"{value[:40]}\"")


def _end_of(path: str, limit: int) -> str:
    """Return the last steps of `path` within `limit` characters.

    A close reason has at most 123 bytes.
    """
    while len(path) > limit and "." in path:
        path = path.partition(".")[2]
    return path[:limit]


def bad_enums(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield paths and values of unknown enum values.

    `..._UNSPECIFIED` is every enum's default.
    """
    enums = _enum_fields(type(message))
    for item in fields(message):
        value = getattr(message, item.name)
        where = f"{path}.{item.name}" if path else item.name
        if isinstance(value, Message):
            yield from bad_enums(value, where)
        elif isinstance(value, Mapping) and item.name != "extra":
            for key, child in value.items():
                if isinstance(child, Message):
                    yield from bad_enums(child, f"{where}.{key}")
        else:
            for child in value if isinstance(value, tuple) else (value,):
                if isinstance(child, Message):
                    yield from bad_enums(child, where)
                elif item.name in enums and _is_unknown(child) and (item.name, child) != ("role", SYSTEM_ROLE):
                    yield where, child


def _is_unknown(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, StrEnum) and not value.upper().endswith("_UNSPECIFIED")


_ENUM_FIELDS: dict[type[Message], frozenset[str]] = {}


def _enum_fields(cls: type[Message]) -> frozenset[str]:
    if cls not in _ENUM_FIELDS:
        hints = typing.get_type_hints(cls)
        _ENUM_FIELDS[cls] = frozenset(name for name, hint in hints.items() if _mentions_enum(hint))
    return _ENUM_FIELDS[cls]


def _mentions_enum(hint: Any) -> bool:
    return (isinstance(hint, type) and issubclass(hint, StrEnum)) or any(map(_mentions_enum, get_args(hint)))
