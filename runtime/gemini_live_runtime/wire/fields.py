"""The table behind the codec: how each field of each message class is read and written.

`Planner.plan_of(cls)` compiles a class once, from its type hints. A reader returns the value, or raises
`WrongTypeError` with what was expected; a writer returns what JSON holds, or raises it too.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin

from gemini_live_runtime.wire import b64
from gemini_live_runtime.wire.base import Message
from gemini_live_runtime.wire.json_frame import json_kind

MAX_PROBLEMS = 20
"""Problems listed for one frame; further ones are only counted."""


class WrongTypeError(Exception):
    """A value that is not what a field holds; `str()` says what was expected and what came."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"expected {expected}, got {json_kind(value)}")


class Problems:
    """What was unreadable in one frame: at most `MAX_PROBLEMS` sentences, then a count."""

    __slots__ = ("_more", "_sentences")

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self._more = 0

    def add(self, path: str, what: str) -> None:
        """Report `what` about the field at `path`."""
        if len(self._sentences) < MAX_PROBLEMS:
            self._sentences.append(f"{path[:200]}: {what}")
        else:
            self._more += 1

    def sentences(self) -> tuple[str, ...]:
        """The report so far."""
        return (*self._sentences, f"and {self._more} more problems") if self._more else tuple(self._sentences)


Reader: TypeAlias = Callable[[Any, str, Problems], Any]
"""(JSON value, its path, where to report) -> attribute value."""
Writer: TypeAlias = Callable[[Any, str], Any]
"""(attribute value, its path) -> JSON value."""


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """One field: its attribute, its name on the wire, how to read and write it."""

    attribute: str
    name: str
    read: Reader
    write: Writer
    default: Any
    always: bool
    strict: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A message class: its fields, in order and by every name accepted on reading."""

    fields: tuple[FieldPlan, ...]
    by_key: Mapping[str, FieldPlan]


def camel_case(attribute: str) -> str:
    """`turn_complete` -> `turnComplete`."""
    head, *tail = attribute.split("_")
    return head + "".join(word.capitalize() for word in tail)


M = TypeVar("M", bound=Message)
MessageReader: TypeAlias = Callable[[type[Message], Any, str, Problems], Any]
MessageWriter: TypeAlias = Callable[[Any, str], Any]


class Planner:
    """Compiles classes into plans; `read` and `write` handle nested messages."""

    def __init__(self, read: MessageReader, write: MessageWriter) -> None:
        self._read = read
        self._write = write
        self._plans: dict[type[Message], Plan] = {}

    def plan_of(self, cls: type[Message]) -> Plan:
        """The compiled table of a message class."""
        plan = self._plans.get(cls)
        if plan is None:
            plan = self._plans[cls] = self._compile(cls)
        return plan

    def _compile(self, cls: type[Message]) -> Plan:
        hints = typing.get_type_hints(cls)
        plans = []
        by_key: dict[str, FieldPlan] = {}
        for item in fields(cls):
            if item.name == "extra" or not item.compare:
                continue
            details = item.metadata
            read, write = self._handlers(hints[item.name])
            plan = FieldPlan(
                attribute=item.name,
                name=details.get("name") or camel_case(item.name),
                read=read,
                write=_write_int64 if details.get("int64") else write,
                default=item.default_factory() if item.default_factory is not MISSING else item.default,
                always=details.get("always", False),
                strict=details.get("strict", False),
            )
            plans.append(plan)
            for key in (item.name, plan.name, *details.get("aliases", ())):
                by_key[key] = plan
        return Plan(tuple(plans), by_key)

    def _handlers(self, hint: Any) -> tuple[Reader, Writer]:
        if hint is Any:
            return _read_any, _write_any
        options = [hint]
        if get_origin(hint) in (Union, types.UnionType):
            options = [option for option in get_args(hint) if option is not type(None)]
        enum = next((option for option in options if isinstance(option, type) and issubclass(option, StrEnum)), None)
        if enum is not None:
            return _enum_handlers(enum)
        kind = options[0]
        origin = get_origin(kind)
        if origin is tuple:
            return self._list_handlers(get_args(kind)[0])
        if origin is Mapping:
            return self._map_handlers(get_args(kind)[1])
        if issubclass(kind, Message):
            return self._message_handlers(kind)
        return _SCALARS[kind]

    def _message_handlers(self, cls: type[Message]) -> tuple[Reader, Writer]:
        read_message, write_message = self._read, self._write

        def read(value: Any, path: str, problems: Problems) -> Any:
            return read_message(cls, value, path, problems)

        def write(value: Any, path: str) -> Any:
            if not isinstance(value, cls):
                raise WrongTypeError(cls.__name__, value)
            return write_message(value, path)

        return read, write

    def _list_handlers(self, item_hint: Any) -> tuple[Reader, Writer]:
        read_item, write_item = self._handlers(item_hint)

        def read(value: Any, path: str, problems: Problems) -> Any:
            if not isinstance(value, list):
                raise WrongTypeError("a list", value)
            items = []
            for index, item in enumerate(value):
                try:
                    items.append(read_item(item, f"{path}[{index}]", problems))
                except WrongTypeError as error:
                    problems.add(f"{path}[{index}]", str(error))
            return tuple(items)

        def write(value: Any, path: str) -> Any:
            if not isinstance(value, list | tuple):
                raise WrongTypeError("a list", value)
            return [write_item(item, f"{path}[{index}]") for index, item in enumerate(value)]

        return read, write

    def _map_handlers(self, item_hint: Any) -> tuple[Reader, Writer]:
        if item_hint is Any:
            return _read_map, _write_map
        read_item, write_item = self._handlers(item_hint)

        def read(value: Any, path: str, problems: Problems) -> Any:
            if not isinstance(value, dict):
                raise WrongTypeError("an object", value)
            items = {}
            for key, item in value.items():
                try:
                    items[key] = read_item(item, f"{path}.{key}", problems)
                except WrongTypeError as error:
                    problems.add(f"{path}.{key}", str(error))
            return items

        def write(value: Any, path: str) -> Any:
            if not isinstance(value, Mapping):
                raise WrongTypeError("a mapping", value)
            return {key: write_item(item, f"{path}.{key}") for key, item in value.items()}

        return read, write


def _read_any(value: Any, path: str, problems: Problems) -> Any:
    return value


def _write_any(value: Any, path: str) -> Any:
    return value


def _read_map(value: Any, path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        raise WrongTypeError("an object", value)
    return value


def _write_map(value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise WrongTypeError("a mapping", value)
    return dict(value)


def _read_str(value: Any, path: str, problems: Problems) -> str:
    if not isinstance(value, str):
        raise WrongTypeError("a string", value)
    return value


def _write_str(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise WrongTypeError("a string", value)
    return value


def _read_bool(value: Any, path: str, problems: Problems) -> bool:
    if not isinstance(value, bool):
        raise WrongTypeError("a boolean", value)
    return value


def _write_bool(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise WrongTypeError("a boolean", value)
    return value


def _read_int(value: Any, path: str, problems: Problems) -> int:
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    # 64-bit integers travel as decimal strings in proto3 JSON; twenty characters hold every one of them.
    if isinstance(value, str) and len(value) <= 20 and value.isascii() and value.removeprefix("-").isdigit():
        return int(value)
    raise WrongTypeError("a whole number", value)


def _write_int(value: Any, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongTypeError("a whole number", value)
    return value


def _write_int64(value: Any, path: str) -> str:
    return str(_write_int(value, path))


def _read_float(value: Any, path: str, problems: Problems) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    raise WrongTypeError("a number", value)


def _write_float(value: Any, path: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise WrongTypeError("a number", value)
    return value


def _read_bytes(value: Any, path: str, problems: Problems) -> bytes:
    if isinstance(value, str):
        try:
            return b64.decode(value)
        except ValueError:
            raise WrongTypeError("base64", value) from None
    raise WrongTypeError("base64", value)


def _write_bytes(value: Any, path: str) -> str:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise WrongTypeError("bytes", value)
    return b64.encode(bytes(value))


_SCALARS: Mapping[Any, tuple[Reader, Writer]] = {
    str: (_read_str, _write_str),
    bool: (_read_bool, _write_bool),
    int: (_read_int, _write_int),
    float: (_read_float, _write_float),
    bytes: (_read_bytes, _write_bytes),
}


def _enum_handlers(enum: type[StrEnum]) -> tuple[Reader, Writer]:
    members = {member.value.upper(): member for member in enum}

    def read(value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, str):
            raise WrongTypeError(f"a value of {enum.__name__}", value)
        return members.get(value.upper(), value)

    def write(value: Any, path: str) -> Any:
        if not isinstance(value, str):
            raise WrongTypeError(f"a value of {enum.__name__}", value)
        return str(members.get(value.upper(), value))

    return read, write
