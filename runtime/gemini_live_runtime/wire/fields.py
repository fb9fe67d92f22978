"""Compile message classes into codecs: a reader and a writer for each field.

`CodecRegistry.codec_of` compiles a class once, from its type hints. A reader returns the attribute's value, a writer
the JSON value; both raise `WrongTypeError`. They follow the JSON mapping of protocol buffers: int64 may be a decimal
string, bytes are base64, and enum names are compared without regard to case.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin

from gemini_live_runtime.records import record
from gemini_live_runtime.wire import b64
from gemini_live_runtime.wire.base import Message
from gemini_live_runtime.wire.json_frame import json_kind

MAX_PROBLEMS = 20
"""Problems listed for one frame; further ones are counted."""


class WrongTypeError(Exception):
    """Value of a wrong type; `str()` names the expected type and the actual one."""

    def __init__(self, expected: str, value: object) -> None:
        super().__init__(f"expected {expected}, got {json_kind(value)}")


class Problems:
    """Problems of one frame: at most `MAX_PROBLEMS` sentences, then a count."""

    __slots__ = ("_more", "_sentences")

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self._more = 0

    def add(self, path: str, problem: str) -> None:
        """Add a problem of the field at `path`."""
        if len(self._sentences) < MAX_PROBLEMS:
            self._sentences.append(f"{path[:200]}: {problem}")
        else:
            self._more += 1

    def sentences(self) -> tuple[str, ...]:
        """Return the problems so far."""
        return (*self._sentences, f"and {self._more} more problems") if self._more else tuple(self._sentences)


Reader: TypeAlias = Callable[[Any, str, Problems], Any]
"""(JSON value, its path, problems to add to) -> attribute value."""
Writer: TypeAlias = Callable[[Any, str], Any]
"""(attribute value, its path) -> JSON value."""


@record
class FieldCodec:
    """Codec of a field: its attribute, JSON name, reader and writer."""

    attribute: str
    name: str
    read: Reader
    write: Writer
    default: Any
    always: bool
    strict: bool


@record
class MessageCodec:
    """Codec of a message class: its fields, in order and by every accepted key."""

    fields: tuple[FieldCodec, ...]
    by_key: Mapping[str, FieldCodec]


def camel_case(attribute: str) -> str:
    """Return the JSON name of an attribute: `turn_complete` -> `turnComplete`."""
    head, *tail = attribute.split("_")
    return head + "".join(word.capitalize() for word in tail)


M = TypeVar("M", bound=Message)
MessageReader: TypeAlias = Callable[[type[Message], Any, str, Problems], Any]
MessageWriter: TypeAlias = Callable[[Any, str], Any]


class CodecRegistry:
    """Registry that compiles codecs; `read` and `write` handle nested messages."""

    def __init__(self, read: MessageReader, write: MessageWriter) -> None:
        self._read = read
        self._write = write
        self._codecs: dict[type[Message], MessageCodec] = {}

    def codec_of(self, cls: type[Message]) -> MessageCodec:
        """Return the codec of a message class, compiled on first use."""
        codec = self._codecs.get(cls)
        if codec is None:
            codec = self._codecs[cls] = self._compile(cls)
        return codec

    def _compile(self, cls: type[Message]) -> MessageCodec:
        hints = typing.get_type_hints(cls)
        codecs = []
        by_key: dict[str, FieldCodec] = {}
        for item in fields(cls):
            # Fields that comparisons ignore (`raw`, `problems`) are no part of the JSON object.
            if item.name == "extra" or not item.compare:
                continue
            details = item.metadata
            read, write = self._handlers(hints[item.name])
            codec = FieldCodec(
                attribute=item.name,
                name=details.get("name") or camel_case(item.name),
                read=read,
                write=_write_int64 if details.get("int64") else write,
                default=item.default_factory() if item.default_factory is not MISSING else item.default,
                always=details.get("always", False),
                strict=details.get("strict", False),
            )
            codecs.append(codec)
            for key in (item.name, codec.name, *details.get("aliases", ())):
                by_key[key] = codec
        return MessageCodec(tuple(codecs), by_key)

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


def _unchanged(kind: type, expected: str) -> tuple[Reader, Writer]:
    """Return the handlers of a type that JSON holds as it is."""

    def handle(value: Any, path: str, problems: Problems | None = None) -> Any:
        if not isinstance(value, kind):
            raise WrongTypeError(expected, value)
        return value

    return handle, handle


def _read_int(value: Any, path: str, problems: Problems) -> int:
    # proto3 JSON has 64-bit integers as decimal strings, of at most twenty characters.
    digits = isinstance(value, str) and len(value) <= 20 and value.isascii() and value.removeprefix("-").isdigit()
    if digits or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    if type(value) is not int:
        raise WrongTypeError("a whole number", value)
    # Larger ones are in no field of the protocol, and too large to calculate with as floats.
    if not -(2**63) <= value < 2**63:
        raise WrongTypeError("a whole number of 64 bits", value)
    return value


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
    str: _unchanged(str, "a string"),
    bool: _unchanged(bool, "a boolean"),
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
