"""Say how a console's session ended or goes on, for the shell."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    from gemini_live_tui.session_data.store import Store
    from gemini_live_tui.settings import ConsoleSettings


def outcome_of(
    store: Store, signal: int | None, *, replay: bool = False, leaves_tasks: bool = False, detaches: bool = False
) -> tuple[int, str]:
    """Return the exit code and a sentence, or ""; `signal` ended the console.

    `leaves_tasks`: the engine goes on until its tasks have ended; `detaches`: it goes on without this console.
    """
    if replay:
        return (1, store.lost) if store.lost and not store.hello else (0, "")
    if store.bye is not None:
        from gemini_live_runtime.journal.completion.missing_parts import unfinished_turn

        reason = (store.bye.reason or store.view.ended or "ended").rstrip(".")
        # Whoever has watched knows that the model said nothing, and that it was hung up in a turn.
        known = unfinished_turn(store.view.turn) if store.bye.exit_code == 0 else ""
        told = [one.text for one in store.bye.missing if one.part != "output" and one.text != known]
        missing = ", ".join(told)
        rest = f" Not complete: {sanitise_line(missing, 500)}." if missing else ""
        return store.bye.exit_code, f"The session is over: {reason}.{rest}"
    if store.view.ended:
        return store.view.exit_code or 0, f"The session is over: {store.view.ended.rstrip('.')}."
    if store.lost and store.goes_on and store.hello is not None:
        ident = store.hello.session_id
        return 1, f"{store.lost.rstrip('.')}. The session goes on: gemini-live-tui attach {ident} returns to it."
    if store.lost:
        return 1, store.lost
    left = 128 + signal if signal is not None else 0
    if store.is_silent:
        way = "Whether it still runs: gemini-live-tui ps"
        if store.hello is not None:
            ident = store.hello.session_id
            way = f"gemini-live-tui attach {ident} returns when it does, gemini-live-tui stop {ident} ends it."
        return left or 1, f"The engine does not answer. {way}"
    if leaves_tasks and store.hello is not None:
        ident = store.hello.session_id
        return left, (
            f"Session {ident} ends once its tasks have; gemini-live-tui tasks shows them, gemini-live-tui stop {ident} "
            "interrupts them."
        )
    if store.hello is not None and (detaches or (left and _is_apart(store))):
        ident = store.hello.session_id
        return left, (
            f"Detached: session {ident} goes on, its microphone as you left it. Without a console it hangs up "
            f"within 5 minutes; gemini-live-tui attach {ident} returns, gemini-live-tui stop {ident} ends it."
        )
    if store.has_unread and not left:
        fault = "The engine still sent messages when this console left, so the end of the session was not read."
        return 1, f"{fault} Whether it still runs: gemini-live-tui ps"
    if store.hello is not None and not left:
        return 1, "The engine did not answer the hang-up. Whether it still runs: gemini-live-tui ps"
    return left, ""


def missing_of(store: Store) -> str:
    """Return what the engine told of events missing in the recording, or ""."""
    for block in reversed(store.view.blocks):
        if block.group.startswith("events-missing:"):
            return f"{block.text} {block.detail}."
    return ""


def _is_apart(store: Store) -> bool:
    """Return True when the engine's own process outlives the console."""
    return store.hello is not None and store.hello.pid != os.getpid()


def failure_of(error: Exception, store: Store, settings: ConsoleSettings) -> GeminiLiveError:
    """Return the error of a broken console, with the way back to its session."""
    remedy = "gemini-live-tui --debug shows where"
    if not settings.replay and store.live and _is_apart(store):
        assert store.hello is not None
        ident = sanitise_line(store.hello.session_id)
        remedy = (
            f"The session goes on: gemini-live-tui attach {ident} returns to it, gemini-live-tui stop {ident} ends it. "
            f"{remedy}"
        )
    return GeminiLiveError(f"Internal error of the console: {type(error).__name__}: {error}", remedy=remedy)
