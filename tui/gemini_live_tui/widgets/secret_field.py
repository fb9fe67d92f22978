"""Edit a secret: dots for letters, no trace in logs, selection or representation."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Input


class SecretField(Input):
    """Line of dots; `take` returns the secret and forgets it."""

    def __init__(self, *, id: str | None = None, ascii_only: bool = False, placeholder: str = "") -> None:
        super().__init__(id=id, password=True, placeholder=placeholder)
        self._dot = "*" if ascii_only else "•"
        # A blinking cursor would repaint an idle screen.
        self.cursor_blink = False

    @property
    def _value(self) -> Text:
        return Text(self._dot * len(self.value), no_wrap=True, overflow="ignore", end="")

    def action_copy(self) -> None:
        """Copy nothing."""

    def action_cut(self) -> None:
        """Cut nothing."""

    def take(self) -> str:
        """Return the secret and empty the field."""
        secret = self.value
        self.value = ""
        return secret
