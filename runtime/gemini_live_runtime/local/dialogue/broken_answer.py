"""Read in a client's note that an answer broke off, and find the rest of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_BEGIN = re.compile(r"^(?:\[context\] )?your last answer broke off", re.IGNORECASE)
_ASKED = re.compile(r'^The user had said: (".*")$', re.MULTILINE)
_SAID = re.compile(r'^You have said so far: (".*")$', re.MULTILINE)


class BrokenAnswer:
    """Answer of an earlier connection of which the client wants the rest."""

    def __init__(self) -> None:
        self.is_wanted = False
        """True from the note to the next answer."""
        self.asked = ""
        """Words of the user before it."""
        self.said = ""
        """Words of the answer that had arrived."""

    def take(self, note: str) -> bool:
        """Keep a note; return False for one about something else."""
        if _BEGIN.match(note) is None:
            return False
        self.is_wanted, self.asked, self.said = True, _quoted(_ASKED, note), _quoted(_SAID, note)
        return True

    def forget(self) -> None:
        """Forget it: something else is answered."""
        self.is_wanted = False

    def rest_of(self, answers: Iterable[str]) -> str:
        """Return the rest of the first answer with the words that were said, or ""."""
        said = self.said.split()
        for answer in answers:
            words = answer.split()
            for at in range(len(words) - len(said) + 1):
                if words[at : at + len(said)] == said:
                    return " ".join(words[at + len(said) :])
        return ""


def _quoted(pattern: re.Pattern[str], note: str) -> str:
    found = pattern.search(note)
    try:
        return str(json.loads(found[1])) if found else ""
    except ValueError:
        return ""
