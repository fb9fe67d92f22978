"""Find actions and themes by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from gemini_live_tui.actions import ACTIONS, BEFORE_A_SESSION, PANES, PLACES, Action
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.actions.slash import form_of
from gemini_live_tui.widgets.option_list import has_line

if TYPE_CHECKING:
    from textual._widget_navigation import Direction

    from gemini_live_tui.context import ConsoleContext

LEAST_OF_HELP = 3
"""Least characters of a query that is looked for in descriptions, too."""

HELP_SCORE = 1e-6
"""Score of a match in the description, below that of any name."""

Command = tuple[str, str, Callable[[], Any]]


def palette_name(action: Action) -> str:
    """Return an action's name with its group, and with its pane if it has one."""
    pane = f" ({PLACES[action.scope].title})" if action.scope in PANES else ""
    return f"{action.group}: {action.title}{pane}"


class FoundCommands(CommandList, can_focus=False):
    """Textual's list of commands; its page keys do nothing before it is laid out."""

    def _move_page(self, direction: Direction) -> None:
        if has_line(self):
            super()._move_page(direction)


class CommandsScreen(CommandPalette):
    """Command palette in the console's looks."""

    CSS_PATH = "palette.tcss"
    PASSING = True

    def __init__(self) -> None:
        super().__init__(providers=[ConsoleCommands], placeholder="Search for a command: enter runs it, esc closes")

    @classmethod
    def of(cls, console: ConsoleContext) -> CommandsScreen:
        """Return the palette."""
        return cls()

    def compose(self) -> ComposeResult:
        """Yield Textual's contents with another list."""
        for part in super().compose():
            yield FoundCommands() if type(part) is CommandList else part

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the palette; does nothing below another screen, as in `TopScreen`."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    # A search may end while the palette is being removed, after its list was: Textual would then fail
    # on the list and end the console.

    def _watch__list_visible(self) -> None:
        if self.query(CommandList):
            super()._watch__list_visible()

    async def _watch__show_busy(self) -> None:
        if self.query(CommandList):
            await super()._watch__show_busy()


class ConsoleCommands(Provider):
    """Provider of the actions and the themes."""

    @property
    def _console(self) -> ConsoleContext:
        return cast("ConsoleContext", self.app)

    def _makes_sense(self, action: Action) -> bool:
        console = self._console
        if console.waiting:
            return action.group in BEFORE_A_SESSION
        return not (console.settings.replay and (action.is_for_calls or not action.action))

    def _commands(self) -> Iterator[Command]:
        console = self._console
        for action in ACTIONS:
            if action.palette and self._makes_sense(action):
                keys = ", ".join(key_label(key) for key in keys_of(action, console.settings.keymap))
                keys = keys or (form_of(action).usage if action.slash else "")
                help_text = f"{action.description} ({keys})" if keys else action.description
                yield palette_name(action), escape(help_text), console.performer(action.id)
        for name in console.themes.names:
            yield (
                f"Theme: {name}",
                "Use this theme for now; the config file sets it for good",
                partial(console.themes.switch_to, name),
            )

    async def discover(self) -> Hits:
        """Yield all commands before anything is typed."""
        for title, help_text, callback in self._commands():
            yield DiscoveryHit(Content.styled(title, "bold"), callback, text=title, help=help_text)

    async def search(self, query: str) -> Hits:
        """Yield commands whose names match, then those whose descriptions do."""
        matcher, words = self.matcher(query), query.casefold().split()
        for title, help_text, callback in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title).stylize("bold"), callback, text=title, help=help_text)
            elif len(query) >= LEAST_OF_HELP and all(word in help_text.casefold() for word in words):
                yield Hit(HELP_SCORE, Content.styled(title, "bold"), callback, text=title, help=help_text)
