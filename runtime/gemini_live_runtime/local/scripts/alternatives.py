"""Expand a sentence with alternatives: "stop (my|the) timer" is two sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import prod

MAX_SENTENCES = 500
"""Most sentences that one may stand for."""

_GROUP = re.compile(r"\(([^()]*)\)")


def expanded(text: str) -> Iterator[str]:
    """Yield the sentences `text` stands for, the last alternatives changing first.

    An alternative without words leaves the place empty: "(just|) say". Raises `ValueError`, with a sentence for its
    reader, for a parenthesis without its partner or within others, and for more than `MAX_SENTENCES`.
    """
    parts = _GROUP.split(text)
    if any(sign in part for part in parts[::2] for sign in "()"):
        raise ValueError("has a parenthesis without its partner, or within others")
    choices = [part.split("|") if place % 2 else [part] for place, part in enumerate(parts)]
    if (count := prod(map(len, choices))) > MAX_SENTENCES:
        raise ValueError(f"stands for {count} sentences, more than {MAX_SENTENCES}")
    return map("".join, product(*choices))
