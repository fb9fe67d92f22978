"""Fold the moment at which another engine goes on with a session."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold import link_blocks, spoken_blocks
from gemini_live_runtime.journal.fold.blocks import change, finish, open_block, streaming
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.state.scopes import PERSISTENT_SCOPES
from gemini_live_runtime.text import sanitise_line

_TEXTS = {
    "crash": ("The engine of this session stopped without a word. A new one goes on from here.", "warning"),
    "end": ("The session goes on.", "info"),
}


def resumed(view: SessionView, event: ev.Event, p: ev.SessionResumed) -> Dirty:
    """Forget what held for the engine before, and say that another one goes on."""
    view.ended, view.exit_code, view.program = "", None, sanitise_line(p.program)
    view.record, view.recording_fails, view.resumed_after = p.record, False, p.kept
    view.connected_ms = view.go_away_at = view.retry_at = None
    view.resumable = view.link_failed = view.playing = view.voice = view.echo_leaking = False
    view.user_away, view.next_agent = False, ""
    view.speeches.clear()
    view.harness.consent = None
    tasks = view.harness.tasks
    for ident, card in tasks.items():
        # They ran in that engine; what begins anew is another task.
        tasks[ident] = card if card.end is not None else replace(card, status="interrupted", end=event.t)
    view.input_device = view.output_device = view.echo_canceller = ""
    view.health.clear()
    view.sound_not_sent, view.sound_told, view.disk_notice = 0.0, 0.0, 0
    spoken_blocks.stop(view, event)
    cut = streaming(view, "model", event.turn)
    if cut is not None:
        change(view, cut, interrupted=True, heard=view.blocks[cut].heard or len(view.blocks[cut].text))
    finish(view, "user", "model", "thought")
    agent = view.agent_view
    agent.held, agent.breakpoints, agent.undo, agent.redo = None, (), 0, 0
    for name in [name for name in agent.keys if _scope(name) not in PERSISTENT_SCOPES]:
        del agent.keys[name]
    text, status = _TEXTS[p.after]
    link_blocks.begin(view, open_block(view, event, "notice", text=text, status=status, done=True))
    return ~Dirty.NONE


def _scope(name: str) -> str:
    scope, colon, _ = name.partition(":")
    return scope if colon else ""
