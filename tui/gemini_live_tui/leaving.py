"""End a console: hang up, detach, tasks that go on, signals, the outcome."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.console.outcome import missing_of, outcome_of
from gemini_live_tui.settings import ConsoleOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import App

    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.dialogs.confirm import ConfirmScreen
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
        self._asks = False
        self._leaves_tasks = False
        """True when the engine goes on until its tasks have ended."""
        self._detaches = False
        """True when the engine goes on without this console."""
        self._signal: signal.Signals | None = None
        """Signal that ended this console."""
        self._next: Choice | None = None
        self._replayed_next: Path | None = None
        self._session_next: Path | None = None
        self.hanging_up: asyncio.Task[None] | None = None
        self._agreed: Callable[[], None] = self.hang_up_and_quit
        """Effect of a yes to the question before quitting."""

    @property
    def is_over(self) -> bool:
        """True before a session, after it, and in a recording: quitting ends no call."""
        console, store = self._console, self._console.store
        is_ended = store.bye is not None or bool(store.lost) or bool(store.view.ended)
        return console.waiting or console.settings.replay or is_ended

    @property
    def why_not_detach(self) -> str:
        """Sentence why the engine cannot go on without this console; "" when it can."""
        hello = self._console.store.hello
        if self.is_over:
            return "There is no call here to detach from."
        if hello is None:
            return "The engine is not ready yet."
        if hello.pid == os.getpid():
            return "The engine runs in this process (--single-process): it cannot go on without it."
        return ""

    def hang_up_and_quit(self) -> None:
        """Hang up, wait briefly for the engine's answer and quit; at once the second time."""
        if self._is_quitting:
            self.leave()
            return
        # Before the first message of an engine that this console started it hangs up, too: it would go on alone.
        if self.is_over or (self._console.settings.attached and self._console.store.hello is None):
            self._is_quitting = True
            self.leave()
            return
        question = None if self._asks else self._question()
        if question is not None:
            self._asks = True
            self._app.push_screen(question, self._answer)
            return
        self._is_quitting = True
        self._console.say_below_at_once("Hanging up.")
        self._leave_after(self._hang_up())

    def ask_to_detach(self) -> None:
        """Ask whether to leave the engine running and quit, or say why it cannot go on.

        The key is a letter, which may have been meant for the prompt.
        """
        reason = self.why_not_detach
        if reason:
            self._console.say(reason, "warning", passing=True)
        elif not (self._asks or self._is_quitting):
            self._asks, self._agreed = True, self.detach
            self._app.push_screen(self._detaching_question(), self._answer)

    def detach(self) -> None:
        """Quit and leave the engine running, or say why it cannot go on."""
        reason = self.why_not_detach
        if reason:
            self._console.say(reason, "warning", passing=True)
            return
        self._is_quitting = self._detaches = True
        self.leave()

    def quit_or_ask_again(self) -> None:
        """Quit when asked twice within a moment."""
        now = self._console.time.now()
        if self._is_quitting or now - self._quit_armed < QUIT_AGAIN_S:
            self._app.call_later(self.hang_up_and_quit)
            return
        self._quit_armed = now
        text = f"Press ctrl+c again to quit ({self._quit_key()} quits at once)."
        copying = keys_of(BY_ID["copy-utterance"], self._console.settings.keymap)
        if copying and not self._console.waiting:
            text = f"{text} Nothing is selected to copy; {key_label(copying[0])} copies a row."
        self._console.say(text, passing=True)

    def leave_for_choice(self, choice: Choice) -> None:
        """Hang up and quit; the caller of this console starts a session of `choice`."""
        self._next = choice
        self._app.call_later(self.hang_up_and_quit)

    def leave_for_recording(self, recording: Path) -> None:
        """Quit or detach; the caller of this console shows `recording`."""
        self._replayed_next = recording
        self._leave_for_another()

    def leave_for_session(self, folder: Path) -> None:
        """Quit or detach; the caller of this console goes on with a recorded session."""
        self._session_next = folder
        self._leave_for_another()

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
        exit_code, message = outcome_of(
            store,
            self._signal,
            replay=self._console.settings.replay,
            leaves_tasks=self._leaves_tasks,
            detaches=self._detaches,
        )
        hello = store.hello
        name = store.view.session_id or (sanitise_line(hello.session_id) if hello else "")
        folder = hello.folder if hello else ""
        message, missing = sanitise_line(message), missing_of(store)
        return ConsoleOutcome(
            exit_code,
            message,
            name,
            next=self._next,
            replay=self._replayed_next,
            session=self._session_next,
            folder=folder,
            missing=missing,
        )

    def _question(self) -> ConfirmScreen | None:
        """Return the question before quitting; None where nothing is lost by it."""
        from gemini_live_tui.dialogs.confirm import ConfirmScreen

        console = self._console
        if running := console.store.view.harness.running:
            self._agreed = self._leave_for_tasks
            return ConfirmScreen.for_tasks(running, self._quit_key())
        if console.settings.attached:
            self._agreed = self.detach
            return ConfirmScreen.for_attached(self._quit_key())
        if console.unsent:
            self._agreed = self.hang_up_and_quit
            return ConfirmScreen(f"This was not sent: {console.unsent}", "quits without it")
        return None

    def _detaching_question(self) -> ConfirmScreen:
        from gemini_live_tui.dialogs.confirm import ConfirmScreen

        settings = self._console.settings
        again = next(iter(keys_of(BY_ID["detach"], settings.keymap)), "enter")
        label = key_label(again, ascii_only=settings.ascii)
        return ConfirmScreen.for_detaching(again, label, self._quit_key())

    def _answer(self, agreed: bool | None) -> None:
        if agreed and not self._is_quitting:
            self._agreed()
        self._asks = False

    def _leave_for_tasks(self) -> None:
        self._is_quitting = self._leaves_tasks = True
        self._leave_after(self._leave_tasks())

    def _leave_for_another(self) -> None:
        self._detaches = not self.is_over
        self.leave()

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
