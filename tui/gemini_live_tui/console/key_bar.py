"""Show the keys that can be pressed now, from the action table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events

from gemini_live_tui.actions import ACTIONS, Action, Scope
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.messages import RunAction
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.widgets.row import Row

if TYPE_CHECKING:
    from gemini_live_runtime.events import Mode


class KeyBar(Row):
    """Keys and titles of the actions in the current mode; a click runs one."""

    def __init__(
        self,
        *,
        keymap: Mapping[str, str],
        ascii_only: bool,
        tmux: bool,
        detach: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._detaches = detach
        self._keymap = keymap
        self._ascii = ascii_only
        self._tmux = tmux
        self._over = False
        self._mode: Mode = "voice"
        self._typing = False
        self._muted = (False, False)
        self._place: Scope = "console"
        self._places: list[tuple[int, int, str]] = []
        self._room_for_note = True

    def show(
        self, mode: Mode, *, typing: bool, microphone: bool, speaker: bool, over: bool, place: Scope = "console"
    ) -> None:
        """Show the actions of `mode` and of `place`, the focused pane.

        `typing`: the prompt has the focus. `over`: the session has ended.
        """
        self._place = place
        self._mode, self._typing, self._over = mode, typing, over
        self._muted = (not microphone, not speaker)
        self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Return as many actions as fit, in the table's order, help and quit always."""
        offered = [action for action in ACTIONS if self._offers(action)]
        self._room_for_note = True
        while len(offered) > 1 and self._width(offered) > width:
            expendable = [action for action in offered if action.id not in ("text-mode", "help", "quit", "send")]
            # The pane's keys are shown nowhere else, so the others are dropped first.
            others = [action for action in expendable if not self._of_pane(action)]
            if not others and self._room_for_note:
                # Then the remark about one of these keys.
                self._room_for_note = False
            else:
                offered.remove((others or expendable or offered)[-1])
        runs: list[Run] = []
        self._places = []
        at = 0
        for action in offered:
            keys, title = self._label(action)
            size = cell_len(keys) + cell_len(title) + 4
            self._places.append((at, at + size, action.id))
            at += size
            runs.extend(((f" {keys} ", "key"), (f"{title}  ", "quiet")))
        return runs

    def _offers(self, action: Action) -> bool:
        if self._over and action.group in ("Talk", "Write"):
            return False
        texting = self._mode == "text" or self._typing
        if action.id in ("mute", "mute-speaker"):
            return not texting
        if self._place in action.bar_in:
            return True
        if action.bar == "pane":
            return action.scope == self._place
        # In other panes these keys belong to the pane, in text mode, too.
        return action.bar == "always" or (action.bar == "text" and self._typing)

    def _of_pane(self, action: Action) -> bool:
        return action.bar == "pane" or self._place in action.bar_in

    def _label(self, action: Action) -> tuple[str, str]:
        keys = keys_of(action, self._keymap)
        shown = key_label(keys[0], ascii_only=self._ascii)
        title = action.title
        if action.id == "text-mode":
            title = "Voice" if self._mode == "text" else "Text"
            if "ctrl+b" in keys and "f2" in keys:
                # tmux takes ctrl+b and passes it on only when pressed twice.
                shown = "F2" if self._tmux else "^b"
                title += " (in tmux ^b twice)" if self._tmux and self._room_for_note else ""
        elif action.id == "quit" and self._detaches:
            title = "Detach"
        elif action.id == "mute" and self._muted[0]:
            title = "Unmute"
        elif action.id == "mute-speaker":
            title = "Speaker on" if self._muted[1] else "Speaker off"
        return shown, title

    def _width(self, actions: Sequence[Action]) -> int:
        return sum(cell_len(keys) + cell_len(title) + 4 for keys, title in map(self._label, actions)) - 1

    def on_click(self, event: events.Click) -> None:
        """Run the action under the pointer."""
        for start, end, ident in self._places:
            if start <= event.x < end:
                self.post_message(RunAction(ident))
