"""Read in a client's notes the results of calls that this server does not know."""

from __future__ import annotations

import json
import re
from typing import Any

_NOTE = re.compile(r"^(?:\[context\] )?\[result of ([^\]]{1,128})\] (\{.*\})$", re.IGNORECASE | re.DOTALL)

_RECALLED = re.compile(r"^\[Tool: ([^(\]]{1,128})\(.*\) → (\{.*\})\]$")

MAX_TOLD = 8
"""Results kept until the next answer; the oldest are dropped."""


def results_without_answer(recall: str) -> list[str]:
    """Return notes of the results at the end of what was said before."""
    notes: list[str] = []
    for line in reversed(recall.splitlines()[-MAX_TOLD:]):
        if (found := _RECALLED.match(line)) is None:
            break
        notes.insert(0, f"[Result of {found[1]}] {found[2]}")
    # A result that is too long for the line is cut.
    return [note for note in notes if ToldResults().take(note)]


class ToldResults:
    """Results of calls of an earlier connection, until the next answer."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, dict[str, Any]]] = []

    def take(self, note: str) -> bool:
        """Keep a note; return False for one about something else."""
        if (found := _NOTE.match(note)) is None:
            return False
        try:
            self._waiting = [*self._waiting, (found[1], json.loads(found[2]))][-MAX_TOLD:]
        except ValueError:
            return False
        return True

    def pop(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the tools and their responses, and forget them."""
        waiting, self._waiting = self._waiting, []
        return waiting
