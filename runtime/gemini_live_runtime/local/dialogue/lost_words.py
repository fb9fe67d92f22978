"""Read in a client's note what got no answer before a connection was lost."""

from __future__ import annotations

import json
import re

_BEGIN = re.compile(r"^(?:\[context\] )?the connection was lost before you had answered", re.IGNORECASE)
_SAID = re.compile(r'^The user has said: (".*")$', re.MULTILINE)

MAX_LOST = 32
"""Texts and utterances of a note that are answered; of more the newest."""


class LostWords:
    """Words of the user on an earlier connection that the client wants an answer to."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        """Each text or utterance, from the note to the next answer."""

    def take(self, note: str) -> bool:
        """Keep a note; return False for one about something else."""
        if _BEGIN.match(note) is None:
            return False
        try:
            said = [str(json.loads(quoted)).strip() for quoted in _SAID.findall(note)[-MAX_LOST:]]
        except ValueError:
            said = []
        self.texts = [text for text in said if text]
        return True

    def pop(self) -> list[str]:
        """Return what was said, and forget it."""
        texts, self.texts = self.texts, []
        return texts
