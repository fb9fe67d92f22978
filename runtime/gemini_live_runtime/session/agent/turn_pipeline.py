"""The steps in which a mind decides, each in its order: a turn begins and ends, a tool ends, an extraction arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.extraction_runner import ExtractionFailure, ExtractionResult
from gemini_live_runtime.conversation.needs import NO_REPAIR, RepairAction
from gemini_live_runtime.conversation.transcript import ToolCallSummary, TranscriptTurn
from gemini_live_runtime.conversation.transitions import TransitionResult
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.session_keys import SIGNAL
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.temporal import TemporalEvent
from gemini_live_runtime.tools.dispatch import Outcome

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.extraction import TriggerEvent
    from gemini_live_runtime.session.agent.steering_runner import Moment
    from gemini_live_runtime.session.orchestrator import Orchestrator

EXTRACTION_GRACE_S = 0.5
"""Seconds that the end of a turn waits for extractors; what they find later is taken up when it comes."""

SOFT_TURN = "soft turn"
"""The reason of a turn's end when the model kept silent and that is fine."""

TURN_BEGINS = Origin("signal", "", "a turn begins")

ESCALATION = "session:repair:escalation"
UNFULFILLED = "session:repair:unfulfilled"


class TurnPipeline:
    """The steps of one session; each is run by the control lane."""

    def __init__(self, mind: Orchestrator) -> None:
        self._mind = mind
        self._reading = False
        self._by = "model"

    # -- turns -------------------------------------------------------------------------------------------------------

    async def turn_began(self, number: int, by: str) -> None:
        """What held for the last turn only is cleared, now that everything its end set off is done."""
        self._by = by
        state = self._mind.state
        with writing_as(TURN_BEGINS):
            state.clear_scope("turn")
        state.turn_number = number

    async def turn_ended(self, number: int, completed: ev.TurnCompleted, *, held: bool = False) -> None:
        """Read the turn, let state settle, move on, tell the model, tell listeners, count, keep.

        `held`: it ended while the agent was held, so that needs may be unfulfilled because nothing was decided.
        """
        mind = self._mind
        mind.signals.settle()
        self._final_transcripts()
        await self._read("turn")
        await mind.settler.settle()
        # A turn in which only the model spoke is nobody's chance to get further.
        turn = self._turn_just_ended()
        users = self._by != "model" or (turn is not None and turn.user != "")
        if users:
            await mind.settler.observe(TemporalEvent("turn"))
            await mind.settler.settle()
        result = await self._advance(number)
        action = self._repair() if users and result is None and not held else NO_REPAIR
        await mind.settler.settle()
        if action.kind == "escalate":
            # What escalation has set may be what a way out waits for.
            result = await self._advance(number)
            await mind.settler.settle()
        if completed.reason != SOFT_TURN:
            self._flush()
            await self._steer("turn", result, nudge=action.text)
        await mind.callbacks.control("on_turn_boundary", mind.state, mind.user_writer)
        await mind.callbacks.control("on_turn_complete", number)
        await mind.settler.settle()
        mind.turn_count += 1
        with writing_as(SIGNAL):
            mind.state.set("session:turn_count", mind.turn_count)
        mind.fast.turn_measured(number)
        mind.publish_state()
        mind.keeper.save()
        mind.fast.schedule()

    def _final_transcripts(self) -> None:
        mind = self._mind
        turn = self._turn_just_ended()
        if turn is not None:
            if turn.model:
                mind.callbacks.fast("on_output_transcript", turn.model, True)
            if turn.user and turn.by != "typed":
                mind.callbacks.fast("on_input_transcript", turn.user, True)

    def _turn_just_ended(self) -> TranscriptTurn | None:
        """What was said in it; None when nobody said anything."""
        # By its number: another turn may have ended while this one waited for its steps.
        return self._mind.transcript.ended_turn(self._mind.state.turn_number)

    def _flush(self) -> None:
        mind = self._mind
        if mind.pending.has_context and mind.writer.live and mind.steersman.immediate:
            mind.user_writer.flush()

    # -- tools -------------------------------------------------------------------------------------------------------

    async def tool_ended(self, outcome: Outcome) -> None:
        """What a tool has written counts before the model hears its answer, and so does the phase it leads to."""
        mind = self._mind
        ran = outcome.status in ("ok", "error", "timeout")
        if outcome.status != "cancelled":
            await mind.stops.answer(outcome.call_id, outcome.name)
        if ran:
            mind.signals.tool_ended(outcome.name, outcome.status == "ok")
        summary = ToolCallSummary.of(outcome.call_id, outcome.name, outcome.args, outcome.result, outcome.status)
        mind.transcript.add_tool_call(summary)
        mind.signals.settle()
        await mind.settler.settle()
        if ran:
            await mind.settler.observe(TemporalEvent("tool", name=outcome.name, ok=outcome.status == "ok"))
        await mind.settler.settle()
        result = await self._advance(mind.body.turn)
        answer = await mind.desk.answer(outcome)
        await mind.settler.settle()
        silent = outcome.status == "cancelled" or answer.scheduling == "SILENT"
        await self._steer("between" if silent else "tool", result)
        mind.publish_state()
        await mind.stops.telling()
        mind.answer(outcome, answer)
        if ran:
            await self._read("tool-call", tool=outcome.name, grace_s=0.0)
        mind.fast.schedule()

    # -- extraction --------------------------------------------------------------------------------------------------

    async def generation_completed(self) -> None:
        """The model has said all of its answer, though it may still be heard."""
        mind = self._mind
        await self._read("generation-complete", grace_s=0.0)
        await mind.callbacks.control("on_generation_complete")
        await mind.settler.settle()

    async def _read(
        self, event: TriggerEvent, *, tool: str = "", phase: str = "", grace_s: float = EXTRACTION_GRACE_S
    ) -> None:
        mind = self._mind
        asked = mind.extraction.trigger(
            event,
            mind.turn_count,
            mind.transcript.window_with_current,
            tool=tool,
            phase=phase,
            of_turn=mind.body.turn,
        )
        if asked and grace_s > 0:
            self._reading = True
            try:
                await mind.extraction.drain(grace_s)
            finally:
                self._reading = False

    def extracted(self, result: ExtractionResult) -> None:
        """An extractor has found something; it is in the state already."""
        mind = self._mind
        mind.publish_state()
        mind.body.emit(
            ev.ExtractionFinished(
                extractor=result.extractor,
                trigger=result.event,
                of_turn=result.of_turn,
                value=result.fields,
                refused={refusal.field: refusal.reason for refusal in result.refused},
                ms=round(result.duration_s * 1000, 1),
                merged=result.merged,
            )
        )
        for decision in result.decisions:
            mind.body.emit(
                ev.PromotionDecided(
                    extractor=result.extractor,
                    field=decision.field,
                    key=decision.key,
                    value=decision.value,
                    accepted=decision.accepted,
                    reason=decision.reason,
                )
            )
        waited_for = self._reading
        mind.lane.put("extracted", lambda: self._after_extraction(result, moves=not waited_for))

    async def _after_extraction(self, result: ExtractionResult, *, moves: bool) -> None:
        await self._mind.callbacks.control("on_extracted", result.extractor, result.fields)
        # The end of a turn waited for it and has moved on already.
        await self.between(moves)

    def extraction_failed(self, failure: ExtractionFailure) -> None:
        """An extractor has found nothing that can be used."""
        mind = self._mind
        mind.body.emit(
            ev.ExtractionFailed(
                extractor=failure.extractor,
                trigger=failure.event,
                of_turn=failure.of_turn,
                reason=failure.text,
                raised_at=failure.raised_at,
                ms=round(failure.duration_s * 1000, 1),
                merged=failure.merged,
            )
        )
        mind.lane.put("extraction failed", lambda: self._told_failure(failure))

    async def _told_failure(self, failure: ExtractionFailure) -> None:
        await self._mind.callbacks.control("on_extraction_error", failure.extractor, failure.text)
        await self.between(False)

    async def time_passed(self) -> None:
        """Time alone may have completed a pattern."""
        await self._mind.settler.observe(TemporalEvent("tick"))
        await self.between(True)

    # -- phases ------------------------------------------------------------------------------------------------------

    async def between(self, may_move: bool) -> None:
        """Something changed outside of turns and tools."""
        mind = self._mind
        await mind.settler.settle()
        # While the model waits for a tool, the end of that tool is the moment to move.
        if may_move and not mind.body.awaits_tools:
            result = await self._advance(mind.body.turn)
            await mind.settler.settle()
            await self._steer("between", result)
        mind.fast.schedule()

    async def move(self, name: str, source: str, reason: str, by_operator: bool) -> None:
        """Go to a phase because somebody said so."""
        mind = self._mind
        assert mind.director is not None
        try:
            result = await mind.director.move(
                name, mind.body.turn, source=source, reason=reason, by_operator=by_operator
            )
        except AgentError as error:
            mind.body.emit(ev.Notice(level="warning", code="phase", text=error.message, remedy=error.remedy))
            return
        await self._follow(result)
        await mind.settler.settle()
        await self._steer("tool" if mind.body.awaits_tools else "between", result)

    async def _steer(self, moment: Moment, result: TransitionResult | None = None, *, nudge: str = "") -> None:
        await self._mind.stops.telling()
        await self._mind.steersman.steer(moment, result, nudge=nudge)

    async def _advance(self, turn: int) -> TransitionResult | None:
        director = self._mind.director
        result = None if director is None else await director.advance(turn)
        if result is not None:
            await self._follow(result)
        return result

    async def _follow(self, result: TransitionResult) -> None:
        self.entered(result)
        await self._read("phase-change", phase=result.transition.to_phase, grace_s=0.0)

    def entered(self, result: TransitionResult) -> None:
        """A phase was entered: what it needs is counted anew."""
        mind = self._mind
        mind.steersman.entered(result)
        if mind.needs is not None:
            mind.needs.reset(result.transition.to_phase)
            # What was given up stays told: the phase that takes over wants to know it.
            self._call_off(ESCALATION)

    def _repair(self) -> RepairAction:
        """What is done when the phase's needs get no further."""
        mind = self._mind
        if mind.needs is None or mind.director is None:
            return NO_REPAIR
        phase = mind.director.machine.current_phase
        action = mind.needs.evaluate(phase.name, phase.needs, mind.state)
        if action.kind == "none":
            if not mind.needs.escalated:
                self._call_off()
            return NO_REPAIR
        mind.body.emit(
            ev.RepairActed(phase=phase.name, action=action.kind, unfulfilled=tuple(action.keys), attempt=action.attempt)
        )
        if action.kind == "escalate":
            with writing_as(Origin("phase", phase.name, "its needs stay unfulfilled")):
                mind.state.set(ESCALATION, True)
                mind.state.set(UNFULFILLED, action.keys)
        return action

    def _call_off(self, *keys: str) -> None:
        state = self._mind.state
        with writing_as(Origin("phase", "", "progress")):
            for key in keys or (ESCALATION, UNFULFILLED):
                state.remove(key)
