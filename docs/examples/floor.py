"""Track which side speaks with the reactor, and decide on it with rules."""

from collections.abc import Iterable

from gemini_live_runtime import (
    LiveEffect,
    LiveReactor,
    PromptModel,
    ReactorEvent,
    ReactorRule,
    State,
    VoiceRuntimeState,
)
from gemini_live_runtime.session.rules.reactor import (
    PlaybackDrained,
    PlaybackStarted,
    PromptArmed,
    UserSpeechEnded,
    UserSpeechStarted,
)


def prompt_when_free(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> Iterable[LiveEffect]:
    """Send a waiting prompt when neither side speaks, as every session's rule does."""
    if isinstance(event, PlaybackDrained | PromptArmed) and voice.prompt_pending and voice.floor_is_free:
        yield PromptModel("nobody speaks")


reactor = LiveReactor([ReactorRule("prompt when free", prompt_when_free)], report=print)
for at, event in (
    (1.0, PlaybackStarted()),
    (2.0, PromptArmed()),
    (2.5, UserSpeechStarted()),
    (4.0, UserSpeechEnded(prompt_pending=False)),
    (5.0, PlaybackDrained(prompt_pending=False)),
    (9.0, PromptArmed()),
):
    reactions = reactor.react(event, now=at, state=State())
    done = ", ".join(f"{reaction.source}: {reaction.effect.reason}" for reaction in reactions)
    print(f"{at:g} {type(event).__name__}: free={reactor.voice.floor_is_free} {done}".rstrip())
print("barge-in at", reactor.voice.last_barge_in_at, "dropped prompts", reactor.voice.prompt_epoch)

# Prints:
# 1 PlaybackStarted: free=False
# 2 PromptArmed: free=False
# 2.5 UserSpeechStarted: free=False
# 4 UserSpeechEnded: free=False
# 5 PlaybackDrained: free=True
# 9 PromptArmed: free=True prompt when free: nobody speaks
# barge-in at 2.5 dropped prompts 1
