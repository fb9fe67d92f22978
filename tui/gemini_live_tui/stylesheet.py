"""Parse the style sheets once for each set of theme colours."""

from __future__ import annotations

from functools import lru_cache

from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

MAX_SOURCES = 256
"""Most sources whose rules are kept for a set of colours; each class of widgets with defaults is one."""

MAX_THEMES = 16
"""Most sets of colours whose rules are kept."""


class ThemedStylesheet(Stylesheet):
    """Style sheet that is parsed anew when the colours of the theme differ.

    Textual parses everything a second time when an application begins. A theme that was shown before, as in the picker,
    is not parsed again.
    """

    is_stale = False
    """True while it was parsed with other colours than those of the theme."""

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._parse_cache = _rules_for(frozenset(self._variables.items()))

    def set_variables(self, variables: dict[str, str]) -> None:
        """Use a theme's colours."""
        if variables != self._variables:
            self.is_stale = True
            self._parse_cache = LRUCache(1)  # Textual clears it, and the rules of the last theme are to stay.
            super().set_variables(variables)
            self._parse_cache = _rules_for(frozenset(variables.items()))

    def reparse(self) -> None:
        """Parse all sources again, if the colours have changed since.

        Sources that cannot be parsed leave the rules as they are.
        """
        if self.is_stale:
            self.parse()
            self.is_stale = False


@lru_cache(MAX_THEMES)
def _rules_for(colours: frozenset[tuple[str, str]]) -> LRUCache[tuple[object, ...], list[RuleSet]]:
    """Return the rules that were parsed with these colours, by source."""
    return LRUCache(MAX_SOURCES)
