"""Decide what to send each turn: one instruction, and context that changed.

`decide` compares the desired state with what the model has read and changes nothing. `confirm` follows a successful
send; without it, the next turn decides the same again, so a failed send is repeated and none is sent twice. Context
that only waits in a queue is not confirmed: a later decision replaces it. After `forget`, for a connection that resumes
no session, everything is sent again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from gemini_live_runtime.records import keyword_record, record

CALLED_OFF = "[No longer applies] "
"""Prefix of a text that was sent as context and has ended."""

NEEDED_NO_MORE = "[No longer needed] "
"""Prefix of the needs that a nudge asked for, and that are met or belong to an earlier phase."""

_LABELLED = re.compile(r"\[([^\[\]:]+)(: |\] )(.+)")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_NAME = re.compile(r"(?:^|, )([^=,]+)=")


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


@keyword_record
class SteeringInput:
    """Desired steering at the end of a turn.

    `base` is the agent's own instruction, `phase` the current phase's, `modifiers` the texts that apply now.
    `amendment` is added to the instruction while it is set; `template` replaces all of it. `tools` are those that may
    be used, None for all. `nudge` is the repair's line, `missing` are the labels of the phase's unmet needs. `on_enter`
    and `prompt` belong to a finished transition, of which `transitioned` is true.
    """

    base: str = ""
    phase: str = ""
    modifiers: tuple[str, ...] = ()
    amendment: str | None = None
    template: str | None = None
    transitioned: bool = False
    tools: tuple[str, ...] | None = None
    nudge: str = ""
    missing: tuple[str, ...] = ()
    on_enter: tuple[str, ...] = ()
    prompt: bool = False


@record
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
    needed: tuple[str, ...] = ()
    """Labels of the needs that nudges asked for."""


@record
class SteeringOutput:
    """Instruction and context to send; `instruction` is None when it is unchanged.

    `entered` are the lines of an entered phase, which are said once. `reasons` has a few words for each part.
    """

    instruction: str | None = None
    context: tuple[str, ...] = ()
    entered: tuple[str, ...] = ()
    prompt: bool = False
    reasons: tuple[str, ...] = ()
    sent: _SentState = field(default_factory=_SentState, repr=False, compare=False)
    """State after sending, for `Steering.confirm`."""

    def __bool__(self) -> bool:
        return self.instruction is not None or bool(self.context) or bool(self.entered) or self.prompt


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
        is_nudged = bool(now.nudge) and now.nudge != sent.nudge
        met = ", ".join(label for label in dict.fromkeys(sent.needed) if label not in now.missing)
        for line, reason in (
            (tool_advisory(now.tools) if now.tools != sent.tools else "", "tools changed"),
            (f"{NEEDED_NO_MORE}{met}." if met else "", "repair"),
            (now.nudge if is_nudged else "", "repair"),
            *((line, "modifier changed") for line in self._changed_modifiers(now)),
            (_change(in_context, sent.phase), self._why(now)),
        ):
            if line:
                context.append(line)
                reasons.append(reason)
        entered = tuple(line for line in now.on_enter if line)
        if entered:
            reasons.append("phase entered")
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
            now.missing if is_nudged else tuple(label for label in sent.needed if label in now.missing),
        )
        return SteeringOutput(
            to_send or None,
            tuple(context),
            entered,
            now.prompt,
            tuple(dict.fromkeys(reasons)),
            sent if after == sent else after,
        )

    def instruction_for(self, now: SteeringInput) -> str:
        """Return the whole system instruction, for a setup."""
        return self._instruction(now)

    def confirm(self, output: SteeringOutput) -> None:
        """Record that all of `output` was sent; call it for an empty one, too."""
        self._sent = output.sent

    def confirm_context(self, output: SteeringOutput) -> None:
        """Record that the context of `output` was sent, later than its instruction."""
        self._sent = _with_context_of(output.sent, self._sent)

    def without_instruction(self, output: SteeringOutput) -> SteeringOutput:
        """Return `output` without its instruction, which is decided again later."""
        return replace(output, instruction=None, sent=replace(output.sent, instruction=self._sent.instruction))

    def without_context(self, output: SteeringOutput) -> SteeringOutput:
        """Return `output` without its context, which is decided again later.

        `entered` is not: the caller has to keep it.
        """
        return replace(output, context=(), entered=(), sent=_with_context_of(self._sent, output.sent))

    def confirm_setup(self, instruction: str) -> None:
        """Record that a setup sent this system instruction."""
        self._sent = replace(self._sent, instruction=instruction)

    def forget(self) -> None:
        """Forget everything that was sent, for a connection that resumes no session."""
        self._sent = _SentState()

    def to_json(self) -> dict[str, Any]:
        """Return what was sent as context, for a snapshot.

        The instruction is left out: each setup has it anew.
        """
        sent = self._sent
        return {
            "tools": None if sent.tools is None else list(sent.tools),
            "nudge": sent.nudge,
            "modifiers": list(sent.modifiers),
            "phase": sent.phase,
            "needed": list(sent.needed),
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Restore the result of `to_json`."""
        tools = data["tools"]
        self._sent = _SentState(
            tools=None if tools is None else tuple(map(str, tools)),
            nudge=str(data["nudge"]),
            modifiers=tuple(map(str, data["modifiers"])),
            phase=str(data["phase"]),
            needed=tuple(map(str, data.get("needed", ()))),  # not in older snapshots
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
        # A text with newer values of all fields of an older one replaces that by itself.
        told = [_fields(text) for text in new]
        ended = (text for text in sent if text not in now.modifiers and not any(_fields(text) <= one for one in told))
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


def _with_context_of(sent: _SentState, other: _SentState) -> _SentState:
    """Return `other` with what `sent` knows to be sent as context."""
    return replace(
        other,
        tools=sent.tools,
        nudge=sent.nudge,
        modifiers=sent.modifiers,
        phase=sent.phase,
        needed=sent.needed,
    )


def _fields(modifier: str) -> frozenset[str]:
    """Return the fields whose values a text tells; other texts tell themselves.

    `[Context: plan="gold"]` tells `Context plan`, and `[Caller] Name: Ada. Verified.` tells `Caller Name` and
    `Caller Verified`.
    """
    fields: set[str] = set()
    for line in modifier.split("\n"):
        labelled = _LABELLED.fullmatch(line)
        label, mark, text = ("", "", "") if labelled is None else labelled.groups()
        if mark == ": ":
            names = _NAME.findall(_QUOTED.sub("", text))
        else:
            names = [part.partition(":")[0].rstrip(".") for part in text.split(". ")] if mark else []
        fields.update(f"{label} {name}" for name in names)
        if not names:
            fields.add(line)
    return frozenset(fields)


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
