"""Serve one connection of a Live client from setup to close."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Protocol

from gemini_live_runtime.barge_in import BargeInBrake
from gemini_live_runtime.errors import FrameTooLargeError, ProtocolError
from gemini_live_runtime.local.faults import Fault, FaultSchedule
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.parts import Parts
from gemini_live_runtime.local.protocol.content import ContentTurns, is_placeholder
from gemini_live_runtime.local.protocol.context import Context, Entry, text_tokens
from gemini_live_runtime.local.protocol.conversation import Conversation, Memory, log
from gemini_live_runtime.local.protocol.function_calls import CallBatch, CallIds, CallResults, FunctionCalls
from gemini_live_runtime.local.protocol.handles import Handles
from gemini_live_runtime.local.protocol.live_config import LiveConfig, check_setup, declared_tools, instruction_text
from gemini_live_runtime.local.protocol.message_sender import MessageSender
from gemini_live_runtime.local.protocol.realtime_input import RealtimeInputReader
from gemini_live_runtime.local.protocol.refusal import (
    DEADLINE,
    FAILURE,
    INTERNAL,
    INVALID,
    INVALID_ARGUMENT,
    UNAVAILABLE,
    VIOLATION,
    Refusal,
    check_form,
    invalid,
    invalid_json,
)
from gemini_live_runtime.local.protocol.simulated_faults import SimulatedFaults
from gemini_live_runtime.local.protocol.turn import Prompt, UserTurn
from gemini_live_runtime.local.protocol.turns import Turns
from gemini_live_runtime.wire.codec import decode_client
from gemini_live_runtime.wire.messages import (
    ClientContent,
    ClientMessage,
    ContextUpdate,
    GoAway,
    Modality,
    RealtimeInput,
    Scheduling,
    ServerMessage,
    SessionResumptionUpdate,
    SetupComplete,
    ToolCallCancellation,
    ToolResponse,
    VoiceActivity,
    VoiceActivityType,
)
from gemini_live_runtime.wire.transport import Transport, TransportClosed

SETUP_TIMEOUT_S = 10.0
"""Seconds that a connection has for sending its setup."""

OLD_CONNECTION_GRACE_S = 1.0
"""Seconds that a resumption waits for the session's older connection to close."""

_SETUP_FIRST = "setup must be the first message and only the first."


class ServerContext(Protocol):
    """Server state that its sessions share."""

    options: ServerOptions
    parts: Parts
    handles: Handles
    call_ids: CallIds
    open_sessions: dict[str, LiveSession]
    faults: FaultSchedule


class LiveSession:
    """Session on one connection; `run` returns when it is over."""

    def __init__(self, transport: Transport, server: ServerContext) -> None:
        self._transport = transport
        self._server = server
        self._sender = MessageSender(transport)
        self._faults = SimulatedFaults(server.faults, self._sender, server.handles.clear)
        self._consumed = 0
        self._brake = BargeInBrake()
        self._cut = False
        """True when what the user says now cut off an answer."""
        self._background: set[asyncio.Task[None]] = set()
        self.ended = asyncio.Event()
        """Event that is set when the connection is over."""

    config: LiveConfig
    session_id: str
    _conversation: Conversation
    _turns: Turns
    _calls: FunctionCalls
    _input: RealtimeInputReader
    _contents: ContentTurns

    async def run(self) -> None:
        """Serve until either side closes; never raises."""
        try:
            await self._serve()
        except TransportClosed:
            pass
        except Refusal as refusal:
            await self._sender.close(refusal.code, refusal.reason)
        except Exception:
            log.exception("A session failed")
            await self._sender.close(FAILURE, INTERNAL)
        finally:
            self.ended.set()

    async def shut(self, code: int, reason: str) -> None:
        """Close the connection with `code` and `reason`."""
        await self._sender.close(code, reason)

    async def _serve(self) -> None:
        try:
            async with asyncio.timeout(SETUP_TIMEOUT_S):
                message = await self._receive()
        except TimeoutError:
            raise Refusal(VIOLATION, f"No setup within {SETUP_TIMEOUT_S:g} s: {_SETUP_FIRST}") from None
        if message.setup is None:
            raise Refusal(INVALID, _SETUP_FIRST)
        self.config = check_setup(message.setup)
        self._faults.check_setup(message.setup, message)
        if self._server.faults.take(Fault.SILENT_SETUP):
            while True:
                await self._transport.recv()
        self._conversation = Conversation(self.config, self._server.parts)
        self._contents = ContentTurns(self._conversation, initial_history=self.config.initial_history)
        memory = await self._resumed()
        self.session_id = memory.session_id if memory else secrets.token_hex(16)
        if memory is not None:
            self._conversation.restore(memory)
            self._contents.restore(memory.waiting)
        self._server.open_sessions[self.session_id] = self
        try:
            await self._converse()
        finally:
            if self._server.open_sessions.get(self.session_id) is self:
                del self._server.open_sessions[self.session_id]

    async def _resumed(self) -> Memory | None:
        if not self.config.handle:
            return None
        memory = self._server.handles.find(self.config.handle, asyncio.get_running_loop().time())
        if memory is None:
            raise Refusal(INVALID, f"{INVALID_ARGUMENT}: the session resumption handle is unknown or expired.")
        if memory.model != self.config.model:
            raise invalid(f"the handle belongs to model {memory.model[:40]}")
        # Again after the wait: another connection may have resumed the session meanwhile.
        while (older := self._server.open_sessions.get(memory.session_id)) is not None:
            if not self._server.options.refuse_open_resume:
                await older.shut(VIOLATION, "The operation was aborted: the session was resumed elsewhere.")
            try:
                async with asyncio.timeout(self._faults.resume_grace_s(OLD_CONNECTION_GRACE_S)):
                    await older.ended.wait()
            except TimeoutError:
                raise Refusal(FAILURE, UNAVAILABLE) from None
        return memory

    async def _converse(self) -> None:
        self._calls = FunctionCalls(self._server.call_ids, self._on_results, self._on_expired)
        self._turns = Turns(
            self.config,
            self._conversation,
            self._calls,
            self._sender,
            self._faults,
            on_start=self._announce_turn,
            on_idle=self._offer_handle,
            on_words=self._brake.on_words,
        )
        self._input = RealtimeInputReader(
            self.config,
            self._context,
            on_start=self._on_speech_start,
            on_end=self._on_speech_end,
            on_activity=self._report_activity,
            needed_ms=lambda: self._brake.needed_ms if self._turns.busy else 0,
        )
        failing = asyncio.ensure_future(self._turns.failed)
        reading = asyncio.create_task(self._read())
        ending = asyncio.create_task(self._limit_lifetime())
        try:
            await self._sender.send(ServerMessage(setup_complete=SetupComplete(session_id=self.session_id)))
            await self._offer_handle()
            # The first of these ends the connection: the client, a failed turn, or the limit of its lifetime.
            ends = {reading, failing, ending, self._faults.ended}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for refused in (failing, self._faults.ended):
                if refused.done():
                    raise refused.result()
            await (reading if reading.done() else ending)
        finally:
            for task in (reading, ending, *self._background):
                task.cancel()
            await asyncio.gather(reading, ending, *self._background, return_exceptions=True)
            failing.cancel()
            self._faults.close()
            self._input.close()
            await self._turns.close()
            self._calls.close()
            await self._conversation.close()

    async def _limit_lifetime(self) -> None:
        options = self._server.options
        await self._faults.limit_age(options.go_away_after)
        if options.go_away_after is None:
            await asyncio.Event().wait()
            return
        await asyncio.sleep(options.go_away_after)
        await self._sender.send(ServerMessage(go_away=GoAway(time_left=f"{options.time_left:g}s")))
        await asyncio.sleep(options.time_left)
        raise Refusal(FAILURE, DEADLINE)

    # -- messages of the client --------------------------------------------------------------------------------------

    async def _receive(self) -> ClientMessage:
        frame = await self._transport.recv()
        try:
            message = decode_client(frame)
        except FrameTooLargeError as error:
            raise Refusal(1009, str(error)) from None
        except ProtocolError as error:
            raise invalid_json(str(error)) from None
        check_form(message)
        return message

    async def _read(self) -> None:
        while True:
            message = await self._receive()
            self._consumed += 1
            self._faults.check_content(message, resumed=bool(self.config.handle))
            if message.setup is not None:
                raise Refusal(INVALID, _SETUP_FIRST)
            if message.realtime_input is not None:
                await self._realtime(message.realtime_input)
            elif message.client_content is not None:
                await self._content(message.client_content)
            elif message.tool_response is not None:
                await self._tool_response(message.tool_response)
            elif message.context_update is not None:
                self._update(message.context_update)

    async def _realtime(self, message: RealtimeInput) -> None:
        if message.audio is not None or message.media_chunks:
            if message.activity_start is None:
                self._faults.check_audio(manual=self._input.manual, marked=self._input.marked)
            await self._conversation.prepare_to_hear()
        await self._input.take(message)
        text = message.text
        if not text:
            return
        if self._input.marked:
            self._input.add_text(text)
            return
        if is_placeholder(text):
            # A client that sends one wants an answer to what it sent before; often that is being answered already.
            if not self._turns.busy and not self._turns.blocked:
                self._turns.ask(self._contents.prompt())
            return
        if self.config.interrupts:
            await self._turns.interrupt()
        self._contents.on_user_turn()
        self._turns.ask(UserTurn(text))

    async def _content(self, message: ClientContent) -> None:
        asked = self._contents.take(message)
        if isinstance(asked, Prompt) and not message.turns:
            # The answer it asks for may be under way: to what the user has said since, or said just before.
            overtaken, self._contents.overtaken = self._contents.overtaken, False
            if self._turns.busy and (overtaken or not self._turns.answering):
                asked = None
        if asked is not None:
            await self._turns.interrupt()
            self._turns.ask(asked)
        if not self._turns.busy:
            await self._offer_handle()

    async def _tool_response(self, message: ToolResponse) -> None:
        for response in message.function_responses:
            self._calls.answer(response)
        if not self._turns.busy and not self._calls.pending:
            await self._offer_handle()

    def _update(self, message: ContextUpdate) -> None:
        self._conversation.update(
            instruction=None if message.system_instruction is None else instruction_text(message.system_instruction),
            tools=None if message.tools is None else declared_tools(message.tools.tools, self.config.model),
        )

    # -- callbacks ---------------------------------------------------------------------------------------------------

    def _context(self) -> Context:
        return self._conversation.context

    async def _on_speech_start(self) -> None:
        self._turns.hold(True)
        self._cut = self.config.interrupts and await self._turns.interrupt()
        if self._cut:
            self._brake.on_interruption()

    async def _on_speech_end(self, said: UserTurn | None) -> None:
        if said is not None:
            self._contents.on_user_turn()
            self._turns.ask(replace(said, interrupts=self._cut))
        self._turns.hold(False)
        if not self._turns.busy:
            await self._offer_handle()

    async def _report_activity(self, kind: VoiceActivityType, offset_s: float) -> None:
        if self.config.vad_signal:
            activity = VoiceActivity(type=kind, audio_offset=f"{offset_s:.3f}s")
            await self._sender.send(ServerMessage(voice_activity=activity))

    def _on_results(self, results: CallResults) -> None:
        if results.scheduling is Scheduling.SILENT:
            self._conversation.dialogue.learn(results.results, more=results.more)
            tokens = sum(text_tokens(str(result)) for _, result in results.results)
            self._context().add(Entry("tool", Modality.TEXT, tokens))
            return
        if results.scheduling is Scheduling.INTERRUPT:
            self._in_background(self._interrupt_with(results))
        else:
            self._turns.ask(results)

    async def _interrupt_with(self, results: CallResults) -> None:
        await self._turns.interrupt()
        self._turns.ask(results)

    def _on_expired(self, batch: CallBatch) -> None:
        cancelled = ToolCallCancellation(ids=self._calls.give_up(batch))
        self._in_background(self._sender.send(ServerMessage(tool_call_cancellation=cancelled)))
        self._turns.ask(CallResults(batch.results()))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            with contextlib.suppress(TransportClosed):
                await work

        task = asyncio.create_task(run())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _announce_turn(self) -> None:
        if self.config.handles:
            await self._sender.send(ServerMessage(session_resumption_update=SessionResumptionUpdate()))

    async def _offer_handle(self) -> None:
        # What waits to be answered is not part of a handle, except content without its `turnComplete`.
        if not self.config.handles or self._calls.pending or self._turns.blocked:
            return
        memory = self._conversation.remember(self.session_id, self._contents.waiting)
        handle = self._server.handles.keep(memory, asyncio.get_running_loop().time())
        update = SessionResumptionUpdate(
            new_handle=handle,
            resumable=True,
            last_consumed_client_message_index=self._consumed if self.config.transparent else None,
        )
        await self._sender.send(ServerMessage(session_resumption_update=update))
