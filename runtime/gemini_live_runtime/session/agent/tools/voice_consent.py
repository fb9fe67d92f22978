"""Have the model ask the user aloud about a call, and take the answer.

The model asks, so it could ask something else, and it could hear itself. Therefore only `SpokenQuestion` decides, by
what was heard and when; and it is asked aloud only where the microphone does not hear the loudspeaker.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import NONE_NEEDED
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.tools.consent_prompt import format_consent_prompt
from gemini_live_runtime.session.agent.tools.consent_queue import ConsentQuestion
from gemini_live_runtime.session.agent.tools.spoken_question import OTHER_WORDS, SpokenAnswer, SpokenQuestion
from gemini_live_runtime.session.agent.utterances import Utterances
from gemini_live_runtime.session.core.speech_queue import Speech, SpeechPriority
from gemini_live_runtime.session.rules.reactor import PromptArmed
from gemini_live_runtime.tools.declaration import Tool
from gemini_live_runtime.tools.voice_consent import NotSayableError, ToolRisk, spoken_question

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext

ATTEMPTS = 2
"""Attempts: the model may say something else, or may not be heard to its end."""

PRIORITY = SpeechPriority.HIGH + 1
"""Priority of the question: a call waits for it."""

FREE_S = 3.0
"""Seconds to wait for the end of the turn with the call; some models keep it open as long as the call."""

NOT_HEARD = "the question was not heard to its end"
BY_NOTIFICATION = "a notification made the model call it"
BY_MEMORY = "the model remembers {name} in words that are not yours"
BY_PROGRAM = "the program answers"
RISKY: dict[ToolRisk, str] = {
    "commands": "it runs commands",
    "files": "it changes files",
    "money": "it moves money",
}
WAITS = "this model waits for its calls"
NOT_PROVEN = "the echo canceller is not proven yet"
NO_CANCELLER = "there is no echo canceller"
LEAKS = "the microphone hears the model"
NEW_DEVICES = "other devices were opened"


class VoiceConsent:
    """Question of one session that is asked aloud."""

    def __init__(self, agent: AgentContext, tools: Callable[[], Mapping[str, Tool]], *, async_tools: bool) -> None:
        """`tools` returns the present tools by name.

        `async_tools`: the model can go on speaking while calls run.
        """
        self.on_listening: Callable[[ConsentQuestion], None] = lambda question: None
        """Called once a question was heard to its end."""
        self.on_answer: Callable[[ConsentQuestion, SpokenAnswer], None] = lambda question, answer: None
        """Called with the answer that the user gave."""
        self.on_off: Callable[[ConsentQuestion], None] = lambda question: None
        """Called when the voice does not count any more."""
        self._agent = agent
        self._tools = tools
        self._async_tools = async_tools
        self._utterances = Utterances()
        self._canceller = ""
        self._is_leaking = False
        self._open: ConsentQuestion | None = None
        self._spoken: SpokenQuestion | None = None
        self._speech: Speech | None = None
        self._asked = 0
        self._heard_itself = 0
        self._told = "asking"
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Task[None] | None = None
        subscribe = agent.bus.subscribe
        subscribe(self._on_sound, ev.AudioOpened, ev.EchoLeaking)
        subscribe(self._on_voice, ev.VoiceMarked, ev.ConnectionClosed)
        subscribe(self._on_words, ev.TranscriptDelta)
        subscribe(self._on_playback, ev.PlaybackStarted, ev.PlaybackHeard, ev.PlaybackDrained)
        subscribe(self._on_generated, ev.GenerationCompleted, ev.TurnInterrupted)
        subscribe(self._on_speech, ev.SpeechChanged)

    # -- whether to ask ----------------------------------------------------------------------------------------------

    def question_for(self, question: ConsentQuestion, *, by_program: bool, doubtful_memory: str) -> tuple[str, str]:
        """Return what to ask aloud about a call, or "" with the reason why not.

        Both are "" for a tool that is never asked about aloud. `doubtful_memory` names a memory that may hold a
        stranger's words.
        """
        call, tool = question.call, self._tools().get(question.call.name)
        if tool is None or not (tool.voice_consent or tool.risk):
            return "", ""
        if tool.risk:
            return "", RISKY[tool.risk]
        if by_program:
            return "", BY_PROGRAM
        if question.by_notification:
            return "", BY_NOTIFICATION
        if doubtful_memory and tool.side_effects:
            return "", BY_MEMORY.format(name=doubtful_memory)
        if not self._async_tools or tool.mode.blocking:
            return "", WAITS
        if reason := self._why_unsafe():
            return "", reason
        try:
            text = spoken_question(tool.voice_consent, tool.parameters, call.args)
        except NotSayableError as error:
            return "", str(error)
        return (text, "") if redactor.text(text) == text else ("", "an argument is a secret")

    def _why_unsafe(self) -> str:
        """Return why the user's words may be the model's, or ""."""
        if reason := self._agent.host.why_unheard:
            return reason
        if self._is_leaking:
            return LEAKS
        if not self._canceller:
            return NO_CANCELLER
        # One that is still learning may learn enough from the question itself.
        return self._why_unproven("proven", "learning", "disturbed")

    def _why_unproven(self, *enough: str) -> str:
        """Return a reason where the canceller is in none of these states, or ""."""
        has_state = self._canceller == NONE_NEEDED or self._agent.host.levels().echo_filter in enough
        return "" if has_state else NOT_PROVEN

    # -- asking ------------------------------------------------------------------------------------------------------

    def begin(self, question: ConsentQuestion, text: str) -> None:
        """Have the model ask about a call, as soon as the floor is free."""
        self._open, self._spoken = question, SpokenQuestion(text, self._utterances)
        self._asked, self._told = 0, "asking"
        self._heard_itself = self._agent.host.levels().heard_itself
        # The user talks with the model meanwhile.
        self._agent.host.suspend_call(question.call.call_id, True)
        self._ask_soon()

    def _ask_soon(self) -> None:
        assert self._spoken is not None
        self._waiting = asyncio.get_running_loop().create_task(self._wait(self._spoken), name="question of consent")

    async def _wait(self, spoken: SpokenQuestion) -> None:
        """Ask once the floor is free: the turn of the call would end the speech."""
        host = self._agent.host
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FREE_S):
                await host.until(lambda: not host.why_not_free)
        if self._spoken is spoken and not host.is_over:
            self._ask()

    def _ask(self) -> None:
        question, spoken = self._open, self._spoken
        assert question is not None
        assert spoken is not None
        speeches = self._agent.host.speeches
        speech = speeches.new("consent", question.call.name)
        speech.priority, speech.uses_tools = PRIORITY, False
        speech.instructions = format_consent_prompt(spoken.question, again=self._asked > 0)
        try:
            speeches.add(speech)
        except AgentError:
            spoken.close(NOT_HEARD)
            self._follow()
            return
        self._asked += 1
        self._speech = speech
        self._agent.emit(speech.event())
        self._agent.react(PromptArmed())

    def end(self, question: ConsentQuestion) -> None:
        """Forget a question that was answered; no-op for another."""
        if self._open is not question:
            return
        self._open = self._spoken = None
        if self._waiting is not None:
            self._waiting.cancel()
        self._schedule()
        self._drop_speech()
        self._agent.host.suspend_call(question.call.call_id, False)

    def _drop_speech(self) -> None:
        speech, self._speech = self._speech, None
        if speech is None:
            return
        if self._agent.host.speeches.drop(speech):
            self._agent.emit(speech.event())
        elif speech.status == "asked":
            self._agent.host.cancel(speech)

    def _on_speech(self, event: ev.Event) -> None:
        changed, speech = event.payload, self._speech
        assert isinstance(changed, ev.SpeechChanged)
        if speech is not None and changed.id == speech.id and speech.is_over:
            # The words of its end may be in the same message.
            asyncio.get_running_loop().call_soon(self._after_speech, speech)

    def _after_speech(self, speech: Speech) -> None:
        spoken = self._spoken
        if self._speech is not speech or spoken is None:
            return
        self._speech = None
        if spoken.state != "asking":
            return
        if self._asked < ATTEMPTS and not self._agent.host.is_over:
            self._ask_soon()
        else:
            spoken.close(OTHER_WORDS if speech.status == "done" else NOT_HEARD)
            self._follow()

    # -- events ------------------------------------------------------------------------------------------------------

    def _on_sound(self, event: ev.Event) -> None:
        match event.payload:
            case ev.AudioOpened(echo_canceller=name):
                self._canceller, self._is_leaking = name, False
                if self._spoken is not None:
                    self._spoken.close(NEW_DEVICES)
            case ev.EchoLeaking(leaking=leaking):
                self._is_leaking = leaking
        self._follow()

    def _on_voice(self, event: ev.Event) -> None:
        now = self._agent.clock.now()
        if isinstance(event.payload, ev.VoiceMarked):
            one = self._utterances.on_voice(event.payload.source, event.payload.speaking, now)
        else:
            one = self._utterances.on_gone("server", now)
        if one is not None and self._spoken is not None:
            self._spoken.on_voice(one)
            self._follow()

    def _on_words(self, event: ev.Event) -> None:
        delta, spoken = event.payload, self._spoken
        assert isinstance(delta, ev.TranscriptDelta)
        if delta.side == "user":
            said = self._utterances.on_words(delta.text, self._agent.clock.now()) if delta.text.strip() else None
            if spoken is not None and delta.text.strip():
                spoken.on_words(said)
        elif spoken is not None and delta.channel == "speech":
            spoken.on_model_text(event.gen, delta.text)
        self._follow()

    def _on_playback(self, event: ev.Event) -> None:
        if (spoken := self._spoken) is None:
            return
        now = self._agent.clock.now()
        match event.payload:
            case ev.PlaybackStarted():
                spoken.on_playback(event.gen, now)
            case ev.PlaybackHeard(of=gen, first=first, count=count):
                spoken.on_played(gen, first + count, now)
            case ev.PlaybackDrained(of=gen):
                spoken.on_drained(gen, now)
        self._follow()

    def _on_generated(self, event: ev.Event) -> None:
        if (spoken := self._spoken) is None:
            return
        match event.payload:
            case ev.GenerationCompleted(samples=samples):
                spoken.on_generated(event.gen, samples)
            case ev.TurnInterrupted(cut_below=cut_below):
                spoken.on_cut(cut_below)
        self._follow()

    # -- what follows ------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Tell what has changed, and answer once the user has."""
        question, spoken = self._open, self._spoken
        if question is None or spoken is None:
            return
        spoken.look(self._agent.clock.now())
        if spoken.state != "off" and (reason := self._why_lost()):
            spoken.close(reason)
        if spoken.state == "listening" and self._told == "asking" and (reason := self._why_unproven("proven")):
            spoken.close(reason)
        if spoken.state != self._told:
            self._told = spoken.state
            assert spoken.state != "asking"
            self._agent.emit(ev.ConsentVoice(id=question.id, state=spoken.state, reason=redactor.text(spoken.reason)))
            if spoken.state == "off":
                self._drop_speech()
                self.on_off(question)
            else:
                self.on_listening(question)
        if spoken.answer is not None and spoken.state == "listening" and self._open is question:
            self.on_answer(question, spoken.answer)
        self._schedule()

    def _why_lost(self) -> str:
        """Return why the voice cannot count any more, or ""."""
        if self._agent.host.levels().heard_itself > self._heard_itself:
            return LEAKS
        # What the filter has learned does not matter any more: the model is silent while the user answers.
        return LEAKS if self._is_leaking else self._agent.host.why_unheard

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        wait = None if self._spoken is None else self._spoken.next_look(self._agent.clock.now())
        if wait is not None and self._told == "listening":
            # The loop's clock may be a hair early.
            self._timer = asyncio.get_running_loop().call_later(wait + 0.001, self._follow)
