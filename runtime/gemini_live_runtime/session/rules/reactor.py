"""Turn events into effects by rules: floor control, release of waiting prompts.

The reactor is pure: it keeps the voice state (who has the floor), asks every rule for effects and performs none. The
rules of a voice session make sure that the model is prompted only when neither side speaks, and that a prompt is
dropped when the user takes the floor first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeAlias

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.records import frozen_record, record
from gemini_live_runtime.session.rules.effects import (
    LIVE_EFFECTS,
    CancelDeferredPrompt,
    LiveEffect,
    PromptModel,
    Reaction,
    SignalUserActivityEnd,
    SignalUserActivityStart,
)
from gemini_live_runtime.state.functions import check_decides, check_name
from gemini_live_runtime.state.mutations import call_to_decide

if TYPE_CHECKING:
    from gemini_live_runtime.state.mutations import Mutation
    from gemini_live_runtime.state.store import State


@frozen_record
class Live:
    """Event of the session."""

    event: ev.Payload


@record
class StateChanged:
    """Change of state values."""

    mutations: tuple[Mutation, ...]


@record
class TimerTick:
    """Tick of the clock; `now` is in clock seconds."""

    now: float


@record
class PlaybackStarted:
    """Start of the model's playback."""


@record
class PlaybackDrained:
    """End of the model's playback. `prompt_pending`: a prompt is armed."""

    prompt_pending: bool


@record
class UserSpeechStarted:
    """Start of the user's speech."""


@record
class UserSpeechEnded:
    """End of the user's speech. `prompt_pending`: a prompt is armed."""

    prompt_pending: bool


@record
class PromptArmed:
    """Arming of a prompt.

    Without this event a prompt that is armed in silence would wait for the next speech.
    """


@record
class SoftTurnComplete:
    """Turn without an answer: the user spoke and the model stayed silent."""


ReactorEvent: TypeAlias = (
    Live
    | StateChanged
    | TimerTick
    | PlaybackStarted
    | PlaybackDrained
    | UserSpeechStarted
    | UserSpeechEnded
    | PromptArmed
    | SoftTurnComplete
)


@frozen_record
class VoiceRuntimeState:
    """Floor of the conversation, as known from events. Times are clock seconds."""

    user_speaking: bool = False
    playback_active: bool = False
    prompt_pending: bool = False
    """True when a prompt waited at the last event that says so."""
    prompt_epoch: int = 0
    """Number of prompts dropped because the user spoke while they waited."""
    last_barge_in_at: float | None = None
    """Time of the user's last start of speech during playback."""
    last_playback_drained_at: float | None = None

    @property
    def floor_is_free(self) -> bool:
        """True when neither the user nor the model speaks."""
        return not self.user_speaking and not self.playback_active

    def apply(self, event: ReactorEvent, now: float) -> VoiceRuntimeState:
        """Return the state after `event` at `now`.

        The user's speech does not end playback: the interruption that may follow does.
        """
        match event:
            case PlaybackStarted():
                return replace(self, playback_active=True)
            case PlaybackDrained(prompt_pending):
                return replace(self, playback_active=False, prompt_pending=prompt_pending, last_playback_drained_at=now)
            case Live(ev.TurnInterrupted()):
                return replace(self, playback_active=False)
            case UserSpeechStarted():
                return replace(
                    self,
                    user_speaking=True,
                    prompt_pending=False,
                    prompt_epoch=self.prompt_epoch + self.prompt_pending,
                    last_barge_in_at=now if self.playback_active else self.last_barge_in_at,
                )
            case UserSpeechEnded(prompt_pending):
                return replace(self, user_speaking=False, prompt_pending=prompt_pending and not self.playback_active)
            case PromptArmed():
                return replace(self, prompt_pending=True)
            case Live(ev.TextSent()):
                return replace(self, prompt_pending=False)
            case Live(ev.AudioLost(direction="output")):
                return replace(self, playback_active=False)
            case Live(ev.AudioLost()) | Live(ev.TurnCleared()):
                return replace(self, user_speaking=False)
            case _:
                return self


VOICE_EVENTS: frozenset[type[ev.Payload]] = frozenset((ev.TurnInterrupted, ev.TextSent, ev.AudioLost, ev.TurnCleared))
"""Events of the session that the voice state and `voice_defaults` need, wrapped in `Live`.

Without rules of the agent's own, no other event has to reach the reactor."""

Reacts: TypeAlias = "Callable[[ReactorEvent, VoiceRuntimeState, State], Iterable[Reaction | LiveEffect] | None]"


@frozen_record
class ReactorRule:
    """Named decision of the reactor.

    `react` gets the event, the voice state after it and the session's state. It returns reactions, or bare effects that
    are awaited without a limit. It is a plain function; raises `AgentError` for an async one.
    """

    name: str
    react: Reacts
    defined_at: str = field(default_factory=caller_place, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        check_name(f"A rule ({self.defined_at})", self.name)
        object.__setattr__(self, "name", exact_text(self.name))
        if not callable(self.react):
            raise AgentError(
                f"The rule {self.name} ({self.defined_at}) must be a plain function",
                remedy="Return effects; the session performs them",
                field="react",
                value=self.react,
            )
        check_decides(f"The rule {self.name} ({self.defined_at})", self.react, "(event, voice, state)")


RULE_FAULT = "reactor rule"
"""Place that a rule's fault is reported for."""


@record
class RuleFault:
    """Failure of a rule that raised, or returned something other than effects.

    None of its effects was performed.
    """

    rule: str
    error: str
    cause: BaseException
    defined_at: str


VOICE_RULES = ("release-prompt", "user-speech")
"""Names of the rules of `voice_defaults`."""


class LiveReactor:
    """Reactor that keeps the voice state and asks every rule about each event."""

    def __init__(self, rules: Iterable[ReactorRule], report: Callable[[RuleFault], None]) -> None:
        """Create a reactor; raise `AgentError` when two rules have one name."""
        self._rules = tuple(rules)
        self._report = report
        self.voice = VoiceRuntimeState()
        """Voice state after the last event."""
        places: dict[str, str] = {}
        for rule in self._rules:
            if rule.name in places:
                raise AgentError(
                    f"Two reactor rules are named {rule.name} ({places[rule.name]} and {rule.defined_at})",
                    remedy="Rename one of them",
                    field="rules",
                    value=rule.name,
                )
            places[rule.name] = rule.defined_at

    def replace(self, other: LiveReactor) -> None:
        """Use the rules of `other`, except that those of `voice_defaults` stay."""
        own = tuple(rule for rule in self._rules if rule.name in VOICE_RULES)
        self._rules = (*own, *(rule for rule in other._rules if rule.name not in VOICE_RULES))

    def react(self, event: ReactorEvent, *, now: float, state: State) -> list[Reaction]:
        """Return the reactions of all rules to `event` at `now`, in order of the rules."""
        self.voice = self.voice.apply(event, now)
        wanted: list[Reaction] = []
        for rule in self._rules:
            try:
                wanted += call_to_decide(_reactions, rule, event, self.voice, state)
            except USER_ERRORS as error:
                self._report(RuleFault(rule.name, error_text(error), error, rule.defined_at))
        return wanted


def _reactions(rule: ReactorRule, event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> list[Reaction]:
    returned = rule.react(event, voice, state)
    if not returned:
        return []
    if not isinstance(returned, Iterable):
        raise TypeError(f"a rule returns a list of effects, not {type(returned).__name__}")
    # A generator runs as it is read.
    return [_reaction(rule, item) for item in returned]


def _reaction(rule: ReactorRule, item: Reaction | LiveEffect) -> Reaction:
    effect = item.effect if isinstance(item, Reaction) else item
    if not isinstance(effect, LIVE_EFFECTS):
        raise TypeError(f"a rule returns effects, not {type(effect).__name__}")
    if isinstance(item, Reaction):
        return replace(item, defined_at=rule.defined_at)
    return Reaction(rule.name, item, defined_at=rule.defined_at)


def voice_defaults(sends_marks: Callable[[], bool] = lambda: False) -> tuple[ReactorRule, ...]:
    """Return the built-in rules of a voice session.

    `sends_marks()` is True while our own detector finds the user's turns and marks them for the server.
    """

    def release_prompt(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> Iterable[LiveEffect]:
        # Losing a device ends speech or playback too, and no other event says so; an answer without sound ends with
        # its turn.
        may_be_free = isinstance(event, PlaybackDrained | PromptArmed) or (
            isinstance(event, Live) and isinstance(event.event, ev.AudioLost | ev.TurnCompleted | ev.TurnCleared)
        )
        if may_be_free and voice.prompt_pending and voice.floor_is_free:
            yield PromptModel("playback drained" if isinstance(event, PlaybackDrained) else "no one is speaking")

    def user_speech(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> Iterable[LiveEffect]:
        match event:
            case UserSpeechStarted():
                yield CancelDeferredPrompt()
                if sends_marks():
                    yield SignalUserActivityStart()
            case UserSpeechEnded():
                if sends_marks():
                    yield SignalUserActivityEnd()
                if voice.prompt_pending and not voice.playback_active:
                    yield PromptModel("the user has stopped speaking")
            case Live(ev.TextSent()):
                # The model answers the typed text; a prompt as well would make it speak twice.
                yield CancelDeferredPrompt()

    release, speech = VOICE_RULES
    return (ReactorRule(release, release_prompt), ReactorRule(speech, user_speech))
