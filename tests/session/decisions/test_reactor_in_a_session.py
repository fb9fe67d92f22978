"""Reactor rules in a session: what they hear, and that what they want is done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.session.talking import SECOND_OF_SPEECH, agent, talk, two_phases

from gemini_live_runtime import (
    EffectMode,
    EffectPolicy,
    EmitEvent,
    LiveEffect,
    LiveEffectExecutor,
    LiveReactor,
    Phase,
    Reaction,
    ReactorEvent,
    ReactorRule,
    SendContext,
    State,
    Transition,
    TransitionPhase,
    UpdateInstruction,
    VoiceRuntimeState,
    key,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.session.rules import reactor
from gemini_live_runtime.session.rules.executor import MAX_CONCURRENT
from gemini_live_runtime.wire.audio_frame import encode_model_audio


def hearing(seen: list[Any]) -> ReactorRule:
    """Return a rule that only records the kinds of events."""

    def react(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> None:
        seen.append(type(event).__name__)

    return ReactorRule("hears", react)


def on_turn(effect: LiveEffect | Reaction) -> ReactorRule:
    """Return a rule with `effect` at the end of every turn."""

    def react(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> Iterable[LiveEffect | Reaction]:
        if isinstance(event, reactor.Live) and isinstance(event.event, ev.TurnCompleted):
            yield effect

    return ReactorRule("at the end", react)


async def test_rules_hear_events_state_ticks_speech_and_prompts() -> None:
    seen: list[Any] = []

    async with talk(agent().rule(hearing(seen))) as t:
        await t.writes(x=1)
        t.handle.user_speech_started()
        t.handle.user_speech_ended()
        t.handle.prompt()
        await t.passes(1.1)
    assert set(seen) == {"Live", "StateChanged", "UserSpeechStarted", "UserSpeechEnded", "PromptArmed", "TimerTick"}


async def test_rules_hear_when_the_model_is_heard_and_when_all_of_it_was(tmp_path: Path) -> None:
    seen: list[Any] = []

    async with talk(agent().rule(hearing(seen)), audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.ends()
        await t.passes(0.5)
        assert t.handle.voice_state().playback_active
        await t.passes(1)
        assert not t.handle.voice_state().playback_active
    assert [kind for kind in seen if kind.startswith("Playback")] == ["PlaybackStarted", "PlaybackDrained"]


async def test_context_that_a_rule_wants_is_sent() -> None:
    async with talk(agent().rule(on_turn(SendContext(("By the way.",), "news")))) as t:
        await t.turn()
        assert t.wire == [("model context", "By the way.")]
    assert [(done.rule, done.effect) for done in t.all(ev.ReactionPerformed)] == [("at the end", "SendContext")]


async def test_an_instruction_that_a_rule_wants_is_sent() -> None:
    async with talk(agent().rule(on_turn(UpdateInstruction("Be long.")))) as t:
        await t.turn()
        assert t.wire[0] == ("instruction", "Be long.")


async def test_an_instruction_that_a_rule_wants_outlasts_the_turn_and_the_connection() -> None:
    async with talk(agent().rule(on_turn(UpdateInstruction("Be long.")))) as t:
        await t.turn()
        await t.turn()
        assert [frame for frame in t.wire if frame[0] == "instruction"] == [("instruction", "Be long.")]
        await t.server.closes(1006)
        setup = await t.connects_again()
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be long."


async def test_an_event_that_a_rule_wants_is_an_event() -> None:
    wanted = EmitEvent(ev.Notice(level="info", code="mine", text="Hello."))

    async with talk(agent().rule(on_turn(wanted))) as t:
        await t.turn()
    assert [notice.code for notice in t.all(ev.Notice)] == ["mine"]


async def test_a_transition_that_a_rule_wants_is_made() -> None:
    of = agent().phase(*two_phases())

    async with talk(of.rule(on_turn(TransitionPhase("second", "enough")))) as t:
        await t.turn()
        assert t.handle.phase == "second"
    assert t.all(ev.PhaseEntered)[-1].trigger == "programmatic"


async def test_a_reaction_tells_how_it_is_waited_for() -> None:
    wanted = Reaction("mine", SendContext(("News.",)), EffectPolicy(EffectMode.CONCURRENT, 1.0))

    async with talk(agent().rule(on_turn(wanted))) as t:
        await t.turn()
        assert t.wire == [("model context", "News.")]


async def test_a_rule_that_raises_is_told_and_the_others_are_asked() -> None:
    def fails(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> None:
        if isinstance(event, reactor.Live) and isinstance(event.event, ev.TurnCompleted):
            raise RuntimeError("boom")

    async with talk(agent().rule(ReactorRule("bad", fails)).rule(on_turn(SendContext(("News.",))))) as t:
        await t.turn()
        assert t.sent("model context")
    assert [(failure.where, failure.name) for failure in t.failures()] == [("reactor rule", "bad")]


async def test_an_effect_that_fails_is_told() -> None:
    async with talk(agent().phase(Phase("only", "One.")).rule(on_turn(TransitionPhase("nowhere")))) as t:
        await t.turn()
    (failure,) = t.failures()
    assert (failure.where, failure.name) == ("effect TransitionPhase", "at the end")
    assert failure.defined_at.startswith("test_reactor_in_a_session.py:")


async def test_effects_that_take_time_are_bounded_and_one_too_many_is_told() -> None:
    wanted = Reaction("mine", TransitionPhase("second"), EffectPolicy(EffectMode.CONCURRENT))

    def react(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> list[Reaction]:
        over = isinstance(event, reactor.Live) and isinstance(event.event, ev.TurnCompleted)
        return [wanted] * (MAX_CONCURRENT + 3) if over else []

    ways = Transition("second", key("app:go"))
    of = agent().phase(Phase("first", "One.", transitions=ways), Phase("second", "Two.", terminal=True))
    async with talk(of.rule(ReactorRule("eager", react))) as t:
        await t.turn()
        assert t.handle.phase == "second"
    assert [failure.error for failure in t.failures()] == [f"not started: {MAX_CONCURRENT} effects are running"] * 3


async def test_a_prompt_waits_until_the_model_was_heard_to_the_end(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH * 2)))
        await t.ends()
        await t.passes(0.5)
        t.handle.prompt()
        await t.passes(1)
        assert t.sent("prompt") == []
        await t.passes(1)
        assert t.sent("prompt") == [("prompt",)]


async def test_a_prompt_waits_until_the_user_has_stopped_speaking() -> None:
    async with talk(agent()) as t:
        t.handle.user_speech_started()
        t.handle.prompt()
        await t.rests()
        assert t.sent("prompt") == []
        t.handle.user_speech_ended()
        await t.rests()
        assert t.sent("prompt") == [("prompt",)]


async def test_a_prompt_is_dropped_when_the_user_begins_to_speak_and_its_context_stays(tmp_path: Path) -> None:
    async with talk(agent(), audio=lambda: FileAudio(None, tmp_path / "out.wav")) as t:
        await t.server.sends(encode_model_audio(bytes(SECOND_OF_SPEECH)))
        await t.ends()
        await t.passes(0.3)
        t.handle.prompt()
        t.handle.user_speech_started()
        t.handle.user_speech_ended()
        await t.passes(3)
        assert t.sent("prompt") == []
        assert t.handle.voice_state().prompt_epoch == 1


async def test_a_typed_text_drops_the_prompt_that_waits() -> None:
    async with talk(agent()) as t:
        t.handle.user_speech_started()
        t.handle.prompt()
        await t.types("never mind")
        t.handle.user_speech_ended()
        await t.rests()
        assert t.wire == [("text", "never mind")]


async def test_one_reactor_and_one_executor_serve_a_session() -> None:
    async with talk(agent()) as t:
        orchestrator = t.stage.orchestrator
        assert isinstance(orchestrator.reactor, LiveReactor)
        assert isinstance(orchestrator.executor, LiveEffectExecutor)
        orchestrator.executor.perform(SendContext(("Directly.",)))
        await asyncio.sleep(0)
        await t.rests()
        assert t.wire == [("model context", "Directly.")]
