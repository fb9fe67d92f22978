"""Event vocabulary: all that happens in a session, as immutable typed records.

An `Event` is a stamped payload. Its JSON form, one object a line, is the same on the link to a console and in the
journal on disk::

    {"seq": 12, "t": 3.21, "turn": 1, "gen": 1, "type": "transcript.delta", "data": {"side": "model", ...}}

Payload fields hold JSON values only, so creating and encoding an event costs no conversion. Text is raw: displays
sanitise it. This module imports next to nothing, so that a console starts fast; `vocabulary`, which needs pydantic,
reads events back and has their JSON Schema.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any

from gemini_live_runtime.events import (
    agent,
    consent,
    handoff,
    harness,
    inspection,
    link,
    session,
    sound,
    speech,
    turn_taking,
)
from gemini_live_runtime.events.agent import *
from gemini_live_runtime.events.base import *
from gemini_live_runtime.events.consent import *
from gemini_live_runtime.events.handoff import *
from gemini_live_runtime.events.harness import *
from gemini_live_runtime.events.inspection import *
from gemini_live_runtime.events.link import *
from gemini_live_runtime.events.session import *
from gemini_live_runtime.events.sound import *
from gemini_live_runtime.events.speech import *
from gemini_live_runtime.events.turn_taking import *
from gemini_live_runtime.json_values import encode_line
from gemini_live_runtime.records import record

PAYLOADS: dict[str, type[Payload]] = {
    cls.type: cls
    for module in (session, sound, link, agent, handoff, harness, consent, inspection, speech, turn_taking)
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Payload) and cls not in (Payload, Unknown)
}
"""Payload types by their names on the wire."""

_FIELDS = {cls: tuple(field.name for field in fields(cls)) for cls in PAYLOADS.values()}  # type: ignore[arg-type]
_WIRE = {cls: (names, attrgetter(*names, "type"), f'"type":"{cls.type}","data":') for cls, names in _FIELDS.items()}
"""Fields of each payload, their values and one more, and the constant middle of its line, for `to_line`."""


@record
class Event:
    """Payload with its stamp.

    `seq` is dense from 1; `t` is seconds since the session started and never goes back; `turn` numbers turns from 1
    (0 before the first); `gen` numbers generations, see `session.generation`.
    """

    seq: int
    t: float
    turn: int
    gen: int
    payload: Payload

    @property
    def type(self) -> str:
        """Name of the payload on the wire."""
        return self.payload.name if isinstance(self.payload, Unknown) else self.payload.type

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of the wire form."""
        payload = self.payload
        if isinstance(payload, Unknown):
            data = payload.data
        else:
            data = {name: getattr(payload, name) for name in _FIELDS[type(payload)]}
        return {
            "seq": self.seq,
            "t": round(self.t, 6),
            "turn": self.turn,
            "gen": self.gen,
            "type": self.type,
            "data": data,
        }

    def to_line(self) -> str:
        """Return the wire form, without a newline at its end or inside.

        It is text as it is, see `json_values.encode_line`, and always encodes as UTF-8.
        """
        payload = self.payload
        if isinstance(payload, Unknown):
            return encode_line(self.to_json())
        names, values, head = _WIRE[type(payload)]
        data = encode_line(dict(zip(names, values(payload), strict=False)))
        return f'{{"seq":{self.seq},"t":{round(self.t, 6)!r},"turn":{self.turn},"gen":{self.gen},{head}{data}}}'
