"""Carry out the operator's changes to a running agent, or refuse them.

State is written at once, as a program's writes are, so that it can be edited while the agent is held. What runs the
agent's code or moves the conversation is queued as a step.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError, StateError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.phase_runner import require_phases
from gemini_live_runtime.session.control.preview import Preview, preview_edit, preview_phase
from gemini_live_runtime.session.control.preview_runner import PreviewRunner
from gemini_live_runtime.session.definition.description import describe
from gemini_live_runtime.session.rules.effects import SendContext
from gemini_live_runtime.state.edits import Edit, EditHistory, EditOutcome, read_edits
from gemini_live_runtime.state.mutations import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine
    from gemini_live_runtime.session.agent.steering.steering_runner import SteeringRunner
    from gemini_live_runtime.session.agent.turn_pipeline import TurnPipeline
    from gemini_live_runtime.session.control.command_router import CommandRouter
    from gemini_live_runtime.session.rules.executor import LiveEffectExecutor
    from gemini_live_runtime.tools.dispatch import ToolDispatcher

READ_ONLY_KEYS = frozenset(
    ("session:phase", "session:phase_needs", "session:phase_requires", "session:active_tools", "session:wire_phase")
)
"""Keys that report where the session is; writing them would change the report and not the session."""

FIRED = "the operator fired it"


class OperatorCommands:
    """Operator's commands to the agent of one session."""

    def __init__(
        self,
        agent: AgentContext,
        settle: SettleEngine,
        pipeline: TurnPipeline,
        steering: SteeringRunner,
        executor: LiveEffectExecutor,
        tools: ToolDispatcher,
        agent_time: Callable[[], float],
    ) -> None:
        """`agent_time` returns clock seconds less those in which the agent was held."""
        self._agent = agent
        self._settle = settle
        self._pipeline = pipeline
        self._steering = steering
        self._executor = executor
        self._tools = tools
        self._agent_time = agent_time
        self._history = EditHistory(agent.state)
        self._previews = PreviewRunner(agent.emit)
        self._move_at_turn_end: tuple[cmd.GoToPhase, str] | None = None
        """Phase to go to when the turn has ended, and the id of the command that asked for it."""

    def register(self, router: CommandRouter) -> None:
        """Register the commands that belong here."""
        router.register(cmd.EditState, self._edit)
        router.register(cmd.PreviewEdit, self._preview_edit)
        router.register(cmd.UndoEdit, self._undo)
        router.register(cmd.RedoEdit, self._redo)
        router.register(cmd.GoToPhase, self._go)
        router.register(cmd.PreviewPhase, self._preview_phase)
        router.register(cmd.SwitchWatcher, self._switch)
        router.register(cmd.FireWatcher, self._fire)
        router.register(cmd.GiveContext, self._send_context)
        router.register(cmd.SetInstruction, self._set_instruction)

    # -- state -------------------------------------------------------------------------------------------------------

    def _edit(self, order: cmd.EditState, command_id: str) -> None:
        outcome = self._history.apply(self._read(order.edits), _by_hand(order.reason))
        self._publish(command_id, "edit", outcome)

    def _undo(self, order: cmd.UndoEdit, command_id: str) -> None:
        self._publish(command_id, "undo", self._history.undo(_by_hand("taken back"), force=order.force))

    def _redo(self, order: cmd.RedoEdit, command_id: str) -> None:
        self._publish(command_id, "redo", self._history.redo(_by_hand("made again"), force=order.force))

    def _publish(self, command_id: str, how: Any, outcome: EditOutcome) -> None:
        self._agent.emit(
            ev.EditsApplied(command_id=command_id, how=how, values=outcome.values, undo=outcome.undo, redo=outcome.redo)
        )

    def _read(self, changes: Iterable[Mapping[str, Any]]) -> tuple[Edit, ...]:
        edits = read_edits(changes)
        inputs = {item.key: item.inputs for item in self._settle.computed.variables}
        for edit in edits:
            if edit.key in inputs:
                raise StateError(
                    f"{edit.key} is computed and cannot be written",
                    remedy=f"It follows from {', '.join(inputs[edit.key])}",
                    field="key",
                    value=edit.key,
                )
            if edit.key in READ_ONLY_KEYS:
                raise StateError(
                    f"{edit.key} only reports where the session is",
                    remedy="Go to a phase instead" if edit.key != "session:wire_phase" else "",
                    field="key",
                    value=edit.key,
                )
        return edits

    def _preview_edit(self, order: cmd.PreviewEdit, command_id: str) -> None:
        self.preview_edit(order.edits, command_id)

    def preview_edit(self, changes: Iterable[Mapping[str, Any]], command_id: str = "") -> Future[ev.EditPreviewed]:
        """Publish what an edit would do, and return the same."""

        def problem(text: str) -> ev.EditPreviewed:
            return ev.EditPreviewed(command_id=command_id, problem=text)

        try:
            edits = self._read(changes)
        except StateError as error:
            return self._previews.publish(problem(redactor.text(str(error))))
        preview = self._make_preview()
        return self._previews.run(
            lambda: preview_edit(preview, edits, _by_hand(""), command_id), problem, runs_code=preview.runs_code
        )

    def _make_preview(self) -> Preview:
        return Preview(self._agent, self._settle, self._agent.phases, self._tools, self._agent_time())

    # -- phases ------------------------------------------------------------------------------------------------------

    def _go(self, order: cmd.GoToPhase, command_id: str) -> None:
        self._check_phase(order.phase)
        if self._move_at_turn_end is not None:
            (earlier, ident), self._move_at_turn_end = self._move_at_turn_end, None
            self._refuse(ident, earlier.command, f"Another phase was asked for before {earlier.phase} was entered")
        if order.when == "turn-end" and self._agent.host.turn_open:
            self._move_at_turn_end = (order, command_id)
            text = f"The conversation goes to {order.phase} when the turn has ended"
            self._agent.emit(ev.Notice(level="info", code="phase", text=text))
        else:
            self._queue_move(order, command_id)

    def on_turn_ended(self) -> None:
        """Queue the move asked for at the turn's end, behind that end's steps."""
        if self._move_at_turn_end is not None:
            move, self._move_at_turn_end = self._move_at_turn_end, None
            self._queue_move(*move)

    def _queue_move(self, order: cmd.GoToPhase, command_id: str) -> None:
        async def move() -> None:
            try:
                self._check_phase(order.phase)
            except AgentError as error:
                self._refuse(command_id, order.command, str(error))
                return
            await self._pipeline.move(order.phase, "operator", order.reason, by_operator=True)

        self._agent.queue.put("transition", move)

    def _check_phase(self, name: str) -> PhaseRunner:
        phases = require_phases(self._agent.phases, self._agent.plan.name, name)
        phases.machine.check_target(name, by_operator=True)
        return phases

    def _preview_phase(self, order: cmd.PreviewPhase, command_id: str) -> None:
        self.preview_phase(order.phase, command_id)

    def preview_phase(self, name: str, command_id: str = "") -> Future[ev.PhasePreviewed]:
        """Publish what going to a phase would do, and return the same."""

        def problem(text: str) -> ev.PhasePreviewed:
            return ev.PhasePreviewed(command_id=command_id, phase=name, problem=text)

        try:
            phases = self._check_phase(name)
        except AgentError as error:
            return self._previews.publish(problem(str(error)))
        preview = self._make_preview()
        has_function = not isinstance(phases.machine.phases[name].instruction.source, str)
        return self._previews.run(
            lambda: preview_phase(preview, name, command_id), problem, runs_code=preview.runs_code or has_function
        )

    # -- watchers ----------------------------------------------------------------------------------------------------

    def _switch(self, order: cmd.SwitchWatcher, command_id: str) -> None:
        self.switch_watcher(order.watcher, order.muted, "operator")

    def switch_watcher(self, name: str, muted: bool, actor: ev.Actor) -> None:
        """Mute or unmute a watcher; raise `AgentError` for an unknown one."""
        self._check_watcher(name)
        watchers = self._settle.watchers
        (watchers.mute if muted else watchers.unmute)(name)
        self._agent.emit(ev.WatcherSwitched(watcher=name, muted=muted, actor=actor))

    def _fire(self, order: cmd.FireWatcher, command_id: str) -> None:
        self._check_watcher(order.watcher)

        async def fire() -> None:
            try:
                self._check_watcher(order.watcher)
            except AgentError as error:
                self._refuse(command_id, order.command, str(error))
                return
            # Its writes are the operator's, after which state settles and transitions are evaluated.
            await self._settle.force(order.watcher, FIRED)

        self._agent.queue.put("watcher fired", fire)

    def _check_watcher(self, name: str) -> None:
        names = [status.name for status in self._settle.watchers.status]
        if name not in names:
            raise AgentError(
                f"There is no watcher {name[:80]!r}",
                remedy=f"Watchers: {', '.join(names) or 'none'}",
                field="watcher",
                value=name,
            )

    # -- the model ---------------------------------------------------------------------------------------------------

    def _send_context(self, order: cmd.GiveContext, command_id: str) -> None:
        _check_text(order.text, "There is no context to send: the text is empty")
        try:
            self._executor.perform(SendContext((order.text,), "the operator"))
        except GeminiLiveError as error:
            raise AgentError(f"The context was not sent: {error.message}", remedy=error.remedy) from None

    def _set_instruction(self, order: cmd.SetInstruction, command_id: str) -> None:
        agent = self._agent
        if order.text.strip() or self._agent.phases is None:
            _check_text(order.text, "An agent without phases needs an instruction: the text is empty")
        if order.text == agent.plan.definition.instruction:
            raise AgentError("That is the agent's instruction already")
        self._steering.replace_instruction(order.text)
        agent.emit(describe(agent.plan))

    # -- answering ---------------------------------------------------------------------------------------------------

    def _refuse(self, command_id: str, command: str, reason: str) -> None:
        self._agent.emit(ev.CommandRefused(command_id=command_id, command=command, reason=redactor.text(reason)))

    async def close(self) -> None:
        """Cancel previews that still run."""
        await self._previews.close()


def _by_hand(reason: str) -> Origin:
    return Origin("operator", "", reason)


def _check_text(text: str, empty: str) -> None:
    if not text.strip():
        raise AgentError(empty, field="text")
    if len(text) > cmd.MAX_TEXT:
        raise AgentError(
            f"The text has {len(text)} characters, at most {cmd.MAX_TEXT} can be sent at once", field="text"
        )
