"""Make the main screen's widgets and arrange them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import MountError

from gemini_live_tui.actions import BY_ID, slash
from gemini_live_tui.actions.arguments import choices
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.console.banner import Banner
from gemini_live_tui.console.completions import Completions
from gemini_live_tui.console.consent_row import ConsentRow
from gemini_live_tui.console.header import Header
from gemini_live_tui.console.held_row import HeldRow
from gemini_live_tui.console.key_bar import KeyBar
from gemini_live_tui.console.meter_strip import MeterStrip
from gemini_live_tui.console.pane_bodies import bodies
from gemini_live_tui.console.pane_grid import PaneGrid
from gemini_live_tui.console.prompt_pane import PromptPane
from gemini_live_tui.console.speech_row import SpeechRow
from gemini_live_tui.console.tab_bar import TabBar
from gemini_live_tui.console.time_travel_row import TimeTravelRow
from gemini_live_tui.console.too_small import TooSmall
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.pane_layout import PaneLayout
from gemini_live_tui.panes.transcript_body import TranscriptBody
from gemini_live_tui.saved_layout import recall

if TYPE_CHECKING:
    from gemini_live_tui.console.prompt import Prompt
    from gemini_live_tui.context import ConsoleContext


class ComposedScreen(Screen[None]):
    """Main screen without its behaviour: rows, with the panes' grid in the middle."""

    # There single keys are commands. The first widget that can have the focus is the hidden line of the search.
    AUTO_FOCUS = "#transcript"

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        self._settings = console.settings
        self._store = console.store
        self._make_widgets()

    def _make_widgets(self) -> None:
        settings = self._settings
        signs = glyphs(settings.ascii)
        keys = keys_of(BY_ID["text-mode"], settings.keymap)
        text_key = key_label("f2" if "f2" in keys else keys[0])
        logs_key = key_label(keys_of(BY_ID["pane-logs"], settings.keymap)[0])
        remembered = recall(settings.memory)
        # Files written before 0.2 call the layout "desk".
        layout = PaneLayout.from_json(remembered.get("layout", remembered.get("desk"))).at_start()
        self.too_small = TooSmall(id="too-small", glyphs=signs)
        self.header = Header(id="header", glyphs=signs, replay=settings.replay)
        self.meters = MeterStrip(id="meters", glyphs=signs)
        self.banner = Banner(id="banner", glyphs=signs, rest=f"(all of it in {logs_key} Logs)")
        self.tabs = TabBar(id="tabs")
        self.body = TranscriptBody(settings, text_key=text_key, session_state=self._session_state)
        self.transcript = self.body.transcript
        self.grid = PaneGrid(self.body, partial(bodies, self.console), settings, layout)
        self.held_row = HeldRow(id="held", keymap=settings.keymap, glyphs=signs, ascii_only=settings.ascii)
        self.consent_row = ConsentRow(id="consent", keymap=settings.keymap, glyphs=signs, ascii_only=settings.ascii)
        self.speech_row = SpeechRow(id="speech-row", glyphs=signs)
        self.time_travel_row = TimeTravelRow(
            id="time-travel-row",
            keymap=settings.keymap,
            glyphs=signs,
            ascii_only=settings.ascii,
            recording=settings.replay,
        )
        self.grid.lends_to = (self.banner, self.speech_row, self.held_row, self.consent_row)
        self.completions = Completions(id="completions", glyphs=signs)
        write_key = key_label(keys_of(BY_ID["write"], settings.keymap)[0], ascii_only=settings.ascii)
        self.prompt_pane = PromptPane(self._make_prompt, glyphs=signs, text_key=text_key, write_key=write_key)
        self.key_bar = KeyBar(
            id="key-bar",
            keymap=settings.keymap,
            ascii_only=settings.ascii,
            tmux=settings.tmux,
        )

    def compose(self) -> ComposeResult:
        """Yield the rows of the first frame, downwards; a recording has no prompt."""
        yield self.too_small
        yield self.header
        yield self.meters
        yield self.banner
        yield self.tabs
        yield self.grid
        if not self._settings.replay:
            yield self.prompt_pane
        yield self.key_bar

    async def complete(self) -> None:
        """Add what the first frame does not show: hidden rows and the other panes."""
        try:
            with self.app.batch_update():
                await self.mount_all(
                    (self.speech_row, self.held_row, self.consent_row, self.time_travel_row), after=self.grid
                )
                if not self._settings.replay:
                    await self.mount(self.completions, after=self.prompt_pane)
                    self.prompt_pane.complete()
                await self.body.complete()
            await self.grid.complete()
        except MountError:
            # Textual takes no more widgets from a key on that quits.
            if self.is_attached:
                raise

    def _session_state(self) -> tuple[bool, bool]:
        """Return two facts: connected to a session, and session over."""
        store = self._store
        connected = store.hello is not None and bool(store.view.session_id)
        return connected, bool(store.lost) or store.bye is not None or store.word == "error"

    @property
    def prompt(self) -> Prompt:
        """The prompt; a recording shows none."""
        return self.prompt_pane.prompt

    def _make_prompt(self) -> Prompt:
        from gemini_live_tui.console.prompt import Prompt

        return Prompt(self.completions, id="prompt", keymap=self._settings.keymap, suggest=self._suggest)

    def _suggest(self, text: str) -> Sequence[slash.Suggestion]:
        view, themes = self._store.view, self.console.themes.names
        return slash.suggest(text, lambda kind, written: choices(kind, written, view, themes))
