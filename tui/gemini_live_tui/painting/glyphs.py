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
    yes: str
    no: str
    open: str
    here: str
    muted: str
    changed: str
    folded: str
    unfolded: str
    border: str
    """Textual's name of the border style."""
    levels: str
    """Eight heights of a column, lowest first."""
    fill: str
    """A cell in which somebody speaks, something runs, or time goes by."""
    voices: str
    """Cells in which the user speaks, the model, and both."""
    rule: str
    """A cell of an axis, and of what goes on."""
    tick: str
    """A moment on an axis, or on a lane."""
    diamond: str
    """Where a phase begins."""
    pointer: str
    """Points up at a moment."""
    still: str
    """A cell in which nothing is heard."""


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
    yes="✓",
    no="✗",
    open="○",
    here="▶",
    muted="◌",
    changed="◆",
    folded="▸",
    unfolded="▾",
    border="round",
    levels="▁▂▃▄▅▆▇█",
    fill="█",
    voices="▀▄█",
    rule="─",
    tick="┼",
    diamond="◆",
    pointer="▲",
    still="·",
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
    yes="+",
    no="x",
    open="o",
    here=">",
    muted=".",
    changed="*",
    folded=">",
    unfolded="v",
    border="ascii",
    levels="_.:-=+*#",
    fill="#",
    voices="umB",
    rule="-",
    tick="+",
    diamond="*",
    pointer="^",
    still=".",
)


def glyphs(ascii_only: bool) -> Glyphs:
    """The set for this terminal."""
    return ASCII if ascii_only else UNICODE
