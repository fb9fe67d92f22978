"""Base of the message classes, whose field types drive the codec.

Messages follow the JSON mapping of protocol buffers:

- attributes are snake_case, their JSON names camelCase (`wire(name=...)` overrides);
- an absent scalar or message is `None`, an absent list is `()`, an absent map is `{}`;
- enums are open: a known value is a member of a `StrEnum`, an unknown one stays a plain string;
- durations are strings as in JSON (`"10s"`), bytes are `bytes`;
- `extra` has unknown and unreadable fields under their original keys; they are written back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields
from typing import Any, TypeVar, dataclass_transform

from gemini_live_runtime.records import keyword_record

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def message(cls: type[T]) -> type[T]:
    """Make a class a message: a record with keywords, printed without empty fields."""
    return keyword_record(cls, with_repr=False)


@message
class Message:
    """Base of every message.

    `extra` has unknown and unreadable fields under their original keys.
    """

    extra: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        set_fields = [
            f"{item.name}=<{len(value)} bytes>" if isinstance(value, bytes) else f"{item.name}={value!r}"
            for item in fields(self)
            if item.repr and (value := getattr(self, item.name)) not in (None, (), {}, b"")
        ]
        return f"{type(self).__name__}({', '.join(set_fields)})"


def wire(
    *,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    name: str = "",
    aliases: tuple[str, ...] = (),
    always: bool = False,
    int64: bool = False,
    strict: bool = False,
) -> Any:
    """Declare a dataclass field with options for the codec.

    `name`: JSON name when it is not the camelCase of the attribute. `aliases`: further names accepted on reading.
    `always`: written even when empty. `int64`: written as a decimal string, as proto3 JSON does. `strict`: an
    unreadable value raises `ProtocolError` for the whole frame, instead of a reported problem.
    """
    metadata = {"name": name, "aliases": aliases, "always": always, "int64": int64, "strict": strict}
    if default_factory is not MISSING:
        return field(default_factory=default_factory, metadata=metadata)
    return field(default=default, metadata=metadata)
