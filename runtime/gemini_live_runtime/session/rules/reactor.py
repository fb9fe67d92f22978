"""Rules that answer what happens with effects: who has the floor, and when a waiting prompt may be released."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.session.rules.effects import (
    LIVE_EFFECTS,
    CancelDeferredPrompt,
    LiveEffect,
    PromptModel,
    Reaction,
    SignalUserActivityEnd,
    SignalUserActivityStart,
)

if TYPE_CHECKING:
    from gemini_live_runtime.state.mutations import Mutation
    from gemini_live_runtime.state.store import State


@dataclass(frozen=True, slots=True)
class Live:
    """An event of the session."""

    event: ev.Payload


@dataclass(frozen=True, slots=True)
class StateChanged:
    """Values of the state changed."""

    mutations: tuple[Mutation, ...]


@dataclass(frozen=True, slots=True)
class TimerTick:
    """Time passed; `now` is in clock seconds."""

    now: float


@dataclass(frozen=True, slots=True)
class PlaybackStarted:
    """The model is heard."""


@dataclass(frozen=True, slots=True)
class PlaybackDrained:
    """All that the model said was heard. `prompt_pending`: a prompt is armed."""

    prompt_pending: bool


@dataclass(frozen=True, slots=True)
class UserSpeechStarted:
    """The user begins to speak."""


@dataclass(frozen=True, slots=True)
class UserSpeechEnded:
    """The user has finished speaking. `prompt_pending`: a prompt is armed."""

    prompt_pending: bool


@dataclass(frozen=True, slots=True)
class PromptArmed:
    """A prompt was armed just now. Without this event one that is armed in silence would wait for the next speech."""


@dataclass(frozen=True, slots=True)
class SoftTurnComplete:
    """The user spoke and the model let it pass."""


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


@dataclass(frozen=True, slots=True)
class VoiceRuntimeState:
    """Who has the floor, as far as events have told. Times are clock seconds."""

    user_speaking: bool = False
    playback_active: bool = False
    prompt_pending: bool = False
    """Whether a prompt waited, as of the last event that told."""
    prompt_epoch: int = 0
    """How often the user spoke while a prompt waited, which drops it."""
    last_barge_in_at: float | None = None
    """When the user last began to speak while the model was heard."""
    last_playback_drained_at: float | None = None

    @property
    def floor_is_free(self) -> bool:
        """Nobody is speaking."""
        return not self.user_speaking and not self.playback_active

    def apply(self, event: ReactorEvent, now: float) -> VoiceRuntimeState:
        """The state after `event` at `now`. Speech alone does not end playback: the cut that may follow does."""
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
            case Live(ev.AudioLost()):
                return replace(self, user_speaking=False)
            case _:
                return self


VOICE_EVENTS: frozenset[type[ev.Payload]] = frozenset((ev.TurnInterrupted, ev.TextSent, ev.AudioLost))
"""Events of the session, given as `Live`, that the voice state and `voice_defaults` look at: without rules of an
agent's own nobody asks for the others."""

Reacts: TypeAlias = "Callable[[ReactorEvent, VoiceRuntimeState, State], Iterable[Reaction | LiveEffect] | None]"


@dataclass(frozen=True, slots=True)
class ReactorRule:
    """A named decision.

    `react` gets the event, the voice state after it and the session's state, and returns what is to be done: reactions,
    or bare effects that are waited for without a limit. It is a plain function. Raises `AgentError` for an async one.
    """

    name: str
    react: Reacts
    defined_at: str = field(default_factory=caller_place, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        call = getattr(self.react, "__call__", None)  # noqa: B004 - an object's own method is meant
        if call is None or inspect.iscoroutinefunction(self.react) or inspect.iscoroutinefunction(call):
            raise AgentError(
                f"The rule {self.name} ({self.defined_at}) must be a plain function",
                remedy="Return effects; the session performs them",
                field="react",
                value=self.react,
            )


@dataclass(frozen=True, slots=True)
class RuleFault:
    """A rule raised, or returned what is not an effect; nothing of it was done."""

    rule: str
    error: str
    trace: str
    defined_at: str


VOICE_RULES = ("release-prompt", "user-speech")
"""The names of `voice_defaults`."""


class LiveReactor:
    """Keeps the voice state and asks every rule, in order, what each event calls for."""

    def __init__(self, rules: Iterable[ReactorRule], report: Callable[[RuleFault], None]) -> None:
        """Raises `AgentError` when two rules have one name."""
        self._rules = tuple(rules)
        self._report = report
        self.voice = VoiceRuntimeState()
        """The floor after the last event."""
        places: dict[str, str] = {}
        for rule in self._rules:
            if rule.name in places:
                raise AgentError(
                    f"Two reactor rules are named {rule.name} ({places[rule.name]} and {rule.defined_at})",
                    remedy="Give one another name",
                    field="rules",
                    value=rule.name,
                )
            places[rule.name] = rule.defined_at

    def replace(self, other: LiveReactor) -> None:
        """Ask the rules of another reactor in place of those that are not of `voice_defaults`."""
        own = tuple(rule for rule in self._rules if rule.name in VOICE_RULES)
        self._rules = (*own, *(rule for rule in other._rules if rule.name not in VOICE_RULES))

    def react(self, event: ReactorEvent, *, now: float, state: State) -> list[Reaction]:
        """What the rules want done about `event` at `now`, in their order."""
        self.voice = self.voice.apply(event, now)
        wanted: list[Reaction] = []
        for rule in self._rules:
            try:
                wanted += [_reaction(rule, item) for item in rule.react(event, self.voice, state) or ()]
            except (Exception, SystemExit) as error:
                text = f"{type(error).__name__}: {error}"
                trace = "".join(traceback.format_exception(error))
                self._report(RuleFault(rule.name, text, trace, rule.defined_at))
        return wanted


def _reaction(rule: ReactorRule, item: Reaction | LiveEffect) -> Reaction:
    effect = item.effect if isinstance(item, Reaction) else item
    if not isinstance(effect, LIVE_EFFECTS):
        raise TypeError(f"a rule returns effects, not {type(effect).__name__}")
    if isinstance(item, Reaction):
        return replace(item, defined_at=rule.defined_at)
    return Reaction(rule.name, item, defined_at=rule.defined_at)


def voice_defaults(activity: Literal["client", "server"] = "server") -> tuple[ReactorRule, ...]:
    """The rules of a voice session. `activity`: who decides when the user speaks; a client marks it on the wire."""
    marks = activity == "client"

    def release_prompt(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> Iterable[LiveEffect]:
        # A device that is lost ends what was heard through it, without a word about that.
        freed = isinstance(event, PlaybackDrained | PromptArmed) or (
            isinstance(event, Live) and isinstance(event.event, ev.AudioLost)
        )
        if freed and voice.prompt_pending and voice.floor_is_free:
            yield PromptModel("playback drained" if isinstance(event, PlaybackDrained) else "nobody is speaking")

    def user_speech(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> Iterable[LiveEffect]:
        match event:
            case UserSpeechStarted():
                yield CancelDeferredPrompt()
                if marks:
                    yield SignalUserActivityStart()
            case UserSpeechEnded():
                if marks:
                    yield SignalUserActivityEnd()
                if voice.prompt_pending and not voice.playback_active:
                    yield PromptModel("the user has stopped speaking")
            case Live(ev.TextSent()):
                # The model answers what was typed; a prompt as well would make it speak twice.
                yield CancelDeferredPrompt()

    release, speech = VOICE_RULES
    return (ReactorRule(release, release_prompt), ReactorRule(speech, user_speech))
