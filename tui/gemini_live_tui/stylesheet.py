"""Parse the style sheets once for each set of theme colours."""

from __future__ import annotations

from textual.css.stylesheet import Stylesheet


class ThemedStylesheet(Stylesheet):
    """Style sheet that is parsed anew when the colours of the theme differ.

    Textual parses everything a second time when an application begins.
    """

    _is_stale = False

    def set_variables(self, variables: dict[str, str]) -> None:
        """Use a theme's colours."""
        if variables != self._variables:
            self._is_stale = True
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse all sources again, if the colours have changed since."""
        if self._is_stale:
            super().reparse()
            self._is_stale = False
