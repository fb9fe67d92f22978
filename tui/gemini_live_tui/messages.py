"""Messages that widgets post to the console screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.journal.fold.agent_view import AgentView, TransitionStatus

DetailPart = tuple[str, Any]
"""A heading, "" for none, and a value: text as it is, everything else as JSON."""


@dataclass
class TextSubmitted(Message):
    """Send `text`, which the prompt still holds."""

    text: str


@dataclass
class FollowChanged(Message):
    """A line list was scrolled, or its `following` of the end was turned on or off."""

    following: bool


@dataclass
class RunAction(Message):
    """Run the action `id` of the action table, chosen with the mouse."""

    id: str


@dataclass
class ShowHint(Message):
    """Show a message that disappears after a few seconds."""

    text: str


@dataclass
class PaneChanged(Message):
    """The pane `pane` needs painting: its size, filter or order changed."""

    pane: str


@dataclass
class SendOrder(Message):
    """Send a command to the engine."""

    order: Order


@dataclass
class OpenScreen(Message):
    """Open the screen that the registry calls `name`."""

    name: str


@dataclass
class ShowDetails(Message):
    """Show `parts` below `title`; the screen's copy key copies `copy` as JSON."""

    title: str
    parts: Sequence[DetailPart]
    copy: Any


@dataclass
class EditKey(Message):
    """Open the state editor on `key`."""

    key: str


@dataclass
class ShowWatcher(Message):
    """Open the screen of one watcher or temporal pattern; `kind` says which."""

    kind: str
    name: str


@dataclass
class ExplainEvent(Message):
    """Explain the cause of event `seq`."""

    seq: int


@dataclass
class ExplainTransition(Message):
    """Explain a transition out of the current phase of `agent`: taken or blocked."""

    way: TransitionStatus
    agent: AgentView


@dataclass
class GoToTime(Message):
    """Move the cursor to `t` seconds of session time."""

    t: float


@dataclass
class GoToEvent(Message):
    """Move the cursor to event `seq`."""

    seq: int


@dataclass
class PaneFailed(Message):
    """A pane's body raised `error` while painting or updating."""

    error: Exception
