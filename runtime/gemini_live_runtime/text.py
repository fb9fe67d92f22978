"""Sanitise text for display.

Sanitising removes what a terminal would obey and what would reorder or hide text; it keeps every printable character.
All text from outside passes it on the way to a display.
"""

from __future__ import annotations

import re

# ECMA-48 sequences: OSC/DCS/SOS/PM/APC strings up to their terminator, CSI sequences, then any other escape pair.
_SEQUENCES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 but tab and newline, DEL, C1; bidi controls and isolates; invisible operators, annotations, tags and the BOM.
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f"
)
_INVISIBLE = re.compile(f"[{_UNSEEN}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEEDS_WORK = re.compile(f"[{_UNSEEN}\ud800-\udfff]")


def sanitise(text: str) -> str:
    """Remove escape sequences, control characters and bidi overrides from text.

    Newlines and tabs stay; carriage returns become newlines, lone surrogates U+FFFD. Idempotent.
    """
    if text.isprintable() or not _NEEDS_WORK.search(text):  # the first is far quicker, but False for tab and newline
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SEQUENCES.sub("", text)
    text = _INVISIBLE.sub("", text)
    return _SURROGATE.sub("\ufffd", text)


def sanitise_line(text: str, limit: int = 0) -> str:
    """Sanitise text into one line of at most `limit` characters; 0 is no limit."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        line = text  # the usual case
    else:
        line = " ".join(sanitise(text).split())
    return line if limit <= 0 or len(line) <= limit else line[: limit - 1] + "…"
