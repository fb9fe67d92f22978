"""Events of an agent under inspection: what it is made of, what an operator does to it, and where it is held.

Explanations are the trees described in `events.agent`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from gemini_live_runtime.events.base import Actor, Payload
from gemini_live_runtime.records import keyword_record

__all__ = [
    "AgentDescribed",
    "AgentHeld",
    "AgentHolding",
    "AgentReleased",
    "AgentReloaded",
    "BreakpointsChanged",
    "EditPreviewed",
    "EditsApplied",
    "GuardsRead",
    "MarkSet",
    "PatternsRead",
    "PhasePreviewed",
    "WatcherSwitched",
]


@keyword_record
class AgentDescribed(Payload):
    """What the agent is made of, at the session's start and after each change. `defined_at` is `file.py:12` or "".

    `instruction` is the agent's own, to which phases and modifiers add. `phases`: `name`, `goal` (the instruction's
    first line), `needs`, `requires`, `tools` (null: all), `terminal`, `ways` (each `to`, `when`, `because`,
    `defined_at`), `defined_at`. `watchers`: `name`, `when`, `keys`, `blocking`, `defined_at`.
    `patterns`: `name`, `when`, `defined_at`. `computed`: `key`, `inputs`, `defined_at`. `keys` (declared ones): `key`,
    `type` (a JSON schema), `description`. `tools`: `name`, `description`, `mode`, `defined_at`. `extractors`: `name`,
    `trigger`, `fields`, `defined_at`.
    """

    type: ClassVar[str] = "agent.described"
    agent: str
    instruction: str = ""
    phases: tuple[dict[str, Any], ...] = ()
    initial_phase: str = ""
    watchers: tuple[dict[str, Any], ...] = ()
    patterns: tuple[dict[str, Any], ...] = ()
    computed: tuple[dict[str, Any], ...] = ()
    keys: tuple[dict[str, Any], ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    extractors: tuple[dict[str, Any], ...] = ()


@keyword_record
class GuardsRead(Payload):
    """How the ways out of the current phase stand, told whenever that has changed.

    Each of `ways` has `index`, `to`, `outcome` (`ready`, `blocked`, `guard is false`, `target's guard is false` or
    `requirement missing`), `because`, `guard`, and where there are such `target_guard` (both explanations) and
    `missing` (required keys of the target that are not set). `needs`: each `key`, `label`, `met`, `by`.
    """

    type: ClassVar[str] = "guards.read"
    phase: str
    ways: tuple[dict[str, Any], ...] = ()
    needs: tuple[dict[str, Any], ...] = ()


@keyword_record
class PatternsRead(Payload):
    """How far temporal patterns have come, told whenever that has changed, at most once a second.

    Each has `name`, `progress` (words with the measured numbers) and `cooldown_left_s`.
    """

    type: ClassVar[str] = "patterns.read"
    patterns: tuple[dict[str, Any], ...]


@keyword_record
class WatcherSwitched(Payload):
    """A watcher was muted, or is heard again."""

    type: ClassVar[str] = "watcher.switched"
    watcher: str
    muted: bool
    actor: Actor = "operator"


@keyword_record
class EditPreviewed(Payload):
    """What an edit would do, found out on a copy. `problem` says why it cannot be made; then the rest is empty.

    `values`: each `key`, `old`, `new`, `added`, `removed`. `derived`: the same for computed keys that would change.
    `watchers`: each `name`, `key`, `old`, `new`, `explanation`, `muted`. `guards`: the ways whose outcome would
    turn, each `to`, `before` and `after` (outcomes), `explanation`. `patterns`: temporal patterns that would be
    otherwise, each `name`, `how` (`fires` now, `begins` to be held or counted, `ends` before it was there, or
    `moves`), `text`, `before` and `after` (how far it has come), `times` and `because` of firing now, and `wait_s`,
    seconds after which it fires if everything stays as it is (null: time alone does not do it). `phase` is the
    phase that the conversation would go to at once, "" for none. `unknown` names what cannot be told without
    running the agent's code (actions of watchers and patterns).
    """

    type: ClassVar[str] = "edit.previewed"
    command_id: str
    problem: str = ""
    values: tuple[dict[str, Any], ...] = ()
    derived: tuple[dict[str, Any], ...] = ()
    watchers: tuple[dict[str, Any], ...] = ()
    patterns: tuple[dict[str, Any], ...] = ()
    guards: tuple[dict[str, Any], ...] = ()
    phase: str = ""
    unknown: tuple[str, ...] = ()


@keyword_record
class EditsApplied(Payload):
    """An operator's edit was made, taken back or made again. `undo` and `redo` count what can be.

    `values` are as in `edit.previewed`; each is a `state.changed` of its own, too.
    """

    type: ClassVar[str] = "edit.applied"
    command_id: str
    how: Literal["edit", "undo", "redo"]
    values: tuple[dict[str, Any], ...]
    undo: int
    redo: int


@keyword_record
class PhasePreviewed(Payload):
    """What going to `phase` by the operator's word would do. `problem` says why it cannot be done.

    `missing` are keys it requires that are not set, `guard` its own guard's explanation, `way` that of the transition
    from here (null: there is no way). `clears` are keys that would be removed, `runs` the agent's code that would run.
    `unknown` says what could not be told.
    """

    type: ClassVar[str] = "phase.previewed"
    command_id: str
    phase: str
    problem: str = ""
    instruction: str = ""
    missing: tuple[str, ...] = ()
    guard: dict[str, Any] | None = None
    way: dict[str, Any] | None = None
    tools_added: tuple[str, ...] = ()
    tools_removed: tuple[str, ...] = ()
    clears: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    prompts: bool = False
    unknown: tuple[str, ...] = ()


@keyword_record
class BreakpointsChanged(Payload):
    """All breakpoints, after a change.

    Each has `id`, `kind` (`watcher`, `phase`, `transition`, `tool`, `key` or `expression`), `target` (a name,
    `from>to` for a transition, or the expression), `enabled` and `hits`.
    """

    type: ClassVar[str] = "breakpoints.changed"
    breakpoints: tuple[dict[str, Any], ...]


@keyword_record
class AgentHeld(Payload):
    """The agent decides nothing more until it is released: tool answers and transitions wait, the call goes on.

    `by` is the breakpoint's id, `step` or `pause`; `at` says in words where it stands, `of` the event that set it off.
    """

    type: ClassVar[str] = "agent.held"
    by: str
    at: str
    of: int = 0
    explanation: dict[str, Any] | None = None


@keyword_record
class AgentHolding(Payload):
    """What waits while the agent is held: `answers` of tools, and `steps` of decision, `next` the first in words."""

    type: ClassVar[str] = "agent.holding"
    answers: int
    steps: int
    next: str = ""


@keyword_record
class AgentReleased(Payload):
    """The agent goes on: for good, for one decision, or until the turn ends. `seconds` it was held."""

    type: ClassVar[str] = "agent.released"
    how: Literal["continue", "event", "turn", "end"]
    seconds: float
    actor: Actor = "operator"


@keyword_record
class MarkSet(Payload):
    """The operator marked this moment, or that of event `of`; `text` is the note, "" for a mark alone.

    `t` is the session time that is meant, in seconds; null is that of this event.
    """

    type: ClassVar[str] = "mark.set"
    text: str = ""
    of: int = 0
    t: float | None = None
    actor: Actor = "operator"


@keyword_record
class AgentReloaded(Payload):
    """The agent's file was read again between two turns. `problem`: it cannot be used, the old one goes on.

    `changed` names the parts that differ. State is kept.
    """

    type: ClassVar[str] = "agent.reloaded"
    path: str
    problem: str = ""
    changed: tuple[str, ...] = ()
