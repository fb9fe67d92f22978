"""Load the themes that can be used, and switch between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_live_runtime.errors import ConfigError
from gemini_live_tui import theming

if TYPE_CHECKING:
    from textual.app import App

    from gemini_live_tui.messages import Level
    from gemini_live_tui.settings import ConsoleOutcome, ConsoleSettings


class ThemeSwitcher:
    """Themes of one console."""

    def __init__(self, app: App[ConsoleOutcome], settings: ConsoleSettings, say: Callable[[str, Level], None]) -> None:
        self._app = app
        self._settings = settings
        self._say = say
        self.names: list[str] = []
        """Names of the themes that can be used."""

    def use_first(self, name: str) -> list[str]:
        """Use a theme, "" for one that fits the terminal; return why another is used."""
        problems: list[str] = []
        try:
            theme = theming.load_theme(name or self._fitting(), self._settings.themes_dir)
        except ConfigError as error:
            problems.append(str(error))
            theme = theming.read_theme(theming.bundled_dir() / f"{self._fitting()}.toml")
        self._app.register_theme(theme.to_textual())
        self._app.theme = theme.name
        return problems

    def load_others(self) -> list[str]:
        """Load all other themes; return what is wrong with those that cannot be used."""
        themes, failures = theming.load_themes(self._settings.themes_dir)
        for name, theme in themes.items():
            if name != self._app.theme:
                self._app.register_theme(theme.to_textual())
        self.names = list(themes)
        # The theme of the settings was tried, and reported, before the first frame.
        return [failure.sentence for failure in failures if failure.name != self._settings.theme]

    def switch_to(self, name: str) -> None:
        """Switch to the theme `name`, and say so."""
        self._app.theme = name
        self._say(f"Theme {name}.", "info")

    def switch_if_known(self, name: str) -> None:
        """Switch to the theme `name`, or say which themes there are."""
        if name in self.names:
            self.switch_to(name)
        else:
            known = ", ".join(self.names)
            self._say(f"There is no theme {name[:60]!r}. Known: {known}.", "warning")

    def switch_to_next(self) -> None:
        """Switch to the next theme by name."""
        if self.names:
            at = self.names.index(self._app.theme) if self._app.theme in self.names else -1
            self.switch_to(self.names[(at + 1) % len(self.names)])

    def _fitting(self) -> str:
        few_colours = self._app.no_color or self._app.console.color_system in ("standard", "windows", None)
        return theming.SIXTEEN_COLOURS if few_colours else theming.DEFAULT
