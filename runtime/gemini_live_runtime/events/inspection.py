"""Events of the debugger: the agent's parts, the operator's changes, holds.

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
    """Parts of the agent, at the session's start and after each change.

    `defined_at` is `file.py:12` or "". `instruction` is the agent's own, to which phases and modifiers add. `phases`:
    `name`, `goal` (the instruction's first line), `needs`, `requires`, `tools` (null: all), `terminal`, `ways` (each
    `to`, `when`, `because`, `defined_at`), `defined_at`. `watchers`: `name`, `when`, `keys`, `blocking`, `defined_at`.
    `patterns`: `name`, `when`, `defined_at`. `computed`: `key`, `inputs`, `defined_at`. `keys` (declared ones): `key`,
    `type` (a JSON schema), `description`. `tools`: `name`, `description`, `mode`, `defined_at`. `extractors`: `name`,
    `trigger`, `fields`, `defined_at`. `hands_over_to`: names of the other agents that it, or one of them, may hand over
    to.
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
    hands_over_to: tuple[str, ...] = ()


@keyword_record
class GuardsRead(Payload):
    """Status of the transitions from the current phase, after each change.

    Each of `ways` is a transition: `index`, `to`, `outcome` (`ready`, `blocked`, `guard is false`, `target's guard is
    false` or `requirement missing`), `because`, `guard`, and if present `target_guard` (both explanations) and
    `missing` (required keys of the target that are not set). `needs`: each `key`, `label`, `met`, `by`.
    """

    type: ClassVar[str] = "guards.read"
    phase: str
    ways: tuple[dict[str, Any], ...] = ()
    needs: tuple[dict[str, Any], ...] = ()


@keyword_record
class PatternsRead(Payload):
    """Progress of temporal patterns, after each change, at most once a second.

    Each has `name`, `progress` (a text with the measured numbers) and `cooldown_left_s`.
    """

    type: ClassVar[str] = "patterns.read"
    patterns: tuple[dict[str, Any], ...]


@keyword_record
class WatcherSwitched(Payload):
    """A watcher was muted or unmuted."""

    type: ClassVar[str] = "watcher.switched"
    watcher: str
    muted: bool
    actor: Actor = "operator"


@keyword_record
class EditPreviewed(Payload):
    """Preview of an edit, computed on a copy.

    `problem` says why the edit cannot be made; then the rest is empty. `values`: each `key`, `old`, `new`, `added`,
    `removed`. `derived`: the same for computed keys that would change. `watchers` that would fire: each `name`, `key`,
    `old`, `new`, `explanation`, `muted`. `guards`: transitions whose outcome would change, each `to`, `before` and
    `after` (outcomes), `explanation`. `patterns`: temporal patterns that would change, each `name`, `how` (`fires` now,
    `begins` to be held or counted, `ends` before it matched, or `moves`), `text`, `before` and `after` (its progress),
    `times` and `because` of firing now, and `wait_s`, seconds after which it fires if nothing else changes (null: time
    alone does not make it fire). `phase` is the phase that the conversation would enter at once, "" for none.
    `unknown` names what cannot be predicted without running the agent's code (actions of watchers and patterns).
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
    """An operator's edit was applied, undone or redone.

    `undo` and `redo` are the numbers of edits that can be undone and redone now. `values` are as in `edit.previewed`;
    each has a `state.changed` of its own, too.
    """

    type: ClassVar[str] = "edit.applied"
    command_id: str
    how: Literal["edit", "undo", "redo"]
    values: tuple[dict[str, Any], ...]
    undo: int
    redo: int


@keyword_record
class PhasePreviewed(Payload):
    """Preview of an operator's move to `phase`.

    `problem` says why it cannot be made. `missing` are keys it requires that are not set, `guard` is the explanation of
    its own guard, `way` that of the transition from the current phase (null without one). `clears` are keys that would
    be removed, `runs` names the agent's code that would run. `unknown` names what cannot be predicted.
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
    """List of all breakpoints, after a change.

    Each has `id`, `kind` (`watcher`, `phase`, `transition`, `tool`, `key` or `expression`), `target` (a name,
    `from>to` for a transition, or the expression), `enabled` and `hits`.
    """

    type: ClassVar[str] = "breakpoints.changed"
    breakpoints: tuple[dict[str, Any], ...]


@keyword_record
class AgentHeld(Payload):
    """The agent is held: tool answers and transitions wait, the call continues.

    `by` is the breakpoint's id, `step` or `pause`; `at` says in words what it waits before; `of` is the event that
    caused it.
    """

    type: ClassVar[str] = "agent.held"
    by: str
    at: str
    of: int = 0
    explanation: dict[str, Any] | None = None


@keyword_record
class AgentHolding(Payload):
    """Work that waits while the agent is held has changed.

    `answers` of tools and `steps` of decision wait; `next` is the first step in words.
    """

    type: ClassVar[str] = "agent.holding"
    answers: int
    steps: int
    next: str = ""


@keyword_record
class AgentReleased(Payload):
    """The agent continues: for good, for one decision, or until the turn ends.

    `seconds` is how long it was held.
    """

    type: ClassVar[str] = "agent.released"
    how: Literal["continue", "event", "turn", "end"]
    seconds: float
    actor: Actor = "operator"


@keyword_record
class MarkSet(Payload):
    """The operator marked this moment, or that of event `of`.

    `text` is the note, "" for none. `t` is the marked session time in seconds; null is that of this event.
    """

    type: ClassVar[str] = "mark.set"
    text: str = ""
    of: int = 0
    t: float | None = None
    actor: Actor = "operator"


@keyword_record
class AgentReloaded(Payload):
    """The agent's file was reloaded between two turns; state is kept.

    `problem`: the new version is unusable and the old one stays. `changed` names the parts that differ.
    """

    type: ClassVar[str] = "agent.reloaded"
    path: str
    problem: str = ""
    changed: tuple[str, ...] = ()
