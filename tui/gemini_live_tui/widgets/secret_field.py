"""A field for a secret: dots instead of letters, nothing of it in a log, a selection or a representation."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Input


class SecretField(Input):
    """One line. `take` gives the secret away and forgets it."""

    def __init__(self, *, id: str | None = None, ascii_only: bool = False, placeholder: str = "") -> None:
        super().__init__(id=id, password=True, placeholder=placeholder)
        self._dot = "*" if ascii_only else "•"

    @property
    def _value(self) -> Text:
        return Text(self._dot * len(self.value), no_wrap=True, overflow="ignore", end="")

    def action_copy(self) -> None:
        """Nothing can be copied out of it."""

    def action_cut(self) -> None:
        """Nor cut."""

    def take(self) -> str:
        """The secret; the field is empty afterwards."""
        secret = self.value
        self.value = ""
        return secret
