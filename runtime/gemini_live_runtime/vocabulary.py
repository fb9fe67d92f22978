"""Parse events and commands, and describe them as JSON Schema.

Events are read by pydantic, which takes a while to import, so the console reads them after its first paint. A command
has plain fields, mostly, and needs none of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gemini_live_runtime import commands, events
from gemini_live_runtime.errors import JournalError, NewerFormatError, ProtocolError
from gemini_live_runtime.json_values import strict_decoder
from gemini_live_runtime.plain_types import MisfitError, plain_record

T = TypeVar("T")

MAX_NUMBER = 2**53
"""Largest number of an event, a turn or a generation; a larger one is damage."""
MAX_TIME_S = 10 * 365 * 86_400.0
"""Longest session time accepted, in seconds; a later time is damage."""

_readers: dict[type[Any], Callable[[object], Any]] = {}


def _reader(cls: type[Any]) -> Callable[[object], Any]:
    """Return the function that checks a value and makes the record of `cls` of it."""
    reader = _readers.get(cls)
    if reader is None:
        from pydantic import TypeAdapter

        # The adapter's own method takes a third longer, and a page of a journal has 500 events.
        reader = _readers[cls] = TypeAdapter(cls).validator.validate_python
    return reader


def checked(cls: type[T], value: object) -> T:
    """Return the record of `cls`; raise `ProtocolError` naming a wrong field."""
    try:
        made: T = _reader(cls)(value)
    except ValueError as error:
        raise ProtocolError(f"{cls.__name__} is malformed, {_first_fault(error)}", field="data") from None
    return made


def header() -> dict[str, Any]:
    """Return the object that precedes all events in a journal and on a link."""
    return {"format": events.FORMAT, "version": events.VERSION}


def check_header(value: object, *, where: str) -> None:
    """Raise an error unless `value` is a header of a version that this program reads.

    Raises `JournalError` for another format and `NewerFormatError` for a newer version. `where` begins the sentence.
    """
    if not isinstance(value, Mapping) or value.get("format") != events.FORMAT:
        raise JournalError(
            f"{where} is not a gemini-live-tui session",
            remedy="Give a session recorded by gemini-live-tui, see: gemini-live-tui sessions",
            field="format",
            value=value,
        )
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise JournalError(
            f"{where} has no usable version", remedy="The file is damaged", field="version", value=version
        )
    if version > events.VERSION:
        raise NewerFormatError(
            f"{where} uses event format version {version}, this program reads up to {events.VERSION}",
            remedy="Update gemini-live-tui",
            field="version",
            value=version,
        )


def parse_object(line: str | bytes, what: str) -> dict[str, Any]:
    """Return the JSON object of one line; raise `ProtocolError` without one.

    `what` names the expected object in the error.
    """
    try:
        text = line if isinstance(line, str) else line.decode("utf-8-sig", "surrogatepass")
        value = strict_decoder.decode(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"A line is not a JSON {what}: {str(error)[:100]}") from None
    if not isinstance(value, dict):
        raise ProtocolError(f"A line is not a JSON {what} but a {type(value).__name__}")
    return value


def _first_fault(error: ValueError) -> str:
    """Return what pydantic found first, with the name of the field."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in fault['loc']) or 'value'}: {fault['msg']}"


def event_from_json(value: Mapping[str, Any]) -> events.Event:
    """Return the event of a JSON object; raise `ProtocolError` naming the field.

    An unknown type becomes `Unknown`, so that journals of newer programs can be read.
    """
    try:
        name = value["type"]
        seq, t, turn, gen = int(value["seq"]), float(value["t"]), int(value["turn"]), int(value["gen"])
        data = value["data"]
        if not isinstance(name, str):
            raise ValueError("type")
        if not 0 <= t < MAX_TIME_S:
            raise ValueError("time")
        if seq > MAX_NUMBER or turn > MAX_NUMBER or gen > MAX_NUMBER:
            raise ValueError("number")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ProtocolError(
            f"An event's seq, t, turn, gen, type or data is missing or unusable: {error}", field="event"
        ) from None
    cls = events.PAYLOADS.get(name)
    if cls is None:
        return events.Event(seq, t, turn, gen, events.Unknown(name=name, data=data))
    try:
        payload = _reader(cls)(data)
    except ValueError as error:
        raise ProtocolError(f"Event {seq} of type {name} is malformed, {_first_fault(error)}", field="data") from None
    return events.Event(seq, t, turn, gen, payload)


def event_from_line(line: str | bytes) -> events.Event:
    """Return the event of one line; raise `ProtocolError`."""
    return event_from_json(parse_object(line, "event"))


def command_from_json(value: Mapping[str, Any]) -> commands.Command:
    """Return the command of a JSON object; raise `ProtocolError` naming the field."""
    name, ident = value.get("command"), value.get("id")
    if not isinstance(ident, str) or not ident or len(ident) > 80:
        raise ProtocolError("A command needs an id of 1 to 80 characters", field="id", value=ident)
    cls = commands.ORDERS.get(name) if isinstance(name, str) else None
    if cls is None:
        known = ", ".join(sorted(commands.ORDERS))
        raise ProtocolError(f"Unknown command {str(name)[:60]!r}", remedy=f"Use one of {known}", field="command")
    try:
        order = _order(cls, value.get("data", {}))
    except ValueError as error:
        raise ProtocolError(f"Command {name} is malformed, {_first_fault(error)}", field="data") from None
    for field, most in commands.LONGEST.items():
        length = len(getattr(order, field, ""))
        if length > most:
            raise ProtocolError(f"Command {name}: {field} has {length:,} characters, at most {most:,} are accepted")
    return commands.Command(ident, order)


def _order(cls: type[commands.Order], data: object) -> commands.Order:
    if (plain := plain_record(cls)) is not None:
        with contextlib.suppress(MisfitError):
            return plain.read(data)  # type: ignore[no-any-return]
    return _reader(cls)(data)  # type: ignore[no-any-return]


def command_from_line(line: str | bytes) -> commands.Command:
    """Return the command of one line; raise `ProtocolError`."""
    return command_from_json(parse_object(line, "command"))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of every event and command."""
    from pydantic import TypeAdapter

    definitions: dict[str, Any] = {}

    def member(key: str, name: str, cls: type[Any], envelope: dict[str, Any]) -> dict[str, Any]:
        data = TypeAdapter(cls).json_schema(ref_template="#/$defs/{model}")
        definitions.update(data.pop("$defs", {}))
        description = data.pop("description", "")
        return {
            "type": "object",
            "title": name,
            "description": description,
            "properties": {**envelope, key: {"const": name}, "data": data},
            "required": [*envelope, key, "data"],
        }

    stamp = {
        "seq": {"type": "integer", "minimum": 1},
        "t": {"type": "number", "minimum": 0},
        "turn": {"type": "integer", "minimum": 0},
        "gen": {"type": "integer", "minimum": 0},
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": events.FORMAT,
        "version": events.VERSION,
        "events": [member("type", name, cls, stamp) for name, cls in events.PAYLOADS.items()],
        "commands": [member("command", name, cls, {"id": {"type": "string"}}) for name, cls in commands.ORDERS.items()],
    }
    return {**schema, "$defs": definitions} if definitions else schema
