"""Show state, agent, model, recording, cost and time in the top row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.painting.formatting import clock_text, cost_text
from gemini_live_tui.painting.glyphs import STATE_LABELS, STATE_WIDTH, UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.widgets.row import Row

if TYPE_CHECKING:
    from gemini_live_runtime.events import StateWord


def state_run(word: StateWord, glyphs: Glyphs, label: str = "") -> Run:
    """Return the state's sign and word, or `label` in its place, at constant width."""
    return f"{glyphs.states[word]} {label or STATE_LABELS[word]:<{STATE_WIDTH}}", f"state-{word}"


class Header(Row):
    """State word and sign, agent, backend and model, recording, cost, time."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE, replay: bool = False) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._replay = replay
        self._view = SessionView()
        self._word: StateWord = "offline"
        self._elapsed = 0.0
        self._live = False
        self._behind = False
        self._silent = False

    def show(
        self,
        view: SessionView,
        word: StateWord,
        elapsed: float,
        *,
        live: bool,
        behind: bool = False,
        silent: bool = False,
    ) -> None:
        """Show `view` with the state word `word`, `elapsed` seconds into the session.

        `live`: the session goes on. `behind`: the view is one of the past. `silent`: the engine does not answer.
        """
        self._silent = silent
        self._view, self._word, self._elapsed, self._live, self._behind = view, word, elapsed, live, behind
        self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Return state and agent at the left, and what fits at the right.

        The least important parts are dropped first.
        """
        view = self._view
        muted = self._word == "text" and view.mode == "voice" and not view.microphone
        label = "NO ANSWER" if self._silent else "MUTED" if muted else ""
        left: list[Run] = [(" ", ""), state_run(self._word, self._glyphs, label)]
        if view.agent_view.held is not None:
            left += [(" HELD ", "held"), (" ", "")]
        if view.harness.consent is not None:
            left += [(" ASKS ", "held"), (" ", "")]
        right = self._right()
        # Drop the model first, then the cost; never the recording mark or the time.
        used = sum(cell_len(text) for text, _ in left) + 1 + sum(cell_len(text) + 2 for text, _ in right)
        name = f"{view.agent} {self._glyphs.arrow} {view.next_agent}" if view.next_agent else view.agent
        while used + cell_len(name) + 3 > width and right[0][1] == "quiet":
            text, _ = right.pop(0)
            used -= cell_len(text) + 2
        room = width - used - 3
        if view.agent and room >= 4:
            agent = fit(name, room, self._glyphs.ellipsis)
            left.append((f" {agent}", "strong"))
            room -= cell_len(agent) + 1
        if view.user_away and room >= 12:
            left.append((f" {self._glyphs.separator} user away", "quiet"))
            room -= 12
        reason = view.word_reason if self._word in ("error", "connecting", "dormant", "text") and not muted else ""
        if self._word == "connecting" and view.retry_at is not None and (wait_s := view.retry_at - self._elapsed) > 0:
            reason = f"next attempt in {math.ceil(wait_s)} s"
        if reason and room >= 9:
            sign = f"{self._glyphs.separator} " if view.agent else ""
            told = fit(reason, room - len(sign) + 2, self._glyphs.ellipsis)
            # Why the mode is text stands in the transcript, too: no half of it here.
            if told == reason or self._word != "text":
                left.append((f" {sign}{told}", "quiet"))
        runs = [run for text, style in right for run in (("  ", ""), (text, style))]
        filled = sum(cell_len(text) for text, _ in left) + sum(cell_len(text) for text, _ in runs)
        return [*left, (" " * max(0, width - filled - 1), ""), *runs]

    def _right(self) -> list[Run]:
        view = self._view
        runs: list[Run] = []
        where = f" {self._glyphs.separator} ".join(part for part in (view.backend, view.model) if part)
        if where:
            runs.append((fit(where, 44, self._glyphs.ellipsis), "quiet"))
        running = view.harness.running
        if running:
            known = [task.fraction for task in running if task.fraction is not None]
            done = f" {sum(known) / len(known):.0%}" if known else ""
            runs.append((f"{len(running)} task{'' if len(running) == 1 else 's'}{done}", "key"))
        if waiting := len(view.harness.open_notifications):
            runs.append((f"{waiting} notification{'' if waiting == 1 else 's'}", "key"))
        if view.cost_usd:
            runs.append((cost_text(view.cost_usd), "quiet"))
        if self._replay or self._behind:
            runs.append((" REPLAY ", "replay"))
        elif self._live and view.record != "off":
            word = "REC" if view.record == "audio" else "REC text"
            failing = (f"{self._glyphs.states['error']} REC FAILS", "state-error")
            runs.append(failing if view.recording_fails else (f"{self._glyphs.record} {word}", "record"))
        runs.append((clock_text(self._elapsed), "strong"))
        return runs
