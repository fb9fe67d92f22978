"""Offer the demo and the setup to users without a key; every step is optional."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.launcher import Choice
from gemini_live_tui.messages import Level
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.widgets.modal import TopScreen
from gemini_live_tui.widgets.option_list import OptionList

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

TITLE_WIDTH = 24
WIDTH = 72
"""Most cells of a choice, see `first_run.tcss`."""
FRAME = 6
"""Cells around a choice: the frame, its padding, a scroll bar."""

LEAST_HEIGHT = 22
"""Rows that show everything at once."""

LEAD = "Talk to a live model, and see what its agent does meanwhile."


class WelcomeScreen(TopScreen[None]):
    """Screen of choices."""

    CSS_PATH = "first_run.tcss"

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        self._signs = glyphs(console.settings.ascii)
        self._ready = False
        self.choices = OptionList(id="welcome-choices")
        self.message = Static("", id="message", markup=False)

    def compose(self) -> ComposeResult:
        """Yield greeting, choices and keys."""
        with Vertical(id="welcome-box"):
            yield Static("gemini-live-tui", id="welcome-title", markup=False)
            yield Static(LEAD, id="welcome-lead", markup=False)
            self.choices.border_title = "What would you like to do?"
            yield self.choices
            yield self.message
            yield Static(self._keys(), id="welcome-keys", markup=False)

    def on_resize(self, event: events.Resize) -> None:
        """Scroll the choices where not all fit."""
        self.set_class(event.size.height < LEAST_HEIGHT, "-low")
        if self.choices.option_count:
            self._fill(self.choices.highlighted or 0)

    def on_mount(self) -> None:
        """Highlight the demo."""
        self._fill(0)
        self.choices.focus()

    def on_screen_resume(self) -> None:
        """Look for a key again, in a thread: another screen may have stored one."""
        self._look_for_key()

    @work(group="key", exclusive=True)
    async def _look_for_key(self) -> None:
        starter = self.console.settings.starter
        assert starter is not None
        was_ready = self._ready
        try:
            self._ready = await asyncio.to_thread(starter.key_found)
        except GeminiLiveError as error:
            self._ready = False
            self.say(str(error), "error")
        if self._ready is not was_ready:
            self._fill(0)

    def _fill(self, place: int) -> None:
        self.choices.clear_options()
        self.choices.add_options(self._options())
        self.choices.highlighted = place

    def _options(self) -> Iterator[Option]:
        starter = self.console.settings.starter
        assert starter is not None
        if self._ready:
            yield self._option("start", f"Talk to {starter.describe()}", "everything it needs is there")
        yield self._option("demo", "Try the demo", "a concierge on this machine: no key, no network")
        yield self._option("gallery", "Choose an agent", "six to try without a key, and your own")
        yield Option("", disabled=True)
        yield self._option("key", "Enter an API key", "free ones: aistudio.google.com/apikey")
        yield self._option("vertex", "Use Vertex AI", "through a Google Cloud project")
        yield Option("", disabled=True)
        yield self._option("devices", "Microphone and speaker", "which ones, and whether they hear you")
        yield self._option("microphone-test", "Test the microphone", "five seconds of your voice")
        yield self._option("echo-test", "Test for echo", "will the model hear itself?")
        yield Option("", disabled=True)
        yield self._option("sessions", "Sessions", "look at a past one, or go on with one")
        yield self._option("quit", "Quit", "")

    def _option(self, ident: str, title: str, detail: str) -> Option:
        title = fit(sanitise_line(title), TITLE_WIDTH - 1, self._signs.ellipsis)
        room = min(WIDTH, self.size.width - FRAME) - TITLE_WIDTH
        detail = fit(detail, max(0, room), self._signs.ellipsis)
        return Option(Content.assemble((f"{title:<{TITLE_WIDTH}}", "bold"), detail), id=ident)

    def _keys(self) -> str:
        keymap, ascii_only = self.console.settings.keymap, self.console.settings.ascii

        parts = [f"{key_label('up', ascii_only=ascii_only)} {key_label('down', ascii_only=ascii_only)} enter choose"]
        for ident in ("help", "palette", "quit"):
            keys = keys_of(BY_ID[ident], keymap)
            if keys:
                parts.append(f"{key_label(keys[0], ascii_only=ascii_only)} {BY_ID[ident].title.lower()}")
        return "   ".join(parts)

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show one sentence below the choices."""
        self.message.update(Content(sanitise_line(message, 600)))
        for name in ("info", "warning", "error"):
            self.message.set_class(name == level, f"-{name}")

    @on(OptionList.OptionSelected, "#welcome-choices")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        ident = event.option_id or ""
        console = self.console
        if ident == "quit":
            console.action_hang_up_and_quit()
        elif ident in ("start", "demo"):
            try:
                console.begin(Choice(demo=ident == "demo"))
            except GeminiLiveError as error:
                self.say(str(error), "error")
        else:
            console.action_open(ident)
