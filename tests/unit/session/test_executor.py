"""Effects reach the wire in order, and one that fails stops none of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any

import pytest
from tests.unit.session.recording_writer import RecordingWriter, closed, notes

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import ConnectionClosedError, ProtocolError
from gemini_live_runtime.session.outbound.context_queue import ContextNotSent, PendingContext
from gemini_live_runtime.session.ports.messages import ContextNote
from gemini_live_runtime.session.rules.effects import (
    CancelDeferredPrompt,
    EffectMode,
    EffectPolicy,
    EmitEvent,
    LiveEffect,
    PromptModel,
    Reaction,
    SendContext,
    SignalUserActivityEnd,
    SignalUserActivityStart,
    TransitionPhase,
    UpdateInstruction,
)
from gemini_live_runtime.session.rules.executor import MAX_CONCURRENT, EffectFault, LiveEffectExecutor


class Harness:
    """Executor with its writer, queue and reports.

    Entering the phase `slow` takes an hour; `stubborn` ignores its cancellation.
    """

    def __init__(self, *waiting: str, prompt: bool = False) -> None:
        self.wire = RecordingWriter()
        self.pending = PendingContext()
        self.pending.extend(notes(*waiting))
        if prompt:
            self.pending.arm_prompt()
        self.emitted: list[ev.Payload] = []
        self.entered: list[tuple[str, str]] = []
        self.reports: list[EffectFault | ContextNotSent] = []
        self.executor = LiveEffectExecutor(
            self.wire,
            self.pending,
            emit=self.emitted.append,
            transition=self.transition,
            report=self.reports.append,
        )

    def transition(self, target: str, reason: str) -> Awaitable[None] | None:
        if target == "nowhere":
            raise LookupError("There is no phase nowhere")
        if target in ("slow", "stubborn", "failing", "leaving"):
            return self.enter_slowly(target, reason)
        self.entered.append((target, reason))
        return None

    async def enter_slowly(self, target: str, reason: str) -> None:
        if target == "failing":
            raise LookupError("it is locked")
        if target == "leaving":
            raise SystemExit(3)
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            if target == "slow":
                raise
            await asyncio.sleep(3600)
        self.entered.append((target, reason))

    def react(self, *effects: LiveEffect, policy: EffectPolicy | None = None) -> None:
        self.executor.perform_reactions(
            [Reaction("rule", effect, policy or EffectPolicy(), defined_at="rules.py:3") for effect in effects]
        )

    @property
    def errors(self) -> list[str]:
        return [report.error for report in self.reports if isinstance(report, EffectFault)]


CONCURRENT = EffectPolicy(EffectMode.CONCURRENT)
NOTICE = ev.Notice(level="info", code="x", text="x")


def run(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


@pytest.fixture
def harness() -> Harness:
    return Harness()


async def test_an_armed_prompt_goes_out_behind_the_queued_context() -> None:
    harness = Harness("one", prompt=True)

    harness.executor.perform(PromptModel("playback drained"))

    assert harness.wire.posted == [("context", ("model", ["one"], False)), ("prompt", None)]
    assert harness.wire.reasons == ["", "playback drained"]
    assert harness.pending.is_empty


async def test_without_an_armed_prompt_only_the_context_goes_out() -> None:
    harness = Harness("one")

    harness.executor.perform(PromptModel())

    assert harness.wire.kinds == ["context"]


async def test_an_armed_prompt_needs_no_context() -> None:
    harness = Harness(prompt=True)

    harness.executor.perform(PromptModel())

    assert harness.wire.kinds == ["prompt"]


async def test_a_cancelled_prompt_leaves_the_context() -> None:
    harness = Harness("one", prompt=True)

    harness.executor.perform(CancelDeferredPrompt())

    assert harness.pending.drain() == (notes("one"), False)
    assert harness.wire.posted == []


async def test_effects_reach_the_wire_in_their_order(harness: Harness) -> None:

    harness.react(
        SignalUserActivityStart(), SignalUserActivityEnd(), UpdateInstruction("Be brief.", "phase"), SendContext(("a",))
    )

    assert harness.wire.kinds == ["activity_start", "activity_end", "instruction", "context"]
    assert harness.wire.posted[2] == ("instruction", "Be brief.")
    assert harness.reports == []


async def test_context_goes_out_at_once_in_its_role_and_leaves_what_waits() -> None:
    harness = Harness("one")

    harness.executor.perform(SendContext(("a", "b"), reason="mood", role="user"))

    assert harness.wire.posted == [("context", ("user", ["a", "b"], False))]
    assert harness.wire.reasons == ["mood"]
    assert len(harness.pending) == 1


async def test_no_context_is_no_message(harness: Harness) -> None:

    harness.executor.perform(SendContext(()))

    assert harness.wire.posted == []


async def test_an_event_is_emitted(harness: Harness) -> None:

    harness.executor.perform(EmitEvent(NOTICE))

    assert harness.emitted == [NOTICE]


async def test_a_transition_is_really_made(harness: Harness) -> None:

    harness.react(TransitionPhase("farewell", "the caller is done"))

    assert harness.entered == [("farewell", "the caller is done")]


def test_a_transition_that_takes_time_is_waited_for() -> None:
    async def main() -> None:
        harness = Harness()
        harness.react(TransitionPhase("slow"), SignalUserActivityStart())
        assert harness.wire.kinds == []
        await asyncio.sleep(3601)
        assert harness.entered == [("slow", "")]
        assert harness.wire.kinds == ["activity_start"]

    run(main())


async def test_an_effect_that_fails_is_named_and_the_others_are_performed(harness: Harness) -> None:

    harness.react(TransitionPhase("nowhere"), SignalUserActivityStart())

    fault = harness.reports[0]
    assert isinstance(fault, EffectFault)
    assert (fault.source, fault.effect) == ("rule", TransitionPhase("nowhere"))
    assert fault.error == "LookupError: There is no phase nowhere"
    assert "in transition" in fault.trace
    assert fault.defined_at == "rules.py:3"
    assert harness.wire.kinds == ["activity_start"]


async def test_executing_one_effect_raises_what_went_wrong(harness: Harness) -> None:
    harness.wire.failing["instruction"] = closed()

    with pytest.raises(ConnectionClosedError):
        harness.executor.perform(UpdateInstruction("Be brief."))


def test_a_blocking_effect_is_given_up_at_its_timeout() -> None:
    async def main() -> None:
        harness = Harness()
        harness.react(TransitionPhase("slow"), SignalUserActivityStart(), policy=EffectPolicy(timeout_s=2.0))
        await asyncio.sleep(1.9)
        assert harness.errors == []
        await asyncio.sleep(0.2)
        assert harness.errors == ["took longer than 2 s"]
        assert harness.entered == []
        assert harness.wire.kinds == ["activity_start"]

    run(main())


def test_a_concurrent_effect_is_not_waited_for() -> None:
    async def main() -> None:
        harness = Harness()
        harness.react(TransitionPhase("slow"), policy=CONCURRENT)
        harness.react(SignalUserActivityStart())
        assert harness.entered == []
        assert harness.wire.kinds == ["activity_start"]
        await asyncio.sleep(3601)
        assert harness.entered == [("slow", "")]

    run(main())


def test_a_concurrent_effect_that_fails_or_takes_too_long_is_reported() -> None:
    async def main() -> None:
        harness = Harness()
        harness.react(TransitionPhase("nowhere"), policy=CONCURRENT)
        harness.react(TransitionPhase("slow"), policy=EffectPolicy(EffectMode.CONCURRENT, 1.0))
        await asyncio.sleep(2)
        assert harness.errors == ["LookupError: There is no phase nowhere", "took longer than 1 s"]

    run(main())


def test_too_many_concurrent_effects_are_not_begun_but_reported() -> None:
    async def main() -> None:
        harness = Harness()
        harness.react(*[TransitionPhase("slow")] * (MAX_CONCURRENT + 1), policy=CONCURRENT)
        assert harness.errors == [f"not started: {MAX_CONCURRENT} effects are running"]
        await harness.executor.close()

    run(main())


def test_blocking_effects_that_take_time_count_too_and_what_comes_after_one_too_many_is_performed() -> None:
    async def main() -> None:
        harness = Harness()
        for _ in range(MAX_CONCURRENT + 1):
            harness.react(TransitionPhase("slow"), SignalUserActivityStart())
        assert harness.errors == [f"not started: {MAX_CONCURRENT} effects are running"]
        assert harness.wire.kinds == ["activity_start"]
        await harness.executor.close()

    run(main())


def test_an_effect_that_fails_after_a_while_is_told_with_its_traceback() -> None:
    async def main() -> None:
        harness = Harness()
        harness.react(TransitionPhase("failing"), TransitionPhase("leaving"), SignalUserActivityStart())
        await asyncio.sleep(2)
        assert harness.errors == ["LookupError: it is locked", "SystemExit: 3"]
        assert all("enter_slowly" in fault.trace for fault in harness.reports if isinstance(fault, EffectFault))
        assert harness.wire.kinds == ["activity_start"]

    run(main())


def test_closing_cancels_what_is_under_way_and_names_what_will_not_end() -> None:
    async def main() -> None:
        harness = Harness()
        harness.react(TransitionPhase("slow"), TransitionPhase("stubborn"), policy=CONCURRENT)
        await asyncio.sleep(0)
        await harness.executor.close()
        assert asyncio.get_running_loop().time() == 2.0
        assert [report.effect for report in harness.reports if isinstance(report, EffectFault)] == [
            TransitionPhase("stubborn")
        ]
        assert harness.entered == []

    run(main())


async def test_a_concurrent_effect_begun_just_before_the_end_still_reaches_the_wire(harness: Harness) -> None:

    harness.react(UpdateInstruction("Be brief."), policy=CONCURRENT)
    await harness.executor.close()

    assert harness.wire.kinds == ["instruction"]


async def test_a_prompt_is_not_sent_without_the_context_it_is_about() -> None:
    harness = Harness("one", prompt=True)
    harness.wire.failing["context"] = closed()

    harness.react(PromptModel())

    assert harness.wire.posted == []
    assert harness.pending.drain() == (notes("one"), True)
    assert [report.kept for report in harness.reports if isinstance(report, ContextNotSent)] == [True]


async def test_a_prompt_that_cannot_be_sent_stays_armed() -> None:
    harness = Harness("one", prompt=True)
    harness.wire.failing["prompt"] = closed()

    harness.react(PromptModel())

    assert harness.wire.kinds == ["context"]
    assert harness.pending.drain() == ((), True)
    assert harness.errors == ["ConnectionClosedError: The connection ended."]


async def test_what_was_sent_before_a_failure_is_not_sent_again() -> None:
    harness = Harness("one")
    harness.pending.push(ContextNote("two", "user"))
    sent = harness.wire.send_context

    def once(*args: Any, **options: Any) -> None:
        if harness.wire.posted:
            raise closed()
        sent(*args, **options)

    harness.wire.send_context = once  # type: ignore[method-assign]
    harness.react(PromptModel())

    assert harness.wire.posted == [("context", ("model", ["one"], False))]
    assert harness.pending.drain_context() == notes("two", role="user")


async def test_context_refused_for_what_it_is_does_not_hold_the_prompt_up() -> None:
    harness = Harness("one", prompt=True)
    harness.wire.failing["context"] = ProtocolError("The message cannot be written")

    harness.react(PromptModel())

    assert harness.wire.kinds == ["prompt"]
    assert harness.pending.is_empty
    assert [report.kept for report in harness.reports if isinstance(report, ContextNotSent)] == [False]
