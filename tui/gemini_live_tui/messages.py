"""What widgets tell the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order


@dataclass
class TextSubmitted(Message):
    """The operator wants `text` sent; the prompt still holds it."""

    text: str


@dataclass
class FollowChanged(Message):
    """A line list began or stopped to follow its end, or was scrolled somewhere else."""

    following: bool


@dataclass
class ActionChosen(Message):
    """An action was chosen with the mouse."""

    id: str


@dataclass
class Said(Message):
    """A widget has something to say to the operator that goes away by itself."""

    text: str


@dataclass
class PaneChanged(Message):
    """The operator changed how the pane `pane` shows what it shows."""

    pane: str


@dataclass
class Ordered(Message):
    """A pane's wish to the engine."""

    order: Order


@dataclass
class RoomWanted(Message):
    """A room is to be opened."""

    name: str


@dataclass
class Explain(Message):
    """The operator wants to know why event `seq` came to be."""

    seq: int


@dataclass
class MomentWanted(Message):
    """The reader pointed at a moment: `t` seconds of session time."""

    t: float


@dataclass
class EventWanted(Message):
    """The reader wants to stand at event `seq`."""

    seq: int


@dataclass
class BodyFailed(Message):
    """A pane's body raised while it was painted or told of something."""

    error: Exception
