"""Carry out the operator's debugger commands: breakpoints, pause, step and marks."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.debugger.pause_gate import PAUSED_AT

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine
    from gemini_live_runtime.session.control.command_router import CommandRouter
    from gemini_live_runtime.session.debugger.breakpoints import Kind
    from gemini_live_runtime.session.debugger.checkpoints import Checkpoints
    from gemini_live_runtime.tools.dispatch import ToolDispatcher

MAX_NOTE = 2000
"""Characters of a mark's note."""


class DebuggerCommands:
    """Debugger commands of one session."""

    def __init__(
        self,
        agent: AgentContext,
        checkpoints: Checkpoints,
        settle: SettleEngine,
        tools: ToolDispatcher,
    ) -> None:
        self._agent = agent
        self._checkpoints = checkpoints
        self._settle = settle
        self._tools = tools

    def register(self, router: CommandRouter) -> None:
        """Register the commands that belong here."""
        router.register(cmd.SetBreakpoint, self._set_breakpoint)
        router.register(cmd.RemoveBreakpoint, self._remove_breakpoint)
        router.register(cmd.HoldAgent, self._hold)
        router.register(cmd.ReleaseAgent, self._release)
        router.register(cmd.SetMark, self._set_mark)

    def _set_breakpoint(self, order: cmd.SetBreakpoint, command_id: str) -> None:
        self._checkpoints.breakpoints.set(
            order.kind,
            order.target,
            enabled=order.enabled,
            ident=order.id,
            reader=self._agent.state,
            known=self._known_names,
        )
        self._checkpoints.publish_breakpoints()

    def _remove_breakpoint(self, order: cmd.RemoveBreakpoint, command_id: str) -> None:
        self._checkpoints.breakpoints.remove(order.id)
        self._checkpoints.publish_breakpoints()

    def _known_names(self, kind: Kind) -> Collection[str]:
        """Return the names of this kind that a breakpoint may be set on."""
        if kind == "watcher":
            patterns = self._settle.temporal.status(self._checkpoints.gate.agent_time())
            return [*(item.name for item in self._settle.watchers.status), *(item.name for item in patterns)]
        if kind == "phase":
            return [] if self._agent.phases is None else list(self._agent.phases.machine.phases)
        return list(self._tools.tools)

    def _hold(self, order: cmd.HoldAgent, command_id: str) -> None:
        if self._checkpoints.gate.held:
            raise AgentError("The agent is held already", remedy="Let it go on, or step")
        self._checkpoints.gate.hold("pause", PAUSED_AT, of=self._checkpoints.last_seq)

    def _release(self, order: cmd.ReleaseAgent, command_id: str) -> None:
        if not self._checkpoints.gate.release(order.how):
            raise AgentError("The agent is not held", remedy="Hold it first")

    def _set_mark(self, order: cmd.SetMark, command_id: str) -> None:
        if not 0 <= order.of <= self._checkpoints.last_seq:
            raise AgentError(f"There is no event {order.of} to mark", field="of", value=order.of)
        if len(order.text) > MAX_NOTE:
            raise AgentError(f"A note has at most {MAX_NOTE} characters, not {len(order.text)}", field="text")
        if order.t is not None:
            self._check_time(order.t, order.of)
        self._agent.emit(ev.MarkSet(text=order.text, of=order.of, t=order.t))

    def _check_time(self, t: float, of: int) -> None:
        now = self._checkpoints.session_time()
        if not 0 <= t <= now:
            raise AgentError(
                f"A mark cannot be set at {t:g} s", remedy=f"Mark a moment from 0 to {now:g} s", field="t", value=t
            )
        if not of:
            raise AgentError(
                f"A mark at {t:g} s needs the event that it follows",
                remedy="Give `of`, or leave out `t`",
                field="of",
                value=of,
            )
