"""The command vocabulary: what an operator may ask of a session.

JSON form, one object a line: `{"id": "c1", "command": "text.send", "data": {"text": "hello"}}`. Carrying a command out
shows as events; one that is not carried out becomes a `command.refused` event with the same id.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal


class Order:
    """Base of every command's content; `command` is its name on the wire."""

    __slots__ = ()
    command: ClassVar[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendText(Order):
    """Send typed text as the user's turn; stops what the model is saying."""

    command: ClassVar[str] = "text.send"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMode(Order):
    """Voice mode (microphone on) or text mode (microphone off, speaker as it is)."""

    command: ClassVar[str] = "mode.set"
    mode: Literal["voice", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMicrophone(Order):
    """Mute (`on` False) or open the microphone in voice mode."""

    command: ClassVar[str] = "microphone.set"
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSpeaker(Order):
    """Mute (`on` False) or open the speaker."""

    command: ClassVar[str] = "speaker.set"
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(Order):
    """Stop what the model is saying, here and now."""

    command: ClassVar[str] = "interrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp(Order):
    """End the session and the engine."""

    command: ClassVar[str] = "hang-up"
    reason: str = "hung up"


ORDERS: dict[str, type[Order]] = {
    cls.command: cls for cls in (SendText, SetMode, SetMicrophone, SetSpeaker, Interrupt, HangUp)
}
"""Every command by its name on the wire."""

_FIELDS = {cls: tuple(field.name for field in fields(cls)) for cls in ORDERS.values()}  # type: ignore[arg-type]

MAX_TEXT = 32_000
"""Longest text accepted by `text.send`, in characters."""


@dataclass(frozen=True, slots=True)
class Command:
    """An order with the id its refusal will carry."""

    id: str
    order: Order

    def to_json(self) -> dict[str, Any]:
        """The JSON object of the wire form."""
        order = self.order
        data = {name: getattr(order, name) for name in _FIELDS[type(order)]}
        return {"id": self.id, "command": order.command, "data": data}

    def to_line(self) -> str:
        """The wire form without the newline."""
        return json.dumps(self.to_json(), ensure_ascii=True, separators=(",", ":"))
