"""What the operator changes in an agent's mind while the call goes on: carried out here, or refused in a sentence.

State is written at once, as a program's writes are, so that it can be edited while the agent is held; what runs the
agent's code or moves the conversation is a step of the control lane.
"""

from __future__ import annotations

from asyncio import Future
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError, StateError
from gemini_live_runtime.session.debugger.preview import PreviewScene, foresee_edit, foresee_phase
from gemini_live_runtime.session.debugger.preview_runner import PreviewRunner
from gemini_live_runtime.session.definition.description import describe
from gemini_live_runtime.session.rules.effects import SendContext
from gemini_live_runtime.state.edits import AppliedEdit, Edit, EditHistory, read_edits
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.text import redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gemini_live_runtime.session.debugger.command_router import CommandRouter
    from gemini_live_runtime.session.orchestrator import Orchestrator

OWN_KEYS = frozenset(
    ("session:phase", "session:phase_needs", "session:phase_requires", "session:active_tools", "session:wire_phase")
)
"""Keys that say where the session stands; writing them would change what is told and not what is."""

FIRED = "the operator fired it"


class OperatorCommands:
    """The operator's hands on the mind of one session."""

    def __init__(self, mind: Orchestrator) -> None:
        self._mind = mind
        self._emit = mind.body.emit
        self._history = EditHistory(mind.state)
        self._oracle = PreviewRunner(mind.body.emit)
        self._going: tuple[cmd.GoToPhase, str] | None = None
        """The phase to go to when the turn has ended, and the command that asked for it."""

    def take_orders(self, orders: CommandRouter) -> None:
        """Take on the orders that belong here."""
        orders.take(cmd.EditState, self._edit)
        orders.take(cmd.PreviewEdit, self._preview_edit)
        orders.take(cmd.UndoEdit, self._undo)
        orders.take(cmd.RedoEdit, self._redo)
        orders.take(cmd.GoToPhase, self._go)
        orders.take(cmd.PreviewPhase, self._preview_phase)
        orders.take(cmd.SwitchWatcher, self._switch)
        orders.take(cmd.FireWatcher, self._fire)
        orders.take(cmd.GiveContext, self._give)
        orders.take(cmd.SetInstruction, self._instruct)

    # -- state -------------------------------------------------------------------------------------------------------

    def _edit(self, order: cmd.EditState, command_id: str) -> None:
        made = self._history.apply(self._read(order.edits), _by_hand(order.reason))
        self._applied(command_id, "edit", made)

    def _undo(self, order: cmd.UndoEdit, command_id: str) -> None:
        self._applied(command_id, "undo", self._history.undo(_by_hand("taken back"), force=order.force))

    def _redo(self, order: cmd.RedoEdit, command_id: str) -> None:
        self._applied(command_id, "redo", self._history.redo(_by_hand("made again"), force=order.force))

    def _applied(self, command_id: str, how: Any, made: tuple[AppliedEdit, ...]) -> None:
        history = self._history
        values = tuple(item.to_json() for item in made)
        self._emit(
            ev.EditsApplied(command_id=command_id, how=how, values=values, undo=history.undoable, redo=history.redoable)
        )

    def _read(self, given: Iterable[Mapping[str, Any]]) -> tuple[Edit, ...]:
        edits = read_edits(given)
        inputs = {item.key: item.inputs for item in self._mind.settler.computed.variables}
        for edit in edits:
            if edit.key in inputs:
                raise StateError(
                    f"{edit.key} is computed and cannot be written",
                    remedy=f"It follows from {', '.join(inputs[edit.key])}",
                    field="key",
                    value=edit.key,
                )
            if edit.key in OWN_KEYS:
                raise StateError(
                    f"{edit.key} only tells how the session stands",
                    remedy="Go to a phase instead" if edit.key != "session:wire_phase" else "",
                    field="key",
                    value=edit.key,
                )
        return edits

    def _preview_edit(self, order: cmd.PreviewEdit, command_id: str) -> None:
        self.foresee_edit(order.edits, command_id)

    def foresee_edit(self, given: Iterable[Mapping[str, Any]], command_id: str = "") -> Future[ev.EditPreviewed]:
        """Tell what an edit would do; the same as a result."""

        def trouble(problem: str) -> ev.EditPreviewed:
            return ev.EditPreviewed(command_id=command_id, problem=problem)

        try:
            edits = self._read(given)
        except StateError as error:
            return self._oracle.say(trouble(redactor.text(str(error))))
        scene = PreviewScene.of(self._mind)
        origin = _by_hand("")
        return self._oracle.ask(
            lambda: foresee_edit(scene, edits, origin, command_id), trouble, runs_code=scene.runs_code
        )

    # -- phases ------------------------------------------------------------------------------------------------------

    def _go(self, order: cmd.GoToPhase, command_id: str) -> None:
        self._check_phase(order.phase)
        if self._going is not None:
            (earlier, ident), self._going = self._going, None
            self._refuse(ident, earlier.command, f"Another phase was asked for before {earlier.phase} was entered")
        if order.when == "turn-end" and self._mind.body.turn_open:
            self._going = (order, command_id)
            text = f"The conversation goes to {order.phase} when the turn has ended"
            self._emit(ev.Notice(level="info", code="phase", text=text))
        else:
            self._move(order, command_id)

    def turn_ended(self) -> None:
        """The turn has ended, and what follows from that is on the control lane."""
        if self._going is not None:
            going, self._going = self._going, None
            self._move(*going)

    def _move(self, order: cmd.GoToPhase, command_id: str) -> None:
        async def move() -> None:
            try:
                self._check_phase(order.phase)
            except AgentError as error:
                self._refuse(command_id, order.command, str(error))
                return
            await self._mind.pipeline.move(order.phase, "operator", order.reason, by_operator=True)

        self._mind.lane.put("transition", move)

    def _check_phase(self, name: str) -> None:
        director = self._mind.director
        if director is None:
            raise AgentError(f"Agent {self._mind.plan.name} has no phases", field="phase", value=name)
        phases = director.machine.phases
        if name not in phases:
            known = ", ".join(phases)
            raise AgentError(f"There is no phase {name[:80]!r}", remedy=f"Phases: {known}", field="phase", value=name)
        if director.machine.entered and director.machine.current == name:
            raise AgentError(f"The conversation is in phase {name} already", field="phase", value=name)

    def _preview_phase(self, order: cmd.PreviewPhase, command_id: str) -> None:
        self.foresee_phase(order.phase, command_id)

    def foresee_phase(self, name: str, command_id: str = "") -> Future[ev.PhasePreviewed]:
        """Tell what going to a phase would do; the same as a result."""

        def trouble(problem: str) -> ev.PhasePreviewed:
            return ev.PhasePreviewed(command_id=command_id, phase=name, problem=problem)

        try:
            self._check_phase(name)
        except AgentError as error:
            return self._oracle.say(trouble(str(error)))
        scene = PreviewScene.of(self._mind)
        assert scene.machine is not None
        written = not isinstance(scene.machine.phases[name].instruction.source, str)
        return self._oracle.ask(
            lambda: foresee_phase(scene, name, command_id), trouble, runs_code=scene.runs_code or written
        )

    # -- watchers ----------------------------------------------------------------------------------------------------

    def _switch(self, order: cmd.SwitchWatcher, command_id: str) -> None:
        self.switch(order.watcher, order.muted, "operator")

    def switch(self, name: str, muted: bool, actor: ev.Actor) -> None:
        """Mute a watcher, or hear it again; raises `AgentError` for one that does not exist."""
        self._check_watcher(name)
        watchers = self._mind.settler.watchers
        (watchers.mute if muted else watchers.unmute)(name)
        self._emit(ev.WatcherSwitched(watcher=name, muted=muted, actor=actor))

    def _fire(self, order: cmd.FireWatcher, command_id: str) -> None:
        self._check_watcher(order.watcher)

        async def fire() -> None:
            mind = self._mind
            try:
                self._check_watcher(order.watcher)
            except AgentError as error:
                self._refuse(command_id, order.command, str(error))
                return
            # What it writes is the operator's, after whom state settles and phases are asked.
            await mind.settler.fire(order.watcher, FIRED)

        self._mind.lane.put("watcher fired", fire)

    def _check_watcher(self, name: str) -> None:
        names = [status.name for status in self._mind.settler.watchers.status]
        if name not in names:
            raise AgentError(
                f"There is no watcher {name[:80]!r}",
                remedy=f"Watchers: {', '.join(names) or 'none'}",
                field="watcher",
                value=name,
            )

    # -- the model ---------------------------------------------------------------------------------------------------

    def _give(self, order: cmd.GiveContext, command_id: str) -> None:
        _check_text(order.text, "There is nothing to tell the model: the text is empty")
        try:
            self._mind.executor.perform(SendContext((order.text,), "the operator"))
        except GeminiLiveError as error:
            raise AgentError(f"The model was not told: {error.message}", remedy=error.remedy) from None

    def _instruct(self, order: cmd.SetInstruction, command_id: str) -> None:
        mind = self._mind
        if order.text.strip() or mind.director is None:
            _check_text(order.text, "An agent without phases needs an instruction: the text is empty")
        if order.text == mind.plan.definition.instruction:
            raise AgentError("That is the agent's instruction already")
        mind.replace_instruction(order.text)
        self._emit(describe(mind.plan))

    # -- answering ---------------------------------------------------------------------------------------------------

    def _refuse(self, command_id: str, command: str, reason: str) -> None:
        self._emit(ev.CommandRefused(command_id=command_id, command=command, reason=redactor.text(reason)))

    async def close(self) -> None:
        """Ask nothing more."""
        await self._oracle.close()


def _by_hand(reason: str) -> Origin:
    return Origin("operator", "", reason)


def _check_text(text: str, empty: str) -> None:
    if not text.strip():
        raise AgentError(empty, field="text")
    if len(text) > cmd.MAX_TEXT:
        raise AgentError(
            f"The text has {len(text)} characters, at most {cmd.MAX_TEXT} can be sent at once", field="text"
        )
