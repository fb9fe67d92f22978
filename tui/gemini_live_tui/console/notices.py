"""The part of the console screen that says things: above the transcript, and to be read again among the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from gemini_live_runtime.journal.view import Dirty, LogLine
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.console.banner import Banner
from gemini_live_tui.context import Level
from gemini_live_tui.session_data.store import Store
from gemini_live_tui.settings import ConsoleSettings

if TYPE_CHECKING:
    from gemini_live_runtime.clock import Clock

HINT_S = 4.0
"""How long a passing hint stays."""

BRIEF = 160
"""Characters of a passing message that need not be read again."""

MAX_KEPT, MAX_TOLD = 2000, 100
"""Characters of a message that is kept among the logs, and how many are."""

AT_ONCE_S = 0.25
"""Within this time two messages are about one thing."""


class Saying(Screen[None]):
    """Messages to the operator, and the last one: how the session ended."""

    banner: Banner
    told: tuple[LogLine, ...]
    """What was said and may be read again, oldest first."""
    _store: Store
    _settings: ConsoleSettings
    _clock: Clock
    _past_said_at: float
    """When it was said that the past is looked at."""
    _kept: int
    _missed_told: int
    _end_told: bool

    if TYPE_CHECKING:

        def past_note(self) -> str:
            """What is to be said of an order while the past is looked at; "" in the present."""
            ...

        def _keep_unconfirmed(self) -> str: ...

    def _tell_end(self) -> None:
        store = self._store
        if store.missed > self._missed_told:
            self._missed_told = store.missed
            self.say(f"{store.missed} events did not arrive, what is shown may be incomplete.", "warning")
        if self._end_told or (self._settings.replay and store.bye is not None):
            return
        quit_key = key_label(keys_of(BY_ID["quit"], self._settings.keymap)[0])
        if store.lost:
            self._end_told = True
            unsent = self._keep_unconfirmed()
            what = "The session was cut off" if store.hello is not None else "No session"
            self.say(
                f"{what}: {store.lost.rstrip('.')}. Everything stays on screen; {quit_key} quits.{unsent}", "error"
            )
        elif store.bye is not None:
            self._end_told = True
            unsent = self._keep_unconfirmed()
            reason = (store.bye.reason or store.view.ended or "ended").rstrip(".")
            level: Level = "error" if store.bye.exit_code else "info"
            self.say(f"The session is over: {reason}. {quit_key} quits.{unsent}", level)

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show a message above the transcript; a `passing` one goes away by itself."""
        if passing and self._clock.now() - self._past_said_at < AT_ONCE_S and (note := self.past_note()) != message:
            # What a pane says of the order it gave joins what was just said of its moment.
            message = f"{message} {note}".rstrip()
        if not passing or len(message) > BRIEF:
            self._keep(message, level)
        until = self._clock.now() + HINT_S if passing else None
        self.banner.say(message, level, until=until)
        if passing:
            self._store.wake()

    def _keep(self, message: str, level: Level) -> None:
        """Put a message among the logs, where it can be read whole, and later."""
        text = sanitise_line(message, MAX_KEPT)
        if self.told and (self.told[-1].level, self.told[-1].text) == (level, text):
            return
        line = LogLine(self._store.elapsed(running=True), -1 - self._kept, "console", level, text)
        self._kept += 1
        self.told = (*self.told, line)[-MAX_TOLD:]
        self._store.dirty |= Dirty.LOG
        self._store.wake()
