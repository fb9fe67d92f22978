"""What the model is told each turn: one instruction, and only the context that changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any


class SteeringMode(StrEnum):
    """How phases and modifiers reach the model."""

    INSTRUCTION_UPDATE = "instruction_update"
    """Everything is part of the system instruction, which is replaced when it differs."""
    CONTEXT_INJECTION = "context_injection"
    """The system instruction stays the agent's own; phase and modifiers are told as context."""
    HYBRID = "hybrid"
    """The phase is part of the system instruction; modifiers are told as context."""


class ContextDelivery(StrEnum):
    """When context goes out."""

    IMMEDIATE = "immediate"
    DEFERRED = "deferred"
    """With the user's next input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringInput:
    """How things stand at the end of a turn.

    `base` is the agent's own instruction, `phase` the current phase's, `modifiers` the texts that apply now.
    `amendment` is added to the instruction for as long as it is given; `template` replaces all of it. `tools` are those
    that may be used, None for all. `nudge` is the repair's line. `on_enter` and `prompt` are a finished transition's;
    `transitioned` tells that there was one.
    """

    base: str = ""
    phase: str = ""
    modifiers: tuple[str, ...] = ()
    amendment: str | None = None
    template: str | None = None
    transitioned: bool = False
    tools: tuple[str, ...] | None = None
    nudge: str = ""
    on_enter: tuple[str, ...] = ()
    prompt: bool = False


@dataclass(frozen=True, slots=True)
class _Memory:
    """What the model was last told. `instruction` is None before it was told any; `tools` begins with all of them."""

    instruction: str | None = None
    tools: tuple[str, ...] | None = None
    nudge: str = ""
    modifiers: tuple[str, ...] = ()
    phase: str = ""
    """The phase's instruction as context, with an amendment or a template."""
    amendment: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True)
class SteeringOutput:
    """What to send. `instruction` is None when it is unchanged. `reasons` tell why, a few words each."""

    instruction: str | None = None
    context: tuple[str, ...] = ()
    prompt: bool = False
    reasons: tuple[str, ...] = ()
    told: _Memory = field(default_factory=_Memory, repr=False, compare=False)
    """For `Steering.sent`."""

    def __bool__(self) -> bool:
        return self.instruction is not None or bool(self.context) or self.prompt


class Steering:
    """Decides what to send and remembers what was sent.

    `decide` changes nothing; `sent` confirms. What was not confirmed is decided again the next turn, so nothing that
    failed is lost.
    """

    __slots__ = ("_decided", "_told", "mode")

    def __init__(self, mode: SteeringMode = SteeringMode.INSTRUCTION_UPDATE) -> None:
        self.mode = mode
        self._told = _Memory()
        self._decided: tuple[SteeringInput, _Memory, SteeringOutput] | None = None
        """The last decision, and on what: most turns ask the same again."""

    @property
    def instruction(self) -> str | None:
        """The system instruction in force; None before any was sent."""
        return self._told.instruction

    def decide(self, now: SteeringInput) -> SteeringOutput:
        """What differs from what was sent. After `forget`, and at first, that is everything."""
        if self._decided is None or self._decided[1] is not self._told or self._decided[0] != now:
            self._decided = (now, self._told, self._decide(now))
        return self._decided[2]

    def _decide(self, now: SteeringInput) -> SteeringOutput:
        told = self._told
        reasons: list[str] = []
        instruction = self._instruction(now)
        in_context = self._phase_context(now)
        to_send = _change(instruction, told.instruction or "")
        if to_send:
            reasons.append(self._why(now))
        context: list[str] = []
        for line, reason in (
            (tool_advisory(now.tools) if now.tools != told.tools else "", "tools changed"),
            (now.nudge if now.nudge != told.nudge else "", "repair"),
            *((line, "modifier changed") for line in self._new_modifiers(now)),
            (_change(in_context, told.phase), self._why(now)),
            *((line, "phase entered") for line in now.on_enter),
        ):
            if line:
                context.append(line)
                reasons.append(reason)
        if now.prompt:
            reasons.append("model prompted")
        memory = _Memory(
            instruction,
            now.tools,
            now.nudge,
            () if self.mode is SteeringMode.INSTRUCTION_UPDATE else now.modifiers,
            in_context,
            now.amendment or "",
            now.template or "",
        )
        return SteeringOutput(
            to_send or None,
            tuple(context),
            now.prompt,
            tuple(dict.fromkeys(reasons)),
            told if memory == told else memory,
        )

    def resolved(self, now: SteeringInput) -> str:
        """The system instruction as it should be, for a setup."""
        return self._instruction(now)

    def sent(self, output: SteeringOutput) -> None:
        """Everything in `output` was sent, or is queued to be sent without fail. Call it for an empty output too."""
        self._told = output.told

    def carried(self, instruction: str) -> None:
        """A setup carried this system instruction."""
        self._told = replace(self._told, instruction=instruction)

    def forget(self) -> None:
        """The model knows nothing any more: a new connection that resumes no session."""
        self._told = _Memory()

    def to_json(self) -> dict[str, Any]:
        """What the model was told, for a snapshot of a session that can be resumed."""
        told = self._told
        return {
            "instruction": told.instruction,
            "tools": None if told.tools is None else list(told.tools),
            "nudge": told.nudge,
            "modifiers": list(told.modifiers),
            "phase": told.phase,
            "amendment": told.amendment,
            "template": told.template,
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take up `to_json`."""
        tools = data["tools"]
        self._told = _Memory(
            data["instruction"],
            None if tools is None else tuple(tools),
            data["nudge"],
            tuple(data["modifiers"]),
            data["phase"],
            data["amendment"],
            data["template"],
        )

    def _instruction(self, now: SteeringInput) -> str:
        if self.mode is SteeringMode.CONTEXT_INJECTION:
            return now.base
        if now.template:
            return now.template
        modifiers = now.modifiers if self.mode is SteeringMode.INSTRUCTION_UPDATE else ()
        return _joined(now.base, now.phase, *modifiers, now.amendment)

    def _phase_context(self, now: SteeringInput) -> str:
        if self.mode is not SteeringMode.CONTEXT_INJECTION:
            return ""
        return now.template or _joined(now.phase, now.amendment)

    def _new_modifiers(self, now: SteeringInput) -> tuple[str, ...]:
        if self.mode is SteeringMode.INSTRUCTION_UPDATE:
            return ()
        return tuple(text for text in dict.fromkeys(now.modifiers) if text not in self._told.modifiers)

    def _why(self, now: SteeringInput) -> str:
        told = self._told
        if told.instruction is None:
            return "nothing was sent yet"
        if (now.template or "") != told.template:
            return "template" if now.template else "template ended"
        if now.transitioned:
            return "phase changed"
        if (now.amendment or "") != told.amendment:
            return "amendment" if now.amendment else "amendment ended"
        return "state changed"


def _joined(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part and part.strip())


def tool_advisory(tools: tuple[str, ...] | None) -> str:
    """The line that tells which tools may be used now; None is all of them."""
    if tools is None:
        return "[Tools] All tools may be used again."
    if not tools:
        return "[Tools] No tool may be used now."
    return f"[Tools] Only these may be used now: {', '.join(tools)}."


def _change(now: str, told: str) -> str:
    if now == told:
        return ""
    # An instruction cannot be replaced by nothing, nor context be taken back; both can be called off.
    return now or f"[No longer applies] {told}"
