"""Show the keys that can be pressed now, from the action table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events

from gemini_live_runtime.records import record
from gemini_live_tui.actions import ACTIONS, PANES, Action, Scope
from gemini_live_tui.actions.keymap import is_typed, key_label, keys_of
from gemini_live_tui.messages import RunAction
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.widgets.row import Row

if TYPE_CHECKING:
    from gemini_live_runtime.events import Mode


@record
class Situation:
    """Everything but the keymap that decides which keys mean something."""

    mode: Mode = "voice"
    place: Scope = "console"
    """The focused pane or prompt."""
    typing: bool = False
    """True while a field has the cursor."""
    microphone: bool = True
    speaker: bool = True
    over: bool = False
    """True for a session that has ended, and for a recording."""
    unusable: frozenset[str] = frozenset()
    """Ids of actions that mean nothing now."""
    escape: str = ""
    """Title of escape; "" when it stops the speech."""
    notice: bool = False
    """True while a message stays until it is closed."""
    covered: bool = False
    """True below a dialog, whose frame names its keys: none of these works then."""


class KeyBar(Row):
    """Keys and titles of the actions in the current mode; a click runs one."""

    def __init__(
        self,
        *,
        keymap: Mapping[str, str],
        ascii_only: bool,
        tmux: bool,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._keymap = keymap
        self._ascii = ascii_only
        self._tmux = tmux
        self._now = Situation()
        self._places: list[tuple[int, int, str]] = []
        self._room_for_note = True
        self._gap = 2
        """Cells behind a title."""

    @property
    def escape_closes_list(self) -> bool:
        """True while the bar says that escape closes a list or leaves a line."""
        return bool(self._now.escape)

    def show(self, situation: Situation) -> None:
        """Show the actions that mean something in `situation`."""
        if situation != self._now:
            self._now = situation
            self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Return as many actions as fit, in the table's order, help and quit always."""
        every = [] if self._now.covered else [action for action in ACTIONS if self._offers(action)]
        offered = [action for action in every if action.bar != "pane-wide"]
        self._room_for_note, self._gap = True, 2
        spare = [action for action in offered if self._is_spare(action)]
        while spare and self._width(offered) > width:
            offered.remove(spare.pop())
        # A key counts for more than the remark about another one.
        self._room_for_note = self._width(offered) <= width
        while len(offered) > 1 and self._width(offered) > width:
            expendable = [action for action in offered if action.id not in self._kept()]
            # The pane's keys are shown nowhere else, so the others are dropped first.
            others = [action for action in expendable if not self._of_pane(action) and not self._is_main(action)]
            if others:
                offered.remove(min(reversed(others), key=lambda one: (one.id == "mute", one.bar == "always")))
            elif self._gap > 1:
                self._gap = 1
            else:
                offered.remove((expendable or offered)[-1])
        offered = self._filled(offered, every, width)
        offered = self._with_extras(offered, every, width)
        runs: list[Run] = []
        self._places = []
        at = 0
        for action in offered:
            keys, title = self._label(action)
            size = cell_len(keys) + cell_len(title) + 2 + self._gap
            self._places.append((at, at + size, action.id))
            at += size
            runs.extend(((f" {keys} ", "key"), (f"{title}{' ' * self._gap}", "quiet")))
        return runs

    def _filled(self, offered: list[Action], every: list[Action], width: int) -> list[Action]:
        """Return the actions with what still fits of those that were dropped."""
        dropped = [action for action in every if action not in offered and not self._is_spare(action)]
        for action in sorted(dropped, key=lambda one: one.bar != "always"):
            more = [one for one in every if one is action or one in offered]
            if self._width(more) <= width:
                offered = more
        return offered

    @property
    def _talks(self) -> bool:
        """True in the prompt and the transcript, where mode and microphone matter most."""
        return self._now.place not in PANES or self._now.place == "transcript"

    def _is_main(self, action: Action) -> bool:
        return action.id == "mute" and self._talks

    def _kept(self) -> tuple[str, ...]:
        mode = ("text-mode",) if self._talks else ()
        return ("help", "quit", "send", "write", "next-pane", "interrupt", "close-notice", *mode)

    def _is_spare(self, action: Action) -> bool:
        return action.bar in ("wide", "pane-wide") and self._now.place not in action.bar_in

    def _with_extras(self, offered: list[Action], every: list[Action], width: int) -> list[Action]:
        """Return the actions with those of the pane for which there is room left.

        They may take the room of a remark, but not that of tmux, which says how a key is pressed.
        """
        for action in (one for one in every if one.bar == "pane-wide"):
            more, had_room = [one for one in every if one is action or one in offered], self._room_for_note
            if self._width(more) > width:
                self._room_for_note = had_room and self._tmux
            if self._width(more) <= width:
                offered = more
            else:
                self._room_for_note = had_room
        return offered

    def _offers(self, action: Action) -> bool:
        now = self._now
        if action.id == "interrupt" and now.escape:
            return True
        if (now.over and action.is_for_calls) or action.id in now.unusable or not self._keys(action):
            return False
        if action.id == "close-notice":
            return now.notice
        if action.id == "next-pane":
            return now.place == "prompt"
        if now.place in action.bar_in:
            return True
        shows = {
            "always": True,
            "wide": True,
            "voice": now.mode == "voice",
            "prompt": now.place == "prompt",
            "panes": not now.typing,
            "pane": action.scope == now.place and not now.typing,
            "pane-wide": action.scope == now.place and not now.typing,
        }
        return shows.get(action.bar, False)

    def _keys(self, action: Action) -> list[str]:
        """Return the keys that work here: in a field letters are typed."""
        keys = keys_of(action, self._keymap)
        return [key for key in keys if not is_typed(key)] if self._now.typing else keys

    def _of_pane(self, action: Action) -> bool:
        return action.bar == "pane" or self._now.place in action.bar_in

    def _label(self, action: Action) -> tuple[str, str]:
        keys = self._keys(action)
        shown = key_label(keys[0], ascii_only=self._ascii)
        title = action.title
        if action.id == "interrupt":
            title = self._now.escape or (title if self._room_for_note else "Stop")
        elif action.id == "text-mode":
            title = "Voice" if self._now.mode == "text" else "Text"
            if "ctrl+b" in keys and "f2" in keys:
                # tmux takes ctrl+b and passes it on only when pressed twice.
                shown = "F2" if self._tmux else "^b"
                title += " (or ^b twice)" if self._tmux and self._room_for_note else ""
        elif action.id == "mute" and not self._now.microphone:
            title = "Unmute"
        elif action.id == "mute-speaker":
            title = "Mute speaker" if self._now.speaker else "Unmute speaker"
        return shown, title

    def _width(self, actions: Sequence[Action]) -> int:
        gaps = 2 + self._gap
        return sum(cell_len(keys) + cell_len(title) + gaps for keys, title in map(self._label, actions)) - 1

    def on_click(self, event: events.Click) -> None:
        """Run the action under the pointer."""
        for start, end, ident in self._places:
            if start <= event.x < end:
                self.post_message(RunAction(ident))
