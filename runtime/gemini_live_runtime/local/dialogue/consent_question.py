"""Ask a client's question of consent in its own words, and take yes or no.

Clients give the question as one line of JSON between two tags. They decide whether the answer counts: here it only gets
a reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gemini_live_runtime.local.scripts.script_types import Pattern

_BLOCK = re.compile(r"^<consent>\n(\{.*\})\n</consent>$", re.MULTILINE)

MAX_SPOKEN = 600
"""Characters of a question that are spoken."""

YES = ("yes", "yes please", "yes do it", "yes go ahead", "go ahead", "please do", "sure", "yeah")
NO = ("no", "no thanks", "no thank you", "please don't", "do not", "rather not", "not now")

_WORDS = re.compile(r"[\w']+")


class ConsentQuestion:
    """Question of consent of one conversation."""

    def __init__(self) -> None:
        self._waiting = ""
        """Question to ask at the next prompt."""
        self._is_asked = False

    def take(self, note: str) -> bool:
        """Take a question from a note; return False for a note without one."""
        found = _BLOCK.search(note)
        try:
            data = json.loads(found[1]) if found else None
        except (ValueError, RecursionError):
            return False
        question = data.get("question") if isinstance(data, Mapping) else None
        if not isinstance(question, str) or not (words := " ".join(question.split())[:MAX_SPOKEN]):
            return False
        self._waiting = words
        return True

    def ask(self) -> str:
        """Return the question that waits, once; "" for none."""
        question, self._waiting = self._waiting, ""
        self._is_asked = self._is_asked or bool(question)
        return question

    def reply_to(self, text: str) -> str:
        """Return a reply to a yes or a no; "" for other words, and without a question."""
        is_asked, self._is_asked = self._is_asked, False
        said = " ".join(_WORDS.findall(text.lower().replace("\u2019", "'")))
        if not is_asked:
            return ""
        return "All right." if said in YES else "All right, I won't." if said in NO else ""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Phrases that answer the question, while it is open."""
        return tuple(tuple(phrase.split()) for phrase in (*YES, *NO)) if self._is_asked else ()

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON for `restore`."""
        return {"waiting": self._waiting, "asked": self._is_asked}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `snapshot`."""
        self._waiting, self._is_asked = str(state.get("waiting", "")), state.get("asked") is True
