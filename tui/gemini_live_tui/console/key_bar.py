"""Show the keys that can be pressed now, from the action table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events

from gemini_live_tui.actions import ACTIONS, PANES, Action, Scope
from gemini_live_tui.actions.keymap import is_typed, key_label, keys_of
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
        self._escape = ""
        self._notice = False
        self._muted = (False, False)
        self._place: Scope = "console"
        self._unusable: frozenset[str] = frozenset()
        self._places: list[tuple[int, int, str]] = []
        self._room_for_note = True
        self._gap = 2
        """Cells behind a title."""

    @property
    def escape_closes_list(self) -> bool:
        """True while the bar says that escape closes a list or leaves a line."""
        return bool(self._escape)

    def show(
        self,
        mode: Mode,
        *,
        typing: bool,
        microphone: bool,
        speaker: bool,
        over: bool,
        place: Scope = "console",
        unusable: Collection[str] = (),
        escape: str = "",
        notice: bool = False,
    ) -> None:
        """Show the actions of `mode` and of `place`, the focused pane or prompt.

        `typing`: a field has the cursor. `over`: the session has ended, or is a recording. `escape` is what escape
        does, "" when it stops the speech. `notice`: a message stays until it is closed. `unusable`
        are ids of actions that mean nothing now.
        """
        self._place, self._unusable = place, frozenset(unusable)
        self._mode, self._typing, self._over = mode, typing, over
        self._escape, self._notice = escape, notice
        self._muted = (not microphone, not speaker)
        self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Return as many actions as fit, in the table's order, help and quit always."""
        offered = [action for action in ACTIONS if self._offers(action)]
        self._room_for_note, self._gap = True, 2
        spare = [action for action in offered if self._is_spare(action)]
        while spare and self._width(offered) > width:
            offered.remove(spare.pop())
        while len(offered) > 1 and self._width(offered) > width:
            expendable = [action for action in offered if action.id not in self._kept()]
            # The pane's keys are shown nowhere else, so the others are dropped first.
            others = [action for action in expendable if not self._of_pane(action) and not self._is_main(action)]
            if others:
                offered.remove(others[-1])
            elif self._room_for_note:
                # Then the remark about one of these keys.
                self._room_for_note = False
            elif self._gap > 1:
                self._gap = 1
            else:
                offered.remove((expendable or offered)[-1])
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

    @property
    def _talks(self) -> bool:
        """True in the prompt and the transcript, where mode and microphone matter most."""
        return self._place not in PANES or self._place == "transcript"

    def _is_main(self, action: Action) -> bool:
        return action.id == "mute" and self._talks

    def _kept(self) -> tuple[str, ...]:
        mode = ("text-mode",) if self._talks else ()
        return ("help", "quit", "send", "write", "next-pane", "interrupt", "close-notice", *mode)

    def _is_spare(self, action: Action) -> bool:
        return action.bar == "wide" and self._place not in action.bar_in

    def _offers(self, action: Action) -> bool:
        if action.id == "interrupt" and self._escape:
            return True
        if (self._over and action.is_for_calls) or action.id in self._unusable or not self._keys(action):
            return False
        if action.id == "close-notice":
            return self._notice
        if action.id == "next-pane":
            return self._place == "prompt"
        if self._place in action.bar_in:
            return True
        shows = {
            "always": True,
            "wide": True,
            "voice": self._mode == "voice",
            "prompt": self._place == "prompt",
            "panes": not self._typing,
            "pane": action.scope == self._place and not self._typing,
        }
        return shows.get(action.bar, False)

    def _keys(self, action: Action) -> list[str]:
        """Return the keys that work here: in a field letters are typed."""
        keys = keys_of(action, self._keymap)
        return [key for key in keys if not is_typed(key)] if self._typing else keys

    def _of_pane(self, action: Action) -> bool:
        return action.bar == "pane" or self._place in action.bar_in

    def _label(self, action: Action) -> tuple[str, str]:
        keys = self._keys(action)
        shown = key_label(keys[0], ascii_only=self._ascii)
        title = action.title
        if action.id == "interrupt":
            title = self._escape or (title if self._room_for_note else "Stop")
        elif action.id == "text-mode":
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
            title = "Unmute speaker" if self._muted[1] else "Mute speaker"
        return shown, title

    def _width(self, actions: Sequence[Action]) -> int:
        gaps = 2 + self._gap
        return sum(cell_len(keys) + cell_len(title) + gaps for keys, title in map(self._label, actions)) - 1

    def on_click(self, event: events.Click) -> None:
        """Run the action under the pointer."""
        for start, end, ident in self._places:
            if start <= event.x < end:
                self.post_message(RunAction(ident))
