"""Events of several agents in one conversation."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from gemini_live_runtime.events.base import Payload
from gemini_live_runtime.records import keyword_record

__all__ = ["AgentHandedOff", "ChatReplaced", "HandoffRequested"]

HandoffSource = Literal["tool", "program", "operator", "task", "restored"]
ToldChat = Literal["keep", "fresh", "given"]
"""Part of the conversation that a model learns: all of it, nothing, or chosen messages."""


@keyword_record
class HandoffRequested(Payload):
    """Another agent is to take over, as soon as the model has finished speaking.

    `by` is what asked for it, `reason` the name of the tool or the program's words. `chat` "fresh": the model does not
    learn what was said before; "given": it learns `messages`, which have a `role` and a `text`. `problem`: it cannot,
    and the present agent goes on.
    """

    type: ClassVar[str] = "agent.handoff_requested"
    agent: str
    by: HandoffSource
    reason: str = ""
    chat: ToldChat = "keep"
    messages: tuple[dict[str, Any], ...] = ()
    problem: str = ""


@keyword_record
class ChatReplaced(Payload):
    """Other messages replace the conversation: for the model they are all of it.

    Each has a `role`, user or assistant, and a `text`.
    """

    type: ClassVar[str] = "chat.replaced"
    messages: tuple[dict[str, Any], ...]


@keyword_record
class AgentHandedOff(Payload):
    """Another agent has taken over the conversation; state is kept.

    `by` "restored": the session was taken up again, and another agent spoke in it than the one it was started with.
    `via` says how the model learns of it: a new instruction on the same connection, or another connection. `chat`
    "fresh": the model does not learn what was said before; "given": it learns what `chat.replaced` has. `waited_s` is
    the time until the model had finished speaking.
    """

    type: ClassVar[str] = "agent.handed_off"
    previous: str
    agent: str
    by: HandoffSource
    reason: str = ""
    via: Literal["instruction", "connection"] = "connection"
    chat: ToldChat = "keep"
    waited_s: float = 0.0
