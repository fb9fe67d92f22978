"""The signs the console draws: one set for Unicode terminals, one for `--ascii`.

Every sign is one cell wide and none has an emoji form that terminals widen; every state has a word beside its sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gemini_live_runtime.events import StateWord


STATE_LABELS: Mapping[StateWord, str] = {
    "offline": "OFFLINE",
    "connecting": "CONNECTING",
    "listening": "LISTENING",
    "hearing": "HEARING",
    "thinking": "THINKING",
    "speaking": "SPEAKING",
    "interrupted": "INTERRUPTED",
    "text": "TEXT",
    "error": "ERROR",
}
"""The word shown for each state; no state is told by colour or sign alone."""

STATE_WIDTH = max(len(label) for label in STATE_LABELS.values())


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of signs. `eighths` holds the fills of one bar cell from 1/n to full, `track` an empty one."""

    states: Mapping[StateWord, str]
    eighths: str
    track: str
    peak: str
    dot: str
    cut: str
    arrow: str
    prompt: str
    down: str
    up: str
    record: str
    stop: str
    """A breakpoint."""
    mark: str
    separator: str
    bar: str
    ellipsis: str
    border: str
    """Textual's name of the border style."""


UNICODE = Glyphs(
    states={
        "offline": "○",
        "connecting": "◌",
        "listening": "●",
        "hearing": "●",
        "thinking": "◍",
        "speaking": "●",
        "interrupted": "✂",
        "text": "□",
        "error": "✗",
    },
    eighths="▏▎▍▌▋▊▉█",
    track="─",
    peak="│",
    dot="●",
    cut="✂",
    arrow="→",
    prompt="›",
    down="↓",
    up="↑",
    record="●",
    stop="■",
    mark="⚑",
    separator="·",
    bar="│",
    ellipsis="…",
    border="round",
)

ASCII = Glyphs(
    states={
        "offline": "o",
        "connecting": ".",
        "listening": "*",
        "hearing": "*",
        "thinking": "?",
        "speaking": ">",
        "interrupted": "/",
        "text": "#",
        "error": "x",
    },
    eighths="#",
    track="-",
    peak="|",
    dot="*",
    cut="/",
    arrow="->",
    prompt=">",
    down="v",
    up="^",
    record="*",
    stop="B",
    mark="m",
    separator="-",
    bar="|",
    ellipsis="...",
    border="ascii",
)


def glyphs(ascii_only: bool) -> Glyphs:
    """The set for this terminal."""
    return ASCII if ascii_only else UNICODE
