"""Floor control and the release of waiting prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, cast

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import traceback_of
from gemini_live_runtime.errors import AgentError
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
    UpdateInstruction,
)
from gemini_live_runtime.session.rules.reactor import (
    Live,
    LiveReactor,
    PlaybackDrained,
    PlaybackStarted,
    PromptArmed,
    ReactorEvent,
    ReactorRule,
    RuleFault,
    SoftTurnComplete,
    StateChanged,
    TimerTick,
    UserSpeechEnded,
    UserSpeechStarted,
    VoiceRuntimeState,
    voice_defaults,
)

INTERRUPTED = Live(
    ev.TurnInterrupted(by="server", cut_below=2, heard_samples=1, unheard_samples=1, heard_text="a", unheard_text="b")
)


class Reactor:
    """A reactor driven by events a second apart, in a session whose state is `state`."""

    def __init__(self, *rules: ReactorRule, state: Any = None) -> None:
        self.faults: list[RuleFault] = []
        self.reactor = LiveReactor(rules, self.faults.append)
        self.now = 0.0
        self.state = state

    def reactions(self, event: ReactorEvent) -> list[Reaction]:
        self.now += 1.0
        return self.reactor.react(event, now=self.now, state=self.state)

    def effects(self, *events: ReactorEvent) -> list[type[Any]]:
        """Return the kinds of effects that the last of `events` causes."""
        for event in events[:-1]:
            self.reactions(event)
        return [type(reaction.effect) for reaction in self.reactions(events[-1])]


def voice(activity: Literal["client", "server"] = "client") -> Reactor:
    return Reactor(*voice_defaults(lambda: activity == "client"))


@pytest.fixture
def reactor() -> Reactor:
    return voice()


# -- the rules of voice -------------------------------------------------------------------------------------------


def test_a_waiting_prompt_is_released_when_playback_has_drained() -> None:
    reactions = voice().reactions(PlaybackDrained(prompt_pending=True))

    assert [type(reaction.effect) for reaction in reactions] == [PromptModel]
    assert reactions[0].policy.mode is EffectMode.BLOCKING
    assert reactions[0].source == "release-prompt"


def test_nothing_is_released_when_no_prompt_waits() -> None:
    assert voice().effects(PlaybackDrained(prompt_pending=False)) == []


def test_a_user_who_speaks_drops_the_waiting_prompt(reactor: Reactor) -> None:

    effects = reactor.effects(PlaybackDrained(prompt_pending=True), UserSpeechStarted())

    assert effects == [CancelDeferredPrompt, SignalUserActivityStart]
    floor = reactor.reactor.voice
    assert (floor.user_speaking, floor.prompt_pending, floor.prompt_epoch) == (True, False, 1)


def test_a_prompt_waits_while_the_user_speaks_and_is_released_after(reactor: Reactor) -> None:

    assert reactor.effects(UserSpeechStarted(), PlaybackDrained(prompt_pending=True)) == []
    assert reactor.reactor.voice.prompt_pending
    assert reactor.effects(UserSpeechEnded(prompt_pending=True)) == [SignalUserActivityEnd, PromptModel]


def test_the_end_of_speech_is_only_marked_when_no_prompt_waits() -> None:
    assert voice().effects(UserSpeechEnded(prompt_pending=False)) == [SignalUserActivityEnd]


def test_no_activity_is_marked_where_the_server_decides_when_the_user_speaks() -> None:
    reactor = voice("server")

    assert reactor.effects(UserSpeechStarted()) == [CancelDeferredPrompt]
    assert reactor.effects(UserSpeechEnded(prompt_pending=True)) == [PromptModel]


def test_the_server_decides_unless_told_otherwise() -> None:
    assert Reactor(*voice_defaults()).effects(UserSpeechStarted()) == [CancelDeferredPrompt]


def test_a_prompt_armed_while_nobody_speaks_is_released_at_once() -> None:
    assert voice().effects(PromptArmed()) == [PromptModel]


@pytest.mark.parametrize("before", [PlaybackStarted(), UserSpeechStarted()])
def test_a_prompt_armed_while_somebody_speaks_waits(reactor: Reactor, before: ReactorEvent) -> None:

    assert reactor.effects(before, PromptArmed()) == []
    assert reactor.reactor.voice.prompt_pending


def test_a_prompt_is_not_released_into_speech_that_the_user_did_not_stop(reactor: Reactor) -> None:

    effects = reactor.effects(PlaybackStarted(), UserSpeechStarted(), UserSpeechEnded(prompt_pending=True))

    assert effects == [SignalUserActivityEnd]
    assert reactor.effects(PlaybackDrained(prompt_pending=True)) == [PromptModel]


def test_a_prompt_is_released_after_speech_that_did_stop_the_model() -> None:
    effects = voice().effects(PlaybackStarted(), UserSpeechStarted(), INTERRUPTED, UserSpeechEnded(prompt_pending=True))

    assert effects == [SignalUserActivityEnd, PromptModel]


def test_typed_text_drops_the_waiting_prompt_because_it_is_answered_itself(reactor: Reactor) -> None:

    assert reactor.effects(PlaybackStarted(), PromptArmed(), Live(ev.TextSent(text="hello"))) == [CancelDeferredPrompt]
    assert not reactor.reactor.voice.prompt_pending


@pytest.mark.parametrize(
    "event", [SoftTurnComplete(), TimerTick(3.0), StateChanged(()), Live(ev.GenerationCompleted()), PlaybackStarted()]
)
def test_other_events_call_for_nothing(event: ReactorEvent) -> None:
    assert voice().effects(PlaybackStarted(), PromptArmed(), event) == []


# -- the floor ----------------------------------------------------------------------------------------------------


def test_playback_is_active_from_its_start_to_its_end() -> None:
    playing = VoiceRuntimeState().apply(PlaybackStarted(), 1.0)
    drained = playing.apply(PlaybackDrained(prompt_pending=False), 2.5)

    assert (playing.playback_active, playing.floor_is_free) == (True, False)
    assert (drained.playback_active, drained.floor_is_free) == (False, True)
    assert drained.last_playback_drained_at == 2.5


def test_playback_that_was_cut_is_not_active() -> None:
    assert not VoiceRuntimeState(playback_active=True).apply(INTERRUPTED, 1.0).playback_active


def test_speaking_over_the_model_is_a_barge_in() -> None:
    over = VoiceRuntimeState(playback_active=True).apply(UserSpeechStarted(), 4.0)
    quiet = VoiceRuntimeState().apply(UserSpeechStarted(), 4.0)

    assert over.last_barge_in_at == 4.0
    assert quiet.last_barge_in_at is None


def test_the_prompt_epoch_advances_only_when_a_prompt_was_dropped() -> None:
    floor = VoiceRuntimeState().apply(UserSpeechStarted(), 1.0)
    assert floor.prompt_epoch == 0

    floor = floor.apply(PromptArmed(), 2.0).apply(UserSpeechStarted(), 3.0)
    assert floor.prompt_epoch == 1


# -- rules of one's own -------------------------------------------------------------------------------------------


def test_rules_are_asked_in_their_order_about_the_floor_after_the_event() -> None:
    seen: list[tuple[str, bool]] = []

    def rule(name: str) -> ReactorRule:
        return ReactorRule(name, lambda event, voice, state: seen.append((name, voice.user_speaking)))

    Reactor(rule("a"), rule("b")).reactions(UserSpeechStarted())

    assert seen == [("a", True), ("b", True)]


def test_a_rule_sees_what_changed_and_the_state() -> None:
    def angry(event: ReactorEvent, voice: VoiceRuntimeState, state: Any) -> Iterable[LiveEffect]:
        if isinstance(event, StateChanged) and state["anger"] > 0.7:
            yield SendContext(("The caller is angry.",), reason="anger")

    reactor = Reactor(ReactorRule("anger", angry), state={"anger": 0.9})

    assert [reaction.effect for reaction in reactor.reactions(StateChanged(()))] == [
        SendContext(("The caller is angry.",), reason="anger")
    ]


def test_a_rule_may_say_how_its_effect_is_waited_for() -> None:
    mine = Reaction("mine", EmitEvent(ev.Notice(level="info", code="x", text="x")), EffectPolicy(EffectMode.CONCURRENT))

    assert Reactor(ReactorRule("rule", lambda *_: [mine])).reactions(SoftTurnComplete()) == [mine]


def test_a_rule_that_raises_is_named_and_the_others_are_asked() -> None:
    def broken(*_: Any) -> list[Reaction]:
        raise KeyError("mood")

    reactor = Reactor(ReactorRule("broken", broken), ReactorRule("fine", lambda *_: [PromptModel()]))

    assert reactor.effects(SoftTurnComplete()) == [PromptModel]
    fault = reactor.faults[0]
    assert (fault.rule, fault.error) == ("broken", "KeyError: 'mood'")
    assert "in broken" in traceback_of(fault.cause)
    assert fault.defined_at.startswith("test_reactor.py:")


def test_nothing_of_a_rule_that_raises_half_way_is_done() -> None:
    def half(*_: Any) -> Iterable[LiveEffect]:
        yield PromptModel()
        raise ValueError("half way")

    assert Reactor(ReactorRule("half", half)).effects(SoftTurnComplete()) == []


def test_what_is_not_an_effect_is_named() -> None:
    reactor = Reactor(ReactorRule("odd", lambda *_: cast(Any, ["prompt"])))

    assert reactor.effects(SoftTurnComplete()) == []
    assert reactor.faults[0].error == "TypeError: a rule returns effects, not str"


def test_an_async_rule_is_refused() -> None:
    async def later(*_: Any) -> list[Reaction]:
        return []

    with pytest.raises(AgentError, match=r"slow \(test_reactor.py:\d+\): later is an async function"):
        ReactorRule("slow", cast(Any, later))


def test_two_rules_of_one_name_are_refused_with_both_places() -> None:
    first, second = ReactorRule("same", lambda *_: None), ReactorRule("same", lambda *_: None)

    with pytest.raises(AgentError, match=r"named same \(test_reactor.py:\d+ and test_reactor.py:\d+\)"):
        Reactor(first, second)


def test_a_timeout_of_nothing_is_refused() -> None:
    with pytest.raises(AgentError, match="more than 0 s"):
        EffectPolicy(timeout_s=0)


def test_a_single_string_as_context_is_refused() -> None:
    with pytest.raises(AgentError, match="list of texts"):
        SendContext(cast(Any, "The caller is angry."))


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: SendContext(cast(Any, (1,))), "Context is text, not int: 1"),
        (lambda: SendContext(("a",), role=cast(Any, "system")), "the role 'system'. Use model or user"),
        (lambda: UpdateInstruction(cast(Any, None)), "An instruction is text, not NoneType"),
        (lambda: EmitEvent(cast(Any, "x")), "EmitEvent cannot emit 'x'"),
    ],
)
def test_an_effect_with_unusable_contents_is_refused_where_the_rule_makes_it(
    make: Callable[[], object], problem: str
) -> None:
    with pytest.raises(AgentError, match=problem):
        make()


def test_the_contents_of_context_may_be_any_iterable() -> None:
    effect = SendContext(cast(Any, iter(["a", "b"])), role=cast(Any, "User"))
    assert (effect.contents, effect.role) == (("a", "b"), "user")
