"""Effects that reactor rules return, as data, with their waiting policies."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Any, TypeAlias, get_args

from gemini_live_runtime.choices import as_member
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.events import Payload
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.records import frozen_record, record
from gemini_live_runtime.session.ports.messages import CALL_IT, ContextRole, check_context, check_text


class EffectMode(StrEnum):
    """Mode of an effect: the next effect waits for it, or does not."""

    BLOCKING = "blocking"
    CONCURRENT = "concurrent"


@frozen_record
class EffectPolicy:
    """Waiting policy of an effect.

    `timeout_s` is in seconds, above 0; None waits without a limit. Raises `AgentError` for an
    unknown mode and for a limit that is not positive.
    """

    mode: EffectMode = EffectMode.BLOCKING
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        mode = as_member(EffectMode, self.mode)
        if not isinstance(mode, EffectMode):
            raise AgentError(
                f"An effect's mode cannot be {self.mode!r:.60}",
                remedy=f"Use one of {', '.join(EffectMode)}",
                field="mode",
                value=self.mode,
            )
        object.__setattr__(self, "mode", mode)
        if self.timeout_s is not None and not (is_finite(self.timeout_s) and self.timeout_s > 0):
            raise AgentError(
                f"An effect's timeout must be more than 0 s, not {self.timeout_s!r}",
                remedy="Give a number of seconds. Leave it out to wait without a limit",
                field="timeout_s",
                value=self.timeout_s,
            )


@frozen_record
class SendContext:
    """Send texts as context now, behind queued context.

    Raises `AgentError` for contents that are no list of strings, and for an unknown role.
    """

    contents: tuple[str, ...]
    reason: str = ""
    role: ContextRole = "model"

    def __post_init__(self) -> None:
        contents, role = check_context(self.contents, self.role, field="contents")
        object.__setattr__(self, "contents", contents)
        object.__setattr__(self, "role", role)
        check_text(self.reason, "A reason", field="reason")


@frozen_record
class PromptModel:
    """Send the queued context, then the armed prompt if there is one."""

    reason: str = ""

    def __post_init__(self) -> None:
        check_text(self.reason, "A reason", field="reason")


@record
class CancelDeferredPrompt:
    """Cancel the armed prompt; queued context stays."""


@record
class SignalUserActivityStart:
    """Tell the server that the user begins to speak."""


@record
class SignalUserActivityEnd:
    """Tell the server that the user has finished speaking."""


@frozen_record
class UpdateInstruction:
    """Replace the system instruction; raises `AgentError` for one that is no text."""

    text: str
    reason: str = ""

    def __post_init__(self) -> None:
        check_text(self.text, "An instruction", remedy=CALL_IT)
        check_text(self.reason, "A reason", field="reason")


@frozen_record
class EmitEvent:
    """Emit `payload` as an event of the session; raises `AgentError` for what is none."""

    payload: Payload

    def __post_init__(self) -> None:
        payload: Any = self.payload
        if not isinstance(payload, Payload):
            raise AgentError(
                f"EmitEvent cannot emit {payload!r:.60}",
                remedy="Give an event, such as Notice(...)",
                field="payload",
                value=payload,
            )


@frozen_record
class TransitionPhase:
    """Enter the phase `target`."""

    target: str
    reason: str = ""


LiveEffect: TypeAlias = (
    SendContext
    | PromptModel
    | CancelDeferredPrompt
    | SignalUserActivityStart
    | SignalUserActivityEnd
    | UpdateInstruction
    | EmitEvent
    | TransitionPhase
)

LIVE_EFFECTS: tuple[type, ...] = get_args(LiveEffect)


@frozen_record
class Reaction:
    """Effect requested by the rule `source`.

    `defined_at` is the rule's source location; the reactor fills it in.
    """

    source: str
    effect: LiveEffect
    policy: EffectPolicy = EffectPolicy()
    defined_at: str = field(default="", compare=False, repr=False, kw_only=True)
