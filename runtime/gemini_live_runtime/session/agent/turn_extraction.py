"""Run extractors at their moments, publish what they find, and queue what follows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.extraction import ExtractionSchedule
from gemini_live_runtime.conversation.extraction_runner import ExtractionFailure, ExtractionResult, ExtractionRunner
from gemini_live_runtime.session.agent.faults import part_health

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.extraction import TriggerEvent
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner

EXTRACTION_GRACE_S = 0.5
"""Seconds that the end of a turn waits for extractors; what they find later is taken up when it comes."""


class TurnExtraction:
    """Extraction of one session."""

    def __init__(
        self,
        agent: AgentContext,
        callbacks: CallbackRunner,
        text_model: TextModel | None,
        reevaluate: Callable[[bool], Awaitable[None]],
    ) -> None:
        """`text_model` answers extractors of an agent that names none.

        `reevaluate(may_advance)` settles what an extractor has found.
        """
        self._agent = agent
        self._callbacks = callbacks
        self._reevaluate = reevaluate
        self.runner = ExtractionRunner(
            agent.state,
            ExtractionSchedule(agent.plan.definition.extractors),
            agent.plan.definition.text_model or text_model,
            agent.clock,
            self._on_extracted,
            self._on_failed,
            agent.host.on_change,
            self._on_health,
        )
        self._is_awaited = False
        """True while a step waits for extractors."""

    async def run(
        self, event: TriggerEvent, *, tool: str = "", phase: str = "", grace_s: float = EXTRACTION_GRACE_S
    ) -> None:
        """Start the extractors of `event`; wait at most `grace_s` seconds for them."""
        agent = self._agent
        started = self.runner.trigger(
            event,
            agent.turn_count,
            agent.transcript.window_with_current,
            tool=tool,
            phase=phase,
            of_turn=agent.host.turn,
        )
        if started and grace_s > 0:
            self._is_awaited = True
            try:
                await self.runner.drain(grace_s)
            finally:
                self._is_awaited = False

    def _on_extracted(self, result: ExtractionResult) -> None:
        """Publish what an extractor found, and queue what follows.

        It is in the state already.
        """
        agent = self._agent
        agent.emit(
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
            agent.emit(
                ev.PromotionDecided(
                    extractor=result.extractor,
                    field=decision.field,
                    key=decision.key,
                    value=decision.value,
                    accepted=decision.accepted,
                    reason=decision.reason,
                )
            )
        # The end of a turn that waits for it evaluates transitions itself.
        may_advance = not self._is_awaited
        agent.queue.put("extracted", lambda: self._after_extraction(result, may_advance=may_advance))

    async def _after_extraction(self, result: ExtractionResult, *, may_advance: bool) -> None:
        await self._callbacks.control("on_extracted", result.extractor, deepcopy(result.fields))
        await self._reevaluate(may_advance)

    def _on_health(self, name: str, well: bool) -> None:
        self._agent.emit(part_health("extractor", name, well))

    def _on_failed(self, failure: ExtractionFailure) -> None:
        self._agent.emit(
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
        self._agent.queue.put("extraction failed", lambda: self._after_failure(failure))

    async def _after_failure(self, failure: ExtractionFailure) -> None:
        await self._callbacks.control("on_extraction_error", failure.extractor, failure.text)
        await self._reevaluate(False)
