"""Commands that an operator can send to a session.

JSON form, one object a line: `{"id": "c1", "command": "text.send", "data": {"text": "hello"}}`. The effects of a
command are events; a refused one becomes a `command.refused` event with the same id.
"""

from __future__ import annotations

import json
from dataclasses import field, fields
from typing import Any, ClassVar, Literal

from gemini_live_runtime.records import keyword_record, record


class Order:
    """Base of every command's content; `command` is its name in JSON."""

    __slots__ = ()
    command: ClassVar[str] = ""


@keyword_record
class SendText(Order):
    """Send typed text as the user's turn; interrupts the model."""

    command: ClassVar[str] = "text.send"
    text: str


@keyword_record
class SetMode(Order):
    """Switch to voice mode (microphone on) or text mode (microphone off).

    The speaker stays as it is.
    """

    command: ClassVar[str] = "mode.set"
    mode: Literal["voice", "text"]


@keyword_record
class SetMicrophone(Order):
    """Mute (`on` False) or open the microphone in voice mode."""

    command: ClassVar[str] = "microphone.set"
    on: bool


@keyword_record
class SetSpeaker(Order):
    """Mute (`on` False) or open the speaker."""

    command: ClassVar[str] = "speaker.set"
    on: bool


@keyword_record
class SetDevices(Order):
    """Switch the microphone and the speaker.

    Each is a device number, a part of a device's name, or "" for the system default. `headphones`: the microphone does
    not hear the speaker, and is never attenuated against its echo (null: as before). `audio.opened` names the devices
    in use afterwards; when one cannot be used, both stay as they were.
    """

    command: ClassVar[str] = "devices.set"
    input: str = ""
    output: str = ""
    headphones: bool | None = None


@keyword_record
class SetOptions(Order):
    """Change how turns are taken; null leaves a setting as it is.

    Results in `turns.changed`. `turn_detection` is who finds the user's turns: the server, our own detector (`client`),
    the microphone switch (`manual`), or `auto`, the choice of the agent's plan. What needs another setup waits for a
    new connection, which is made in the next pause. The delays are seconds of silence after which our detector ends a
    turn: the longer one where the agent's end-of-turn model expects more.
    """

    command: ClassVar[str] = "options.set"
    turn_detection: Literal["auto", "server", "client", "manual"] | None = None
    min_endpointing_delay: float | None = None
    max_endpointing_delay: float | None = None


@keyword_record
class SetVoice(Order):
    """Change the voice of the model; "" is the agent's own.

    Results in `voice.changed`. It takes effect with another connection, which is made in the next pause: the
    conversation goes on, with the server's own memory of it where that can be resumed. It holds for agents that take
    over, too.
    """

    command: ClassVar[str] = "voice.set"
    voice: str = ""


@keyword_record
class CommitTurn(Order):
    """End the user's turn now, where our detector or the microphone switch ends it.

    The switch closes the microphone.
    """

    command: ClassVar[str] = "turn.commit"


@keyword_record
class ClearTurn(Order):
    """Drop what the user has said in the open turn. Results in `turn.cleared`.

    Possible where our detector or the microphone switch ends the turn. The model does not know of it afterwards: the
    session goes on with another connection, as it was before the turn.
    """

    command: ClassVar[str] = "turn.clear"


@keyword_record
class SetRules(Order):
    """Change rules of turns; what `changes` does not name stays.

    Results in `rules.changed`. The names are `user_away_timeout`, `min_interruption_duration` (seconds),
    `min_interruption_words`, `false_interruption_timeout`, `max_tool_steps`, `max_unrecoverable_errors`,
    `allow_interruptions` and `min_consecutive_speech_delay` (seconds); null turns a rule off.
    """

    command: ClassVar[str] = "rules.set"
    changes: dict[str, Any]


@keyword_record
class Interrupt(Order):
    """Interrupt the model at once."""

    command: ClassVar[str] = "interrupt"


@keyword_record
class Connect(Order):
    """Make a connection now that was lost or refused.

    Refused while there is one, or one is being made.
    """

    command: ClassVar[str] = "connect"


@keyword_record
class Sleep(Order):
    """Close the connection until something is to be said.

    A word of the user's wakes the session, a typed text, and what the model is to say. Refused without a connection,
    and while the agent is held.
    """

    command: ClassVar[str] = "session.sleep"


@keyword_record
class CancelTask(Order):
    """Cancel a task and its tool; `reason` is kept in its record.

    Refused for a task that does not run in this session.
    """

    command: ClassVar[str] = "task.cancel"
    task_id: str
    reason: str = ""


@keyword_record
class HandOff(Order):
    """Hand the conversation over to an agent that the present one knows.

    It waits until the model has finished speaking. Results in `agent.handed_off`.
    """

    command: ClassVar[str] = "agent.hand-off"
    agent: str


@keyword_record
class Drain(Order):
    """End the session once all that is owed is said; take nothing more."""

    command: ClassVar[str] = "drain"


@keyword_record
class HangUp(Order):
    """End the session and the engine.

    With `finish_tasks` connection and devices are closed, and the end waits until the last task has ended.
    """

    command: ClassVar[str] = "hang-up"
    reason: str = "hung up"
    finish_tasks: bool = False


# -- live changes --------------------------------------------------------------------------------------------


@keyword_record
class EditState(Order):
    """Write or remove state keys, all or none. Results in `edit.applied`.

    Each edit has `key`, and `value` or `remove: true`. With `expect` (the value on display) or `expect_absent: true`
    it is refused when the agent has changed the key meanwhile. Declared types are enforced.
    """

    command: ClassVar[str] = "state.edit"
    edits: tuple[dict[str, Any], ...]
    reason: str = ""


@keyword_record
class PreviewEdit(Order):
    """Try `state.edit` with these edits on a copy. Results in `edit.previewed`."""

    command: ClassVar[str] = "state.preview"
    edits: tuple[dict[str, Any], ...]


@keyword_record
class UndoEdit(Order):
    """Undo the last edit.

    Refused when the agent has changed one of its keys meanwhile, unless `force` is set.
    """

    command: ClassVar[str] = "state.undo"
    force: bool = False


@keyword_record
class RedoEdit(Order):
    """Redo the edit that was undone last."""

    command: ClassVar[str] = "state.redo"
    force: bool = False


@keyword_record
class GoToPhase(Order):
    """Enter a phase without evaluating guards: at once, or at the end of the turn."""

    command: ClassVar[str] = "phase.go"
    phase: str
    when: Literal["now", "turn-end"] = "now"
    reason: str = ""


@keyword_record
class PreviewPhase(Order):
    """Try `phase.go` on a copy. Results in `phase.previewed`."""

    command: ClassVar[str] = "phase.preview"
    phase: str


@keyword_record
class SwitchWatcher(Order):
    """Mute or unmute a watcher."""

    command: ClassVar[str] = "watcher.switch"
    watcher: str
    muted: bool


@keyword_record
class FireWatcher(Order):
    """Run a watcher's action as if its condition had become true."""

    command: ClassVar[str] = "watcher.fire"
    watcher: str


@keyword_record
class GiveContext(Order):
    """Add text to the model's context without asking for an answer."""

    command: ClassVar[str] = "context.give"
    text: str


@keyword_record
class SetInstruction(Order):
    """Replace the agent's own instruction; phases and modifiers still add theirs."""

    command: ClassVar[str] = "instruction.set"
    text: str


@keyword_record
class ReloadAgent(Order):
    """Reload the agent's file, between two turns. Results in `agent.reloaded`."""

    command: ClassVar[str] = "agent.reload"


# -- pausing the agent -----------------------------------------------------------------------------------------------


@keyword_record
class SetBreakpoint(Order):
    """Set a breakpoint, which pauses the agent.

    Kinds and targets are those of `breakpoints.changed`. `id` changes an existing breakpoint, which keeps its target
    when `target` is "". Without `id` a new one is added, in place of one with the same kind and target.
    """

    command: ClassVar[str] = "breakpoint.set"
    kind: Literal["watcher", "phase", "transition", "tool", "key", "expression"]
    target: str
    enabled: bool = True
    id: str = ""


@keyword_record
class RemoveBreakpoint(Order):
    """Remove a breakpoint; "" removes all."""

    command: ClassVar[str] = "breakpoint.remove"
    id: str = ""


@keyword_record
class HoldAgent(Order):
    """Pause the agent before its next decision. Results in `agent.held`."""

    command: ClassVar[str] = "agent.hold"


@keyword_record
class ReleaseAgent(Order):
    """Resume a paused agent.

    `event` pauses again before the next decision, `turn` at the end of the turn.
    """

    command: ClassVar[str] = "agent.release"
    how: Literal["continue", "event", "turn"] = "continue"


# -- consent ---------------------------------------------------------------------------------------------------------


@keyword_record
class GiveConsent(Order):
    """Answer the open question of `consent.asked` with this id.

    With `remember` a yes counts for later calls of the same tool, until it changes or the grant is revoked. Results in
    `consent.given`.
    """

    command: ClassVar[str] = "consent.give"
    id: str
    yes: bool
    remember: bool = False


@keyword_record
class RevokeConsent(Order):
    """Revoke remembered consent: of one tool, or of all for "".

    Results in `consent.revoked`.
    """

    command: ClassVar[str] = "consent.revoke"
    tool: str = ""


@keyword_record
class SetConsentPolicies(Order):
    """Replace the policies of the profile's file: "allow", "ask" or "deny" by tool.

    Those of the session, and those that are remembered for the profile, go ahead of them. Questions about tools that
    are denied now are answered with no.
    """

    command: ClassVar[str] = "consent.policies"
    policies: dict[str, str]


@keyword_record
class SetProfileTools(Order):
    """Replace the tools that the profile enables.

    `enabled` are sets by name, `folders` and `programs` those of `workspace`. The agent keeps its own tools. The model
    learns of them with another connection, made in the next pause.
    """

    command: ClassVar[str] = "tools.profile"
    enabled: tuple[str, ...] = ()
    folders: dict[str, str] = field(default_factory=dict)
    programs: dict[str, tuple[str, ...]] = field(default_factory=dict)


# -- marks -----------------------------------------------------------------------------------------------------------


@keyword_record
class SetMark(Order):
    """Mark this moment, or that of event `of`, with a note.

    `t` is the marked session time in seconds, from 0 to now; it needs `of`. None is now.
    """

    command: ClassVar[str] = "mark.set"
    text: str = ""
    of: int = 0
    t: float | None = None


ORDERS: dict[str, type[Order]] = {
    cls.command: cls
    for cls in list(globals().values())
    if isinstance(cls, type) and issubclass(cls, Order) and cls is not Order
}
"""Every command by its name in JSON."""

_FIELDS = {cls: tuple(field.name for field in fields(cls)) for cls in ORDERS.values()}  # type: ignore[arg-type]

MAX_TEXT = 32_000
"""Characters of the longest text that `text.send` accepts."""

MAX_NAME = 500
"""Characters of the longest name of a phase, watcher, breakpoint or device in a command."""

MAX_REASON = 2000
"""Characters of the longest reason in a command."""

LONGEST: dict[str, int] = {
    "reason": MAX_REASON,
    **dict.fromkeys(("phase", "watcher", "id", "input", "output"), MAX_NAME),
}
"""Characters of the longest text of an order's fields; handlers bound the others."""


@record
class Command:
    """Order with the id that a refusal of it will carry."""

    id: str
    order: Order

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object."""
        order = self.order
        data = {name: getattr(order, name) for name in _FIELDS[type(order)]}
        return {"id": self.id, "command": order.command, "data": data}

    def to_line(self) -> str:
        """Return the JSON line, without the newline."""
        return json.dumps(self.to_json(), ensure_ascii=True, separators=(",", ":"))
