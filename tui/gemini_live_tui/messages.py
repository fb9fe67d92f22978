"""Messages that widgets post to the console screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from textual.message import Message

from gemini_live_runtime.records import mutable_record

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.journal.fold.agent_view import AgentView, TransitionStatus

Level = Literal["info", "warning", "error"]
"""Weight of a sentence that is shown to the user."""

DetailPart = tuple[str, Any]
"""A heading, "" for none, and a value: text as it is, everything else as JSON."""


@mutable_record
class TextSubmitted(Message):
    """Send `text`, which the prompt still holds."""

    text: str


@mutable_record
class FollowChanged(Message):
    """A line list was scrolled, or its `following` of the end was turned on or off."""

    following: bool


@mutable_record
class RunAction(Message):
    """Run the action `id` of the action table, chosen with the mouse."""

    id: str


@mutable_record
class ShowHint(Message):
    """Show a message that disappears after a few seconds."""

    text: str


@mutable_record
class PaneChanged(Message):
    """The pane `pane` needs painting: its size, filter or order changed."""

    pane: str


class KeysChanged(Message):
    """Other keys of the focused pane mean something now."""


@mutable_record
class SendOrder(Message):
    """Send a command to the engine."""

    order: Order


@mutable_record
class OpenScreen(Message):
    """Open the screen that the registry calls `name`."""

    name: str


@mutable_record
class ShowDetails(Message):
    """Show `parts` below `title`; the screen's copy key copies `copy` as JSON."""

    title: str
    parts: Sequence[DetailPart]
    copy: Any


@mutable_record
class EditKey(Message):
    """Open the state editor on `key`."""

    key: str


@mutable_record
class ShowWatcher(Message):
    """Open the screen of one watcher or temporal pattern; `kind` says which."""

    kind: str
    name: str


@mutable_record
class ExplainEvent(Message):
    """Explain the cause of event `seq`."""

    seq: int


@mutable_record
class ExplainTransition(Message):
    """Explain a transition out of the current phase of `agent`: taken or blocked."""

    way: TransitionStatus
    agent: AgentView


@mutable_record
class GoToTime(Message):
    """Move the cursor to `t` seconds of session time."""

    t: float


@mutable_record
class GoToEvent(Message):
    """Move the cursor to event `seq`."""

    seq: int


@mutable_record
class PaneFailed(Message):
    """A pane's body raised `error` while painting or updating."""

    error: Exception
