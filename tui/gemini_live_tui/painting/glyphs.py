"""Define the console's signs, for Unicode terminals and for `--ascii`.

Every sign is one cell wide and none has an emoji form that terminals widen; every state has a word beside its sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.events import StateWord


STATE_LABELS: Mapping[StateWord, str] = {
    "offline": "OFFLINE",
    "connecting": "CONNECTING",
    "dormant": "DORMANT",
    "listening": "LISTENING",
    "hearing": "HEARING",
    "thinking": "THINKING",
    "speaking": "SPEAKING",
    "interrupted": "INTERRUPTED",
    "text": "TEXT",
    "error": "ERROR",
}
"""Words of the states; colour and sign alone name no state."""

STATE_WIDTH = max(len(label) for label in STATE_LABELS.values())


@record
class Glyphs:
    """Set of signs. `eighths` fill a bar's cell from 1/n to full, `track` is empty."""

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
    """Breakpoint."""
    mark: str
    separator: str
    bar: str
    ellipsis: str
    yes: str
    no: str
    open: str
    here: str
    handoff: str
    muted: str
    changed: str
    folded: str
    unfolded: str
    border: str
    """Textual's name of the border style."""
    levels: str
    """Eight heights of a column, lowest first."""
    fill: str
    """Cell of speech, of something that runs, or of time that passes."""
    voices: str
    """Cells in which the user speaks, the model, and both."""
    rule: str
    """Cell of an axis, and of something that goes on."""
    tick: str
    """Moment on an axis or a lane."""
    diamond: str
    """Begin of a phase."""
    pointer: str
    """Arrow up to a moment."""
    still: str
    """Cell of silence."""
    spoken: str
    """Place before the first word that was not spoken yet."""


UNICODE = Glyphs(
    states={
        "offline": "○",
        "connecting": "◌",
        "dormant": "◑",
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
    handoff="⇄",
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
    spoken="▸",
)

ASCII = Glyphs(
    states={
        "offline": "o",
        "connecting": ".",
        "dormant": "z",
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
    handoff="<>",
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
    spoken=">",
)


def glyphs(ascii_only: bool) -> Glyphs:
    """Return the set for a terminal."""
    return ASCII if ascii_only else UNICODE
