"""Decide what to send each turn: one instruction, and context that changed.

`decide` compares the desired state with the last confirmed one and changes nothing. `confirm` follows a successful
send; without it, the next turn decides the same again, so a failed send is repeated and none is sent twice. After
`forget`, for a connection that resumes no session, everything is sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

CALLED_OFF = "[No longer applies] "
"""Prefix of a text that was sent as context and has ended."""


class SteeringMode(StrEnum):
    """Route by which phases and modifiers reach the model."""

    INSTRUCTION_UPDATE = "instruction_update"
    """Phase and modifiers are part of the system instruction, which is replaced when it differs."""
    CONTEXT_INJECTION = "context_injection"
    """The system instruction stays the agent's own; phase and modifiers are sent as context."""
    HYBRID = "hybrid"
    """The phase is part of the system instruction; modifiers are sent as context."""


class ContextDelivery(StrEnum):
    """Time at which context is sent."""

    IMMEDIATE = "immediate"
    DEFERRED = "deferred"
    """Together with the user's next input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringInput:
    """Desired steering at the end of a turn.

    `base` is the agent's own instruction, `phase` the current phase's, `modifiers` the texts that apply now.
    `amendment` is added to the instruction while it is set; `template` replaces all of it. `tools` are those that may
    be used, None for all. `nudge` is the repair's line. `on_enter` and `prompt` belong to a finished transition, of
    which `transitioned` is true.
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
class _SentState:
    """Last confirmed steering; `instruction` is None before the first."""

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
    """Instruction and context to send; `instruction` is None when it is unchanged.

    `reasons` has a few words for each part.
    """

    instruction: str | None = None
    context: tuple[str, ...] = ()
    prompt: bool = False
    reasons: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    """For each context the kind that a newer one of it replaces: `phase`, `tools`, `nudge`, or "" for none."""
    sent: _SentState = field(default_factory=_SentState, repr=False, compare=False)
    """State after sending, for `Steering.confirm`."""

    def __bool__(self) -> bool:
        return self.instruction is not None or bool(self.context) or self.prompt


class Steering:
    """Decisions about what to send, from what was sent."""

    __slots__ = ("_decided", "_sent", "mode")

    def __init__(self, mode: SteeringMode = SteeringMode.INSTRUCTION_UPDATE) -> None:
        self.mode = mode
        self._sent = _SentState()
        self._decided: tuple[SteeringInput, _SentState, SteeringOutput] | None = None
        """Last decision with its inputs: most turns decide on the same."""

    @property
    def instruction(self) -> str | None:
        """System instruction that was sent last, or None."""
        return self._sent.instruction

    def decide(self, now: SteeringInput) -> SteeringOutput:
        """Return the differences from the last confirmed state."""
        if self._decided is None or self._decided[1] is not self._sent or self._decided[0] != now:
            self._decided = (now, self._sent, self._decide(now))
        return self._decided[2]

    def _decide(self, now: SteeringInput) -> SteeringOutput:
        sent = self._sent
        reasons: list[str] = []
        instruction = self._instruction(now)
        in_context = self._phase_context(now)
        to_send = _change(instruction, sent.instruction or "")
        if to_send:
            reasons.append(self._why(now))
        context: list[str] = []
        topics: list[str] = []
        for line, reason, topic in (
            (tool_advisory(now.tools) if now.tools != sent.tools else "", "tools changed", "tools"),
            (now.nudge if now.nudge != sent.nudge else "", "repair", "nudge"),
            *((line, "modifier changed", "") for line in self._changed_modifiers(now)),
            (_change(in_context, sent.phase), self._why(now), "phase"),
            *((line, "phase entered", "") for line in now.on_enter),
        ):
            if line:
                context.append(line)
                topics.append(topic)
                reasons.append(reason)
        if now.prompt:
            reasons.append("model prompted")
        after = _SentState(
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
            tuple(topics),
            sent if after == sent else after,
        )

    def instruction_for(self, now: SteeringInput) -> str:
        """Return the whole system instruction, for a setup."""
        return self._instruction(now)

    def confirm(self, output: SteeringOutput) -> None:
        """Record that all of `output` was sent or queued; call it for an empty one, too."""
        self._sent = output.sent

    def without_instruction(self, output: SteeringOutput) -> SteeringOutput:
        """Return `output` without its instruction, which is decided again later."""
        return replace(output, instruction=None, sent=replace(output.sent, instruction=self._sent.instruction))

    def without_context(self, output: SteeringOutput) -> SteeringOutput:
        """Return `output` without its context, which is decided again later.

        `on_enter` is not: the caller has to keep it.
        """
        sent = replace(self._sent, instruction=output.sent.instruction)
        return replace(output, context=(), topics=(), sent=sent)

    def confirm_setup(self, instruction: str) -> None:
        """Record that a setup sent this system instruction."""
        self._sent = replace(self._sent, instruction=instruction)

    def forget(self) -> None:
        """Forget everything that was sent, for a connection that resumes no session."""
        self._sent = _SentState()

    def to_json(self) -> dict[str, Any]:
        """Return what was sent, for a snapshot of a session that can be resumed."""
        sent = self._sent
        return {
            "instruction": sent.instruction,
            "tools": None if sent.tools is None else list(sent.tools),
            "nudge": sent.nudge,
            "modifiers": list(sent.modifiers),
            "phase": sent.phase,
            "amendment": sent.amendment,
            "template": sent.template,
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Restore the result of `to_json`."""
        tools = data["tools"]
        self._sent = _SentState(
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

    def _changed_modifiers(self, now: SteeringInput) -> tuple[str, ...]:
        """Return texts that call off ended modifiers, then the new modifiers."""
        if self.mode is SteeringMode.INSTRUCTION_UPDATE:
            return ()
        sent = self._sent.modifiers
        new = tuple(text for text in dict.fromkeys(now.modifiers) if text not in sent)
        # A newer value of the same label replaces the older one by itself.
        replaced = {_label(text) for text in new} - {""}
        ended = (text for text in sent if text not in now.modifiers and _label(text) not in replaced)
        return (*(_change("", text) for text in ended), *new)

    def _why(self, now: SteeringInput) -> str:
        sent = self._sent
        if sent.instruction is None:
            return "nothing was sent yet"
        if (now.template or "") != sent.template:
            return "template" if now.template else "template ended"
        if now.transitioned:
            return "phase changed"
        if (now.amendment or "") != sent.amendment:
            return "amendment" if now.amendment else "amendment ended"
        return "state changed"


def _joined(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part and part.strip())


def _label(modifier: str) -> str:
    """Return `[Context` of `[Context: plan="gold"]`, or "" for other texts."""
    label, colon, _ = modifier.partition(":")
    return label if colon and label.startswith("[") else ""


def tool_advisory(tools: tuple[str, ...] | None) -> str:
    """Return the line that names the tools which may be used now; None is all."""
    if tools is None:
        return "[Tools] All tools may be used again."
    if not tools:
        return "[Tools] No tool may be used now."
    return f"[Tools] Only these may be used now: {', '.join(tools)}."


def _change(now: str, sent: str) -> str:
    if now == sent:
        return ""
    # The model cannot forget a text that was sent; it can be told to ignore it.
    return now or f"{CALLED_OFF}{sent}"
