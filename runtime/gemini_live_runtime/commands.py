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
class SetDevices(Order):
    """Go on with another microphone and speaker: a number, a part of a name, or "" for the system's choice.

    `audio.opened` tells what is open then; when one of them cannot be used, both stay as they were.
    """

    command: ClassVar[str] = "devices.set"
    input: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(Order):
    """Stop what the model is saying, here and now."""

    command: ClassVar[str] = "interrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp(Order):
    """End the session and the engine."""

    command: ClassVar[str] = "hang-up"
    reason: str = "hung up"


# -- changing things live --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EditState(Order):
    """Write or remove keys, all or none. Shows as `edit.applied`.

    Each of `edits` has `key`, and `value` or `remove: true`. With `expect` (the value that was seen) or
    `expect_absent: true` it is refused when the agent has changed the key meanwhile. Declared types are enforced.
    """

    command: ClassVar[str] = "state.edit"
    edits: tuple[dict[str, Any], ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewEdit(Order):
    """Find out what `state.edit` with these edits would do, on a copy. Shows as `edit.previewed`."""

    command: ClassVar[str] = "state.preview"
    edits: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoEdit(Order):
    """Take back the last edit, unless the agent has changed one of its keys meanwhile (`force` does it anyway)."""

    command: ClassVar[str] = "state.undo"
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RedoEdit(Order):
    """Make the edit again that was taken back last."""

    command: ClassVar[str] = "state.redo"
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GoToPhase(Order):
    """Take the conversation to a phase without asking guards: at once, or when the turn has ended."""

    command: ClassVar[str] = "phase.go"
    phase: str
    when: Literal["now", "turn-end"] = "now"
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewPhase(Order):
    """Find out what `phase.go` would do. Shows as `phase.previewed`."""

    command: ClassVar[str] = "phase.preview"
    phase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchWatcher(Order):
    """Mute a watcher, or hear it again."""

    command: ClassVar[str] = "watcher.switch"
    watcher: str
    muted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FireWatcher(Order):
    """Run what a watcher does, as if its condition had come true."""

    command: ClassVar[str] = "watcher.fire"
    watcher: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveContext(Order):
    """Let the model know something without having it answer."""

    command: ClassVar[str] = "context.give"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetInstruction(Order):
    """Replace the agent's own instruction; what phases and modifiers add stays."""

    command: ClassVar[str] = "instruction.set"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadAgent(Order):
    """Read the agent's file again, between two turns. Shows as `agent.reloaded`."""

    command: ClassVar[str] = "agent.reload"


# -- holding the agent -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SetBreakpoint(Order):
    """Hold the agent when something happens. Kinds and targets as in `breakpoints.changed`; an equal one is replaced.

    `id` changes an existing one, which keeps what it is on when `target` is ""; without `id` one is made.
    """

    command: ClassVar[str] = "breakpoint.set"
    kind: Literal["watcher", "phase", "transition", "tool", "key", "expression"]
    target: str
    enabled: bool = True
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveBreakpoint(Order):
    """Forget a breakpoint; "" forgets all."""

    command: ClassVar[str] = "breakpoint.remove"
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldAgent(Order):
    """Hold the agent before its next decision. Shows as `agent.held`."""

    command: ClassVar[str] = "agent.hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseAgent(Order):
    """Let a held agent go on: for good, for one decision (`event`), or until the turn has ended (`turn`)."""

    command: ClassVar[str] = "agent.release"
    how: Literal["continue", "event", "turn"] = "continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMark(Order):
    """Mark this moment, or that of event `of`, with a note.

    `t` is the session time that is meant, in seconds from 0 to now; it needs `of`. None is now.
    """

    command: ClassVar[str] = "mark.set"
    text: str = ""
    of: int = 0
    t: float | None = None


ORDERS: dict[str, type[Order]] = {
    cls.command: cls
    for cls in (
        SendText,
        SetMode,
        SetMicrophone,
        SetSpeaker,
        SetDevices,
        Interrupt,
        HangUp,
        EditState,
        PreviewEdit,
        UndoEdit,
        RedoEdit,
        GoToPhase,
        PreviewPhase,
        SwitchWatcher,
        FireWatcher,
        GiveContext,
        SetInstruction,
        ReloadAgent,
        SetBreakpoint,
        RemoveBreakpoint,
        HoldAgent,
        ReleaseAgent,
        SetMark,
    )
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
