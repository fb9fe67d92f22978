"""Show the transcript, and a greeting below it until the user has said something."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Input

from gemini_live_runtime.journal.fold.view import Block, Dirty, SessionView
from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import hints, key_label, keys_of
from gemini_live_tui.messages import KeysChanged, PaneChanged
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.painting.painted import Guarded
from gemini_live_tui.pane_layout import FOLLOWING
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.panes.empty_transcript import Welcome
from gemini_live_tui.panes.transcript import Transcript
from gemini_live_tui.settings import ConsoleSettings
from gemini_live_tui.widgets.filter_line import FilterLine

MAX_NOTICES = 20
"""Most notices below which the greeting is shown."""


class TranscriptBody(Guarded, Container):
    """Transcript and greeting.

    `session_state` returns two facts: connected, and session over.
    """

    dirty = Dirty.TRANSCRIPT
    DEFAULT_CSS = """
    TranscriptBody { background: $background; }
    TranscriptBody > Transcript { background: $background; color: $foreground; display: none; }
    TranscriptBody > Transcript.-shown { display: block; }
    TranscriptBody > Transcript.-brief { height: auto; max-height: 50%; }
    """

    def __init__(
        self, settings: ConsoleSettings, *, text_key: str, session_state: Callable[[], tuple[bool, bool]]
    ) -> None:
        super().__init__()
        signs = glyphs(settings.ascii)
        self.transcript = Transcript(id="transcript", glyphs=signs, key_of=self._key_of)
        hint = " ".join(hints((settings.hint,), settings.keymap, ascii_only=settings.ascii))
        write_key = key_label(keys_of(BY_ID["write"], settings.keymap)[0], ascii_only=settings.ascii)
        self.welcome = Welcome(id="welcome", glyphs=signs, hint=hint, text_key=text_key, write_key=write_key)
        self.welcome.add_class("-shown")
        self.search = SearchLine()
        self._glyphs = signs
        self._settings = settings
        self._session_state = session_state
        self._view = SessionView()
        self._any = False
        self._live = False
        self._forgotten = 0

    def _key_of(self, ident: str) -> str:
        """Return key and title of an action, "" for an unknown one."""
        action = BY_ID.get(ident)
        if action is None or self._settings.replay:
            return ""
        keys = keys_of(action, self._settings.keymap)
        shown = key_label(keys[0], ascii_only=self._settings.ascii) if keys else f"/{action.slash.split()[0]}"
        return f"{shown} {action.title}"

    @property
    def unusable(self) -> tuple[str, ...]:
        """Ids of the actions that mean nothing now: those of a search without one."""
        return () if self.transcript.search.text else ("search-older", "search-newer")

    def compose(self) -> ComposeResult:
        """Yield the transcript above the greeting."""
        yield self.transcript
        yield self.welcome

    async def complete(self) -> None:
        """Add the hidden line of the search, after the first paint."""
        await self.mount(self.search, before=self.transcript)

    def focus(self, scroll_visible: bool = True) -> TranscriptBody:
        """Focus the transcript at once: keys may follow that arrived together."""
        self.screen.set_focus(self.transcript, scroll_visible)
        return self

    def explain(self) -> bool:
        """Explain the paragraph under the cursor; return False for one without a reason."""
        return self.transcript.explain()

    @on(Input.Changed)
    def _searched(self, message: Input.Changed) -> None:
        message.stop()
        self.transcript.find(message.value)
        # A message that the transcript posts meanwhile would not get past this widget, which is its sender.
        self.post_message(PaneChanged("transcript"))
        self.post_message(KeysChanged())

    @on(FilterLine.Left)
    def _search_left(self, message: FilterLine.Left) -> None:
        message.stop()
        self.focus()

    def on_descendant_focus(self) -> None:
        """Show the keys of the search anew: in its line `n` and `N` are typed."""
        if self.transcript.search.text:
            self.post_message(PaneChanged("transcript"))

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Update both; return the seconds until another word sounds."""
        self._view, blocks = view, view.blocks
        self._any, self._live = bool(blocks), frame.live
        self._forgotten = view.blocks_forgotten
        opening = _is_opening(blocks, replay=self._settings.replay)
        self.welcome.set_class(opening, "-shown")
        self.transcript.set_class(self._any, "-shown")
        self.transcript.set_class(opening, "-brief")
        if opening:
            connected, over = self._session_state()
            self.welcome.show(view, connected=connected, replay=self._settings.replay, over=over)
        return self.transcript.show(view, frame.epoch, frame.elapsed, passing=frame.passing)

    def note(self) -> str:
        """Return whether the end is followed, or the number of lines below."""
        signs, transcript = self._glyphs, self.transcript
        if transcript.search.text:
            return self._search_note()
        if transcript.following:
            return f"{signs.down} {FOLLOWING}" if self._any and self._live else ""
        if self._forgotten and not transcript.scroll_offset.y:
            # The time cursor still reaches dropped blocks.
            return f"{signs.up} {self._forgotten:,} earlier paragraphs, seen by going back in time"
        rows = transcript.rows_below
        end = key_label(keys_of(BY_ID["follow"], self._settings.keymap)[0])
        what = "follows" if self._live else "goes there"
        return f"{signs.down} {rows} line{'s' if rows != 1 else ''} below {signs.separator} {end} {what}"

    def _search_note(self) -> str:
        at, count = self.transcript.search.count(self._view.blocks)
        if not count:
            return "not found"
        named: tuple[str, ...] = ("{search-older} older", "{search-newer} newer")
        found = f"found {at} of {count}"
        if self.search.has_focus:
            found, named = f"{at} of {count}", ("enter {search-older} {search-newer}",)
        keys = hints(named, self._settings.keymap, ascii_only=self._settings.ascii)
        return f" {self._glyphs.separator} ".join((found, *keys))


class SearchLine(FilterLine):
    """Text to find in the transcript."""

    leaving = "End search"

    def __init__(self) -> None:
        super().__init__(placeholder="find in the transcript", id="transcript-search")


def _is_opening(blocks: Sequence[Block], *, replay: bool) -> bool:
    """Return True before the user has said something.

    Notices and the agent's greeting are shown above the phrases.
    """
    if len(blocks) > MAX_NOTICES:
        return False
    greetings = sum(block.kind == "model" for block in blocks)
    others = any(block.kind not in ("notice", "model") for block in blocks)
    return not others and greetings <= (0 if replay else 1)
