"""Run the model's turns one at a time, to `turnComplete` or an interruption.

Order of a turn: input transcription, then speech with its transcript (tool calls before it), `generationComplete`,
`turnComplete` with usage once playback should have ended. With NO_INTERRUPTION the input transcription of what is said
over an answer comes at once, and `turnComplete` after it. Interrupted: `interrupted`, cancellation of blocking calls,
`turnComplete` with usage, no `generationComplete`. Before its answer began, the input transcription comes first: the
user has said it. Models before 3.x complete a turn with its calls and tell the results in another.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable

from gemini_live_runtime.local.faults import Fault
from gemini_live_runtime.local.parts import RECOGNISER_RATE, Recognition, Reply
from gemini_live_runtime.local.protocol.context import Entry, audio_tokens, text_tokens, usage
from gemini_live_runtime.local.protocol.conversation import Conversation, log
from gemini_live_runtime.local.protocol.function_calls import CALL_TIMEOUT_S, CallBatch, CallResults, FunctionCalls
from gemini_live_runtime.local.protocol.live_config import LiveConfig
from gemini_live_runtime.local.protocol.message_sender import MessageSender
from gemini_live_runtime.local.protocol.refusal import FAILURE, INTERNAL, Refusal, context_exhausted
from gemini_live_runtime.local.protocol.simulated_faults import LATE_SOUND, SimulatedFaults
from gemini_live_runtime.local.protocol.turn import Prompt, Request, Turn, UserTurn
from gemini_live_runtime.local.protocol.utterance import Utterance
from gemini_live_runtime.wire.messages import (
    Modality,
    ServerContent,
    ServerMessage,
    ToolCall,
    ToolCallCancellation,
    Transcription,
    UsageMetadata,
)
from gemini_live_runtime.wire.transport import TransportClosed

MAX_WAITING = 16
"""Most requests queued behind the current turn; then the oldest is dropped and logged."""

MAX_ROUNDS = 8
"""Most rounds of tool calls within one turn."""

RECOGNITION_GRACE_S = 1.0
"""Most seconds that an interruption waits for the transcription of the turn that it stops.

A later one is sent when it is ready: the protocol does not order transcriptions."""

BEFORE_CALL_S = 0.1
"""Seconds between a typed text and the calls that answer it.

Texts that a client has kept over an outage come at once, and each interrupts the answer to the one before: a call would
be cancelled."""

NO_RECOGNISER = "I can hear you speaking, but there is no speech recogniser here, so please type. {why}"
NO_SPEECH = "[There is no voice here, so answers come as text only. {why}] "


class Turns:
    """Turns of a session; `on_idle` is called after a turn when none is queued."""

    def __init__(
        self,
        config: LiveConfig,
        conversation: Conversation,
        calls: FunctionCalls,
        sender: MessageSender,
        faults: SimulatedFaults,
        *,
        on_start: Callable[[], Awaitable[None]],
        on_idle: Callable[[], Awaitable[None]],
        on_words: Callable[[], None],
    ) -> None:
        """`on_words` is called when words of the user were recognised."""
        self._config = config
        self._conversation = conversation
        self._calls = calls
        self._sender = sender
        self._faults = faults
        self._on_start = on_start
        self._on_idle = on_idle
        self._on_words = on_words
        self._waiting: deque[Request] = deque()
        self._task: asyncio.Task[None] | None = None
        self._turn: Turn | None = None
        self._held = False
        self._lock = asyncio.Lock()
        self._late: Turn | None = None
        """Interrupted turn whose completion a simulated fault holds back."""
        self._kept: tuple[CallBatch, ...] = ()
        """Calls of interrupted turns that a simulated fault keeps open."""
        self._hearing: set[asyncio.Task[None]] = set()
        self._early: dict[int, asyncio.Future[Recognition | None]] = {}
        """Recognition of what the user said over an answer that is not interrupted, by the identity of the request."""
        self._asked = asyncio.Event()
        """Set when something is to be answered after the present answer."""
        self._reported_no_recogniser = self._reported_no_speech = False
        self.failed = asyncio.get_running_loop().create_future()
        """Future of the `Refusal` by which a turn ends the session."""

    @property
    def busy(self) -> bool:
        """True while a turn runs."""
        return self._turn is not None

    @property
    def answering(self) -> bool:
        """True while a turn runs whose answer has begun."""
        return self._turn is not None and bool(self._turn.utterance.text)

    @property
    def blocked(self) -> bool:
        """True while the user speaks or requests wait to be answered."""
        return self._held or bool(self._waiting)

    def ask(self, request: Request) -> None:
        """Start a turn, or queue it behind the current one."""
        if len(self._waiting) >= MAX_WAITING:
            log.warning("More than %d requests wait: dropped the oldest", MAX_WAITING)
            self._early.pop(id(self._waiting.popleft()), None)
        self._waiting.append(request)
        if self._turn is not None and not self._config.interrupts:
            if isinstance(request, UserTurn) and request.pcm:
                # The client may decide by the words whether it goes on playing.
                self._early[id(request)] = asyncio.ensure_future(self._hear_early(request))
            else:
                self._asked.set()
        self._next()

    def hold(self, held: bool) -> None:
        """Start no turn while `held`, as long as the user speaks."""
        self._held = held
        self._next()

    def _next(self) -> None:
        if self._turn is not None or self._held or self._lock.locked() or not self._waiting:
            return
        transcribe = self._config.output_transcription
        utterance = Utterance(self._sender, transcribe=transcribe, on_piece=self._faults.in_answer)
        self._asked.clear()
        self._turn = Turn(self._waiting.popleft(), utterance)
        self._task = asyncio.create_task(self._run(self._turn))

    async def interrupt(self) -> bool:
        """Stop the current turn, if any, and send `interrupted`.

        Returns True when its answer could be heard. Queued turns continue with the next `ask` or `hold`.
        """
        # The lock keeps `_next` from starting a turn before the messages of the stopped one are sent.
        async with self._lock:
            turn, task = self._turn, self._task
            if turn is None or task is None:
                # A turn that was complete with its calls left them open.
                await self._cancel_calls()
                return False
            if turn.over:
                # Its last message is being sent: nothing is left to interrupt.
                await asyncio.wait({task})
                return False
            await self._stop(turn, task)
            return turn.utterance.audio_s > 0

    async def _stop(self, turn: Turn, task: asyncio.Task[None]) -> None:
        turn.over = True
        task.cancel()
        await asyncio.wait({task})
        await self._keep_unread(turn)
        self._turn = self._task = None
        self._sender.last_sound()
        interrupted = ServerMessage(server_content=ServerContent(interrupted=True))
        late = self._faults.schedule.take(Fault.LATE_INTERRUPTED)
        if not late:
            await self._sender.send(interrupted)
        await self._cancel_calls()
        if self._faults.schedule.take(Fault.LATE_COMPLETION):
            self._late = turn
            await self._sender.audio(LATE_SOUND)
            return
        await self._complete(turn)
        if late:
            await self._sender.send(interrupted)

    async def _keep_unread(self, turn: Turn) -> None:
        """Let the dialogue have what it had not read when `turn` was stopped.

        Typed words of whose answer nothing was said are answered with the next ones.
        """
        dialogue, request = self._conversation.dialogue, turn.request
        if isinstance(request, UserTurn) and not turn.is_read and request.text and not request.pcm:
            turn.is_read = True
            dialogue.respond(request.text, typed=True)
        elif isinstance(request, UserTurn) and not turn.is_read:
            hearing = asyncio.create_task(self._hear_out(turn, request))
            self._hearing.add(hearing)
            hearing.add_done_callback(self._hearing.discard)
            await asyncio.wait({hearing}, timeout=RECOGNITION_GRACE_S)
        if turn.is_read and not (isinstance(request, CallResults) or turn.utterance.text or turn.called):
            dialogue.on_unsaid()
        unread = list(turn.batch.answered()) if turn.batch is not None else []
        if isinstance(request, CallResults) and not turn.is_read:
            unread = list(request.results)
        if unread:
            turn.use_tools(unread)
            dialogue.learn(unread)

    async def _hear_out(self, turn: Turn, said: UserTurn) -> None:
        if turn.recognition is not None and not turn.heard:
            heard = await turn.recognition
            with contextlib.suppress(TransportClosed):
                await self._transcribe(turn, heard)
        self._conversation.dialogue.remember(f"{said.text} {turn.heard}".strip())

    async def _cancel_calls(self) -> None:
        kept = self._calls.open_blocking()
        if kept and self._faults.schedule.take(Fault.CALL_KEPT_OPEN):
            self._kept = kept
            return
        cancelled = self._calls.give_up_blocking()
        if cancelled:
            await self._sender.send(ServerMessage(tool_call_cancellation=ToolCallCancellation(ids=cancelled)))

    async def close(self) -> None:
        """Stop the current turn without a message."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        recognition = self._turn.recognition if self._turn is not None else None
        for unfinished in (recognition, *self._hearing, *self._early.values()):
            if unfinished is not None:
                unfinished.cancel()

    async def _run(self, turn: Turn) -> None:
        try:
            await self._on_start()
            await self._faults.before_answer(compresses=self._config.compress_at is not None)
            await self._answer(turn)
            if not self._sender.joins_completion:
                await self._sender.send(ServerMessage(server_content=ServerContent(generation_complete=True)))
                await self._played(turn)
            turn.over = True
            await self._complete(turn)
            self._turn = self._task = None
            if await self._faults.after_answer():
                self._waiting.append(Prompt())
            self._next()
            if self._turn is None:
                await self._on_idle()
        except TransportClosed:
            pass
        except Refusal as refusal:
            self._fail(refusal)
        except Exception:
            log.exception("A turn failed")
            self._fail(Refusal(FAILURE, INTERNAL))

    async def _played(self, turn: Turn) -> None:
        """Wait until the answer should have been played.

        A client that is not interrupted plays on by itself: then only until something else is to be answered.
        """
        if self._config.interrupts:
            await turn.utterance.played()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(turn.utterance.unplayed_s):
                await self._asked.wait()

    async def _hear_early(self, said: UserTurn) -> Recognition | None:
        try:
            heard = await self._conversation.recognise(said.pcm)
            with contextlib.suppress(TransportClosed):
                await self._send_words(heard.text if heard else "")
        finally:
            self._asked.set()
        return heard

    def _fail(self, refusal: Refusal) -> None:
        if not self.failed.done():
            self.failed.set_result(refusal)

    async def _complete(self, turn: Turn) -> None:
        self._count_prompt(turn)
        response = turn.response(self._config.modality)
        for tokens in turn.tool_use:
            self._conversation.context.add(Entry("tool", Modality.TEXT, tokens))
        # Only the part that was played enters the context, as the user heard it.
        for modality, tokens in response.items():
            unheard = audio_tokens(turn.utterance.unplayed_s) if modality is Modality.AUDIO else 0
            self._conversation.context.add(Entry("model", modality, tokens - unheard, turn.utterance.text))
        tool_use = Counter({Modality.TEXT: sum(turn.tool_use)}) if turn.tool_use else Counter()
        counted: UsageMetadata = usage(turn.prompt, response, tool_use)
        sound = self._sender.last_sound()
        over = ServerContent(model_turn=sound, generation_complete=True if sound else None, turn_complete=True)
        await self._sender.send(ServerMessage(server_content=over, usage_metadata=counted))

    # -- answering ---------------------------------------------------------------------------------------------------

    async def _answer(self, turn: Turn) -> None:
        reply = await self._first_reply(turn, turn.request)
        if self._late is not None:
            late, self._late = self._late, None
            await self._complete(late)
        for kept in self._kept:
            await kept.done.wait()
        await self._faults.before_reply(turn.heard)
        if self._faults.schedule.take(Fault.EMPTY_TURN):
            return
        for _ in range(MAX_ROUNDS):
            if reply.text:
                await self._say(turn, reply.text)
            if not reply.calls:
                return
            is_typed = isinstance(turn.request, UserTurn) and not turn.request.pcm
            if is_typed and self._config.interrupts and not (turn.utterance.text or turn.called):
                await asyncio.sleep(BEFORE_CALL_S)
            batch = await self._call(turn, reply)
            if batch is None:
                reply = self._conversation.dialogue.results(
                    [(request, {"error": "too many calls are open"}) for request in reply.calls]
                )
            elif batch.in_turn:
                turn.batch = batch
                await self._wait(batch)
                turn.batch = None
                reply = self._reply_to_results(turn, CallResults(batch.results()))
            else:
                return
        log.warning("The dialogue wanted more than %d rounds of calls in a turn", MAX_ROUNDS)

    async def _first_reply(self, turn: Turn, request: Request) -> Reply:
        conversation = self._conversation
        if isinstance(request, CallResults):
            self._start_count(turn)
            return self._reply_to_results(turn, request)
        if isinstance(request, Prompt):
            self._start_count(turn)
            turn.is_read = True
            return conversation.dialogue.prompt()
        text, is_doubtful = request.text, False
        if request.pcm:
            spoken = await self._recognise(turn, request)
            if spoken is None:
                self._start_count(turn)
                if self._reported_no_recogniser and not text:
                    return Reply()
                self._reported_no_recogniser = True
                if not text:
                    return Reply(NO_RECOGNISER.format(why=conversation.no_recogniser))
            else:
                text, is_doubtful = f"{text} {spoken.text}".strip(), spoken.is_doubtful
        self._start_count(turn)
        # What cut off an answer and has no words was most likely no person: answering it would invite the next one. Out
        # of silence, a short one was a cough, unless an answer was asked for.
        is_noise = request.interrupts or (request.is_short and not conversation.dialogue.is_asking)
        if not text and (self._config.proactive or is_noise):
            return Reply()
        turn.is_read = True
        return conversation.dialogue.respond(text, typed=not request.pcm, is_doubtful=is_doubtful)

    def _reply_to_results(self, turn: Turn, results: CallResults) -> Reply:
        turn.is_read = True
        turn.use_tools(results.results)
        return self._conversation.dialogue.results(results.results, more=results.more)

    def _start_count(self, turn: Turn) -> None:
        self._count_prompt(turn)
        if self._conversation.context.full:
            raise context_exhausted()

    def _count_prompt(self, turn: Turn) -> None:
        """Enter the request of `turn` into the context and count its prompt, once.

        A turn that is interrupted before this point is counted at its end.
        """
        if turn.is_counted:
            return
        turn.is_counted = True
        context, said = self._conversation.context, turn.request
        if isinstance(said, UserTurn) and not said.counted:
            context.add(Entry("user", Modality.TEXT, text_tokens(said.text), said.text))
            seconds = len(said.pcm) / (2 * RECOGNISER_RATE)
            context.add(Entry("user", Modality.AUDIO, audio_tokens(seconds), turn.heard))
        turn.prompt = context.prompt()

    async def _recognise(self, turn: Turn, said: UserTurn) -> Recognition | None:
        early = self._early.pop(id(said), None)
        turn.recognition = early or asyncio.ensure_future(self._conversation.recognise(said.pcm))
        # An interruption stops the turn, not the recognition of what the user has said.
        heard = await asyncio.shield(turn.recognition)
        if early is None:
            await self._transcribe(turn, heard)
        else:
            turn.heard = heard.text if heard else ""
        return heard

    async def _transcribe(self, turn: Turn, heard: Recognition | None) -> None:
        turn.heard = heard.text if heard else ""
        await self._send_words(turn.heard)

    async def _send_words(self, words: str) -> None:
        if words:
            self._on_words()
        if words and self._config.input_transcription:
            # One message: clients take each message of a 3.x model for the whole utterance.
            content = ServerContent(input_transcription=Transcription(text=words))
            await self._sender.send(ServerMessage(server_content=content))

    async def _say(self, turn: Turn, text: str) -> None:
        utterance = turn.utterance
        # A second sentence of a turn continues the first.
        text = f" {text}" if utterance.text else text
        if self._config.modality is Modality.TEXT:
            await utterance.write(text)
            return
        rest, before = text, len(utterance.text)
        while (speech := self._conversation.speech()) is not None:
            try:
                await utterance.speak(speech, rest, self._config.voice)
            except (TransportClosed, Refusal, asyncio.CancelledError):
                raise
            except Exception as error:
                await self._conversation.restart_speech(error)
            else:
                return
            rest = text[len(utterance.text) - before :]
        if not self._reported_no_speech:
            self._reported_no_speech = True
            rest = f"{NO_SPEECH.format(why=self._conversation.no_speech)}{rest}"
        await utterance.transcript_only(rest)

    # -- calls -------------------------------------------------------------------------------------------------------

    async def _call(self, turn: Turn, reply: Reply) -> CallBatch | None:
        if not self._calls.has_capacity(len(reply.calls)):
            return None
        blocking = any(self._conversation.blocking(request.name) for request in reply.calls)
        in_turn = blocking and not self._config.calls_end_turns
        batch = self._calls.open(reply.calls, blocking=blocking, in_turn=in_turn)
        await self._faults.call(ToolCall(function_calls=batch.calls))
        turn.called += sum(text_tokens(f"{call.name} {json.dumps(call.args)}") for call in batch.calls)
        return batch

    async def _wait(self, batch: CallBatch) -> None:
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                await batch.done.wait()
        except TimeoutError:
            cancelled = self._calls.give_up(batch)
            await self._sender.send(ServerMessage(tool_call_cancellation=ToolCallCancellation(ids=cancelled)))
