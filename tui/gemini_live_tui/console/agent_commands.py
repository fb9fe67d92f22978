"""Change the agent by commands: state, phase, watchers, context, instruction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.journal.fold.packing import real_key

if TYPE_CHECKING:
    from gemini_live_tui.console.command_sender import CommandSender
    from gemini_live_tui.console.conversation import Conversation
    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.session_data.store import Store


class NoValue(Exception):  # noqa: N818 - reported to the operator, not an error of the program
    """Text that is not JSON; `str` is a sentence with line and column."""


def value_of(text: str) -> Any:
    """Return the JSON value of a text; raise `NoValue`."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NoValue(f'The value is no JSON at {where}: {error.msg}. A text stands in quotes: "gold".') from None
    except (ValueError, RecursionError) as error:
        raise NoValue(f"The value is no JSON: {error}.") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number that JSON knows")


class AgentCommands:
    """Commands that change the agent.

    The engine answers each with events, or with a refusal that is shown.
    """

    def __init__(self, store: Store, sender: CommandSender, notices: Notices, conversation: Conversation) -> None:
        self._store = store
        self._sender = sender
        self._notices = notices
        self._conversation = conversation

    def action_set_key(self, key: str, value: str) -> None:
        """Write a key of the state."""
        from gemini_live_runtime.commands import EditState

        try:
            self._sender.order(EditState(edits=({"key": self._real(key), "value": value_of(value)},)))
        except NoValue as error:
            self._conversation.keep_command(f"/set {key} = {value}")
            self._notices.say(str(error), "warning")

    def action_unset_key(self, key: str) -> None:
        """Remove a key from the state."""
        from gemini_live_runtime.commands import EditState

        self._sender.order(EditState(edits=({"key": self._real(key), "remove": True},)))

    def _real(self, key: str) -> str:
        """Return the agent's spelling of a key: views spell keys in plain ASCII."""
        return real_key(key) if key in self._store.view.agent_view.keys else key

    def action_undo_edit(self) -> None:
        """Undo the last edit."""
        from gemini_live_runtime.commands import UndoEdit

        self._sender.order(UndoEdit())

    def action_redo_edit(self) -> None:
        """Redo the edit that was undone last."""
        from gemini_live_runtime.commands import RedoEdit

        self._sender.order(RedoEdit())

    def action_go_to_phase(self, phase: str) -> None:
        """Take the conversation to a phase at once."""
        from gemini_live_runtime.commands import GoToPhase

        self._sender.order(GoToPhase(phase=phase))

    def action_hand_off(self, agent: str) -> None:
        """Hand the conversation over to another agent."""
        from gemini_live_runtime.commands import HandOff

        self._sender.order(HandOff(agent=agent))

    def action_fire_watcher(self, watcher: str) -> None:
        """Run a watcher's action."""
        from gemini_live_runtime.commands import FireWatcher

        self._sender.order(FireWatcher(watcher=watcher))

    def action_switch_watcher(self, watcher: str) -> None:
        """Mute a watcher, or unmute it."""
        from gemini_live_runtime.commands import SwitchWatcher

        card = self._store.view.agent_view.watchers.get(watcher)
        self._sender.order(SwitchWatcher(watcher=watcher, muted=card is None or not card.muted))

    def action_give_context(self, text: str) -> None:
        """Give context to the model, which need not answer."""
        from gemini_live_runtime.commands import GiveContext

        if self._sender.order(GiveContext(text=text)):
            self._notices.say("The model is told, and need not answer.", passing=True)

    def action_set_instruction(self, text: str) -> None:
        """Replace the agent's own instruction."""
        from gemini_live_runtime.commands import SetInstruction

        if self._sender.order(SetInstruction(text=text)):
            self._notices.say("The agent's instruction is replaced; what phases add stays.", passing=True)
