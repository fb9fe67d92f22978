"""Read in a client's note what got no answer before a connection was lost."""

from __future__ import annotations

import json
import re

_BEGIN = re.compile(r"^(?:\[context\] )?the connection was lost before you had answered", re.IGNORECASE)
_SAID = re.compile(r'^The user has said: (".*")$', re.MULTILINE)


class LostWords:
    """Words of the user on an earlier connection that the client wants an answer to."""

    def __init__(self) -> None:
        self.text = ""
        """The words, from the note to the next answer; "" for none."""

    def take(self, note: str) -> bool:
        """Keep a note; return False for one about something else."""
        if _BEGIN.match(note) is None:
            return False
        try:
            self.text = " ".join(str(json.loads(said)).strip() for said in _SAID.findall(note))
        except ValueError:
            self.text = ""
        return True

    def pop(self) -> str:
        """Return the words, and forget them."""
        text, self.text = self.text, ""
        return text
