"""Choose a theme; the console itself is the preview."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui import theming
from gemini_live_tui.widgets.modal import TopModalScreen
from gemini_live_tui.widgets.option_list import OptionList

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.messages import Level

SAMPLE = (
    (("you", "speaker-user"), ("model", "speaker-model"), ("tool", "speaker-tool"), ("phase", "phase")),
    (("watch", "watcher"), ("mark", "mark"), ("good", "confirmed"), ("warn", "caution"), ("error", "failure")),
)
"""Words shown in their colours, row by row."""


class ThemesScreen(TopModalScreen[None]):
    """Usable themes with their origin, and below them the faults of the others."""

    CSS_PATH = "themes.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "restore", "Keep the old one", show=False)]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        self._before = self.app.theme
        folder = console.settings.themes_dir
        self._themes, self._failures = theming.load_themes(folder)
        self._own = {path.stem for path in folder.glob("*.toml")} if folder is not None and folder.is_dir() else set()

    def compose(self) -> ComposeResult:
        """Yield list, sample and faults."""
        with Vertical(id="themes-box") as box:
            box.border_title = "Themes"
            box.border_subtitle = "enter keeps, esc restores"
            yield OptionList(*self._options(), id="themes-list")
            yield Static("", id="themes-sample", markup=False)
            if self._failures:
                yield Static(self._failed(self._failures), id="themes-failed", markup=False)

    def on_mount(self) -> None:
        """Highlight the theme in use."""
        choices = self.query_one(OptionList)
        names = list(self._themes)
        choices.highlighted = names.index(self._before) if self._before in names else 0
        choices.focus()

    def _options(self) -> list[Option]:
        width = max(map(len, self._themes))
        options = []
        for name, theme in self._themes.items():
            kind = "16 colours" if theme.ansi else "dark" if theme.dark else "light"
            notes = [kind, *(["yours"] if name in self._own else []), *(["in use"] if name == self._before else [])]
            options.append(Option(Content.assemble((f"{name:<{width}}", "bold"), f"  {', '.join(notes)}"), id=name))
        return options

    def _failed(self, failures: Sequence[theming.ThemeFailure]) -> str:
        sentences = "\n".join(sanitise_line(failure.sentence) for failure in failures)
        return f"Cannot be used:\n{sentences}"

    @on(OptionList.OptionHighlighted)
    def _preview(self, message: OptionList.OptionHighlighted) -> None:
        name = message.option.id
        if name is None:
            return
        theme = self._themes[name].to_textual()
        self.app.register_theme(theme)
        self.app.theme = name
        colours = self._themes[name].variables
        rows = [Content("  ").join(Content.styled(word, colours[look]) for word, look in row) for row in SAMPLE]
        self.query_one("#themes-sample", Static).update(Content("\n").join(rows))

    @on(OptionList.OptionSelected)
    def _keep(self, message: OptionList.OptionSelected) -> None:
        name = message.option.id or self._before
        self.console.themes.names = list(self._themes)
        self.dismiss()
        self.console.say(*self._written(name))

    def _written(self, name: str) -> tuple[str, Level]:
        """Save the choice in the config file; return the message about it."""
        from gemini_live_tui import config

        path = self.console.settings.config_path
        if path is None:
            return f"Theme {name}, for this session.", "info"
        from gemini_live_tui.set_up.saving import path_for

        try:
            path = path_for("ui.theme", self.console.settings.profile, path)
            config.set_value(path, "ui.theme", name)
        except ConfigError as error:
            return f"Theme {name}, for this session only. {error}", "warning"
        variable = config.variable_of("ui.theme")
        if variable in os.environ:
            return f"Theme {name} is kept, but {variable} is set and overrides it next time.", "warning"
        where = "the config file" if path == self.console.settings.config_path else "the profile"
        return f"Theme {name} is kept in {where}.", "info"

    def action_restore(self) -> None:
        """Restore the former theme."""
        self.app.theme = self._before
        self.dismiss()
