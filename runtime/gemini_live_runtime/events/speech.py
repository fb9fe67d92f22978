"""Events of the speeches of the model."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from gemini_live_runtime.events.base import Payload
from gemini_live_runtime.records import keyword_record

__all__ = ["InterruptionIgnored", "RulesChanged", "SpeechChanged", "VoiceChanged"]


@keyword_record
class SpeechChanged(Payload):
    """An answer of the model was asked for, begins, or is over.

    `queued`: it waits until the floor is free; `asked`: the model was asked for it, or calls a tool before its first
    word; `speaking`: it is generated and heard, `step` being the number of its parts so far, of which the answers of a
    round of tools begin another; `done`: it was heard to its end; `interrupted`: it was cut; `dropped`: it never began.
    `source` is what made it: a prompt of the agent, a program's request for a reply, a notification, a question of
    consent, the user's words, or the model itself.
    `parent` is the id of the speech during which it was asked for. `problem` says what kept a dropped one from
    beginning, where that is a fault.
    """

    type: ClassVar[str] = "speech.changed"
    id: str
    status: Literal["queued", "asked", "speaking", "done", "interrupted", "dropped"]
    source: Literal["prompt", "reply", "notification", "consent", "user", "model"]
    reason: str = ""
    priority: int = 5
    step: int = 0
    parent: str = ""
    protected: bool = False
    problem: str = ""


@keyword_record
class InterruptionIgnored(Payload):
    """The user's voice over an answer did not interrupt it.

    `rule` says why: its `duration` was below `needed`, in seconds; fewer `words` came than `needed`; the answer is
    `protected`; or the interruption was `false`: no words came, and what was paused goes on. `of` is the generation,
    `speech` the id of the speech. `voice_s` is the length of the voice, None when it is not known.
    """

    type: ClassVar[str] = "interruption.ignored"
    rule: Literal["duration", "words", "protected", "false"]
    of: int
    speech: str = ""
    voice_s: float | None = None
    words: int = 0
    needed: float = 0.0


@keyword_record
class RulesChanged(Payload):
    """Rules of turns were changed in the session.

    `rules` has all that may change, by the names of `rules.set`; null is a rule that is off.
    """

    type: ClassVar[str] = "rules.changed"
    rules: dict[str, Any]


@keyword_record
class VoiceChanged(Payload):
    """The operator has chosen another voice of the model, from the next connection on.

    `voice` is its name; "" is the agent's own.
    """

    type: ClassVar[str] = "voice.changed"
    voice: str
