"""Parse the style sheets once for each set of theme colours."""

from __future__ import annotations

from textual.css.stylesheet import Stylesheet


class ThemedStylesheet(Stylesheet):
    """Style sheet that is parsed anew when the colours of the theme differ.

    Textual parses everything a second time when an application begins.
    """

    is_stale = False
    """True while it was parsed with other colours than those of the theme."""

    def set_variables(self, variables: dict[str, str]) -> None:
        """Use a theme's colours."""
        if variables != self._variables:
            self.is_stale = True
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse all sources again, if the colours have changed since."""
        if self.is_stale:
            super().reparse()
            self.is_stale = False
