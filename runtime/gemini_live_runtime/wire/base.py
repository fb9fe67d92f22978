"""What every wire message is: a frozen, slotted dataclass whose field types drive the codec.

Rules that hold for every message class:

- attributes are snake_case; on the wire they are camelCase (`wire(name=...)` overrides);
- an absent scalar or message is `None`, an absent list is `()`, an absent map is `{}`;
- enums are open: a known value is a member of a `StrEnum`, an unknown one stays the plain string it was;
- durations are the strings of the protocol (`"10s"`), bytes are `bytes`;
- `extra` keeps what this program does not know, or could not read, under its original key, and is written back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Message:
    """Base of every wire message. `extra` holds unknown and unreadable fields under their original keys."""

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
    """A dataclass field with wire details.

    `name`: JSON name when it is not the camelCase of the attribute. `aliases`: further names accepted on reading.
    `always`: written even when empty. `int64`: written as a decimal string, as proto3 JSON does.
    `strict`: an unreadable value makes the whole frame a `ProtocolError` instead of a reported problem.
    """
    metadata = {"name": name, "aliases": aliases, "always": always, "int64": int64, "strict": strict}
    if default_factory is not MISSING:
        return field(default_factory=default_factory, metadata=metadata)
    return field(default=default, metadata=metadata)
