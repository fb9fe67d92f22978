"""End a console: hang up, detach, tasks that go on, signals, the outcome."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.console.outcome import missing_of, outcome_of
from gemini_live_tui.settings import ConsoleOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import App

    from gemini_live_runtime.journal.fold.harness_view import TaskCard
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.launcher import Choice

QUIT_AGAIN_S = 4.0
"""Seconds within which a second ctrl+c quits."""


class Leaving:
    """End of one console."""

    def __init__(self, app: App[ConsoleOutcome], console: ConsoleContext) -> None:
        self._app = app
        self._console = console
        self._quit_armed = float("-inf")
        self._is_quitting = False
        self._asks_for_tasks = False
        self._leaves_tasks = False
        """True when the engine goes on until its tasks have ended."""
        self._signal: signal.Signals | None = None
        """Signal that ended this console."""
        self._next: Choice | None = None
        self._replayed_next: Path | None = None
        self.hanging_up: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """True before a session, after it, and in a recording: quitting ends no call."""
        console, store = self._console, self._console.store
        is_ended = store.bye is not None or bool(store.lost) or bool(store.view.ended)
        return console.waiting or console.settings.replay or is_ended

    def hang_up_and_quit(self) -> None:
        """Hang up, wait briefly for the engine's answer and quit; at once the second time."""
        if self._is_quitting:
            self.leave()
            return
        detaches = self._console.settings.detach_on_quit
        running = [] if self.is_over or detaches else self._console.store.view.harness.running
        if running and not self._asks_for_tasks:
            self._asks_for_tasks = True
            self._ask_for_tasks(running)
            return
        self._is_quitting = True
        # Also before the engine's first message: an engine that was reached would go on without a console.
        if self.is_over or detaches:
            self.leave()
            return
        self._console.say_below_at_once("Hanging up.")
        self._leave_after(self._hang_up())

    def quit_or_ask_again(self) -> None:
        """Quit when asked twice within a moment."""
        now = self._console.time.now()
        if self._is_quitting or now - self._quit_armed < QUIT_AGAIN_S:
            self._app.call_later(self.hang_up_and_quit)
            return
        self._quit_armed = now
        self._console.say(f"Press ctrl+c again to quit ({self._quit_key()} quits at once).", passing=True)

    def leave_for_choice(self, choice: Choice) -> None:
        """Hang up and quit; the caller of this console starts a session of `choice`."""
        self._next = choice
        self._app.call_later(self.hang_up_and_quit)

    def leave_for_recording(self, recording: Path) -> None:
        """Quit; the caller of this console shows `recording`. The session must be over."""
        self._replayed_next = recording
        self.leave()

    def leave_on_signals(self) -> None:
        """Restore the terminal and leave on SIGTERM and SIGINT, with the session as it is."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # Windows
                asyncio.get_running_loop().add_signal_handler(number, self._on_signal, number)

    def leave(self) -> None:
        """Quit at once."""
        self._console.give_up_link()
        outcome = self.outcome()
        self._app.exit(outcome, return_code=outcome.exit_code)

    def outcome(self) -> ConsoleOutcome:
        """Return the session's outcome with a sentence for the shell, fit to be printed."""
        store = self._console.store
        exit_code, message = outcome_of(store, self._console.settings, self._signal, leaves_tasks=self._leaves_tasks)
        hello = store.hello
        name = store.view.session_id or (sanitise_line(hello.session_id) if hello else "")
        folder = hello.folder if hello else ""
        message, missing = sanitise_line(message), missing_of(store)
        return ConsoleOutcome(exit_code, message, name, self._next, self._replayed_next, folder, missing)

    def _ask_for_tasks(self, running: Sequence[TaskCard]) -> None:
        """Ask whether tasks may go on after the console has left."""
        from gemini_live_tui.dialogs.confirm import ConfirmScreen

        def decide(finish: bool | None) -> None:
            self._asks_for_tasks = False
            if finish and not self._is_quitting:
                self._is_quitting = self._leaves_tasks = True
                self._leave_after(self._leave_tasks())

        self._app.push_screen(ConfirmScreen.for_tasks(running, self._quit_key()), decide)

    def _leave_after(self, farewell: Coroutine[Any, Any, None]) -> None:
        self.hanging_up = asyncio.create_task(farewell)
        self.hanging_up.add_done_callback(lambda _: self.leave())

    async def _leave_tasks(self) -> None:
        if self._console.link is not None:
            await self._console.link.leave_tasks(self._console.settings.bye_timeout_s)

    async def _hang_up(self) -> None:
        if self._console.link is not None:
            await self._console.link.hang_up(self._console.settings.bye_timeout_s)
        # The outcome needs the engine's last message, which may wait behind a flood.
        self._console.store.drain_all()

    def _on_signal(self, number: signal.Signals) -> None:
        if self._console.lends_terminal and number == signal.SIGINT:
            return  # Ctrl+C was for the program that has the terminal, and the system sends it to both.
        self._signal = number
        self.leave()

    def _quit_key(self) -> str:
        return key_label(keys_of(BY_ID["quit"], self._console.settings.keymap)[0])
