"""Name the words before what a sentence says."""

from __future__ import annotations

OPENINGS = frozenset({
    "hello", "hi", "hey", "ok", "okay", "so", "and", "but", "well", "um", "uh", "er", "oh", "sorry", "please", "now",
    "then", "actually", "right", "yes", "yeah", "no", "just", "wait", "hiya", "hallo",
})  # fmt: skip
"""Words before what a sentence says."""
