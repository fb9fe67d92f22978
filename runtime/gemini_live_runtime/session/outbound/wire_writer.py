"""Post messages to the model; no other code of the session writes to the socket.

Posting never awaits: the order of calls is the order on the wire, and nothing can come between two calls of one step.
The result of a post arrives later. The end of a connection is reported once, by its reader; a failed post reports
nothing itself, except that the core's messages go to `on_lost`: typed text must never vanish silently. A post
without any connection is a mistake, which a log event names.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError, NotConnectedError
from gemini_live_runtime.session.core.effects import Send
from gemini_live_runtime.session.link.controller import RealtimeSessionController
from gemini_live_runtime.session.outbound.context_queue import MAX_NOTES
from gemini_live_runtime.session.outbound.deferred_context import DeferredContext
from gemini_live_runtime.session.ports.capabilities import Capabilities, Route
from gemini_live_runtime.session.ports.messages import ContextRole, context_message, instruction_message, prompt_message
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.messages import ClientMessage, FunctionResponse


class WireWriter:
    """`SessionWriter` over the connection that the session's link has.

    `on_prompt` is called when the model was asked to speak, `on_lost` with a core's `Send` that could not be sent.
    """

    def __init__(
        self,
        link: RealtimeSessionController,
        capabilities: Capabilities,
        route: Route,
        *,
        emit: Callable[[ev.Payload], None],
        on_prompt: Callable[[], None],
        on_lost: Callable[[Send], None],
    ) -> None:
        self._link = link
        self.on_instruction: Callable[[str], None] = lambda text: None
        """Called with every instruction that was sent; the agent sets it."""
        self.route = route
        self.deferred = None if capabilities.context_mid_session else DeferredContext()
        """Context that waits for a text or a setup to carry it; None for a model that takes context by itself."""
        self._realtime_text = capabilities.text_is_realtime
        self._emit = emit
        self._on_prompt = on_prompt
        self._on_lost = on_lost
        self._picture: asyncio.Future[None] | None = None
        """Sending of the newest picture, until it has ended."""
        self._sending: set[asyncio.Future[None]] = set()
        self._intents = 0

    @property
    def live(self) -> bool:
        """True when a connection is open."""
        return self._link.is_connected

    def post(self, send: Send) -> None:
        """Post a message of the core.

        The reader of a connection reports its end, so that one end is one event.
        """
        message = send.message
        if self.deferred is not None and send.text:
            message = compose.realtime_text(self.deferred.with_text(send.text))
        carried = self._intend_carried() if send.text else ""
        if not self._post_of_core(send, lambda: self._link.post(message)):
            self._fail("context", carried)
        elif send.text:
            self._report_deferred(carried)

    def interrupt(self) -> None:
        """Ask the model to stop speaking, on the core's behalf."""
        self._post_of_core(Send(compose.activity_start()), self._link.interrupt)

    def _post_of_core(self, send: Send, post: Callable[[], asyncio.Future[None]]) -> bool:
        try:
            sending = post()
        except NotConnectedError as error:
            self._emit(ev.Log(source="engine", level="warning", text=f"Not sent: {error}"))
            self._on_lost(send)
        except ConnectionClosedError:
            self._on_lost(send)
        except GeminiLiveError as error:
            self._emit(
                ev.Notice(level="error", code=error.code, text=f"Not sent: {error.message}", remedy=error.remedy)
            )
        else:
            self._sending.add(sending)
            sending.add_done_callback(lambda done: self._sent(send, done))
            return True
        return False

    def _sent(self, send: Send, sending: asyncio.Future[None]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled() and sending.exception() is not None:
            self._on_lost(send)

    async def drain(self) -> None:
        """Wait until every posted message was sent or has failed."""
        await asyncio.gather(*self._sending, return_exceptions=True)

    def _post(self, message: ClientMessage) -> None:
        """Post a message; raise `GeminiLiveError` when that fails at once."""
        sending = self._link.post(message)
        self._sending.add(sending)
        sending.add_done_callback(self._forget)

    def _post_intended(self, kind: Literal["context", "instruction"], message: ClientMessage) -> str:
        """Post a message after its intent; return what names the two.

        Raises `GeminiLiveError` when that fails at once.
        """
        if not self._link.has_adapter:
            # It raises: what nothing could take was no intent.
            self._post(message)
        ref = self._intend(kind)
        try:
            self._post(message)
        except GeminiLiveError:
            self._fail(kind, ref)
            raise
        return ref

    def _post_carrying(self, message: ClientMessage) -> None:
        """Post a message that carries the deferred notes."""
        carried = self._intend_carried()
        try:
            self._post(message)
        except GeminiLiveError:
            self._fail("context", carried)
            raise
        self._report_deferred(carried)

    def _intend_carried(self) -> str:
        """Report that the next message carries the deferred notes, if there are any."""
        carries = self.deferred is not None and self.deferred.waiting and self._link.has_adapter
        return self._intend("context") if carries else ""

    def _fail(self, kind: Literal["context", "instruction"], ref: str) -> None:
        if ref:
            self._emit(ev.SendSettled(kind=kind, outcome="failed", ref=ref))

    def _intend(self, kind: Literal["context", "instruction"]) -> str:
        self._intents += 1
        ref = f"{kind}-{self._intents}"
        self._emit(ev.SendIntended(kind=kind, ref=ref))
        return ref

    def _forget(self, sending: asyncio.Future[None]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled():
            sending.exception()  # Marks it as seen: the connection's reader reports the end.

    # -- SessionWriter -----------------------------------------------------------------------------------------------

    def send_audio(self, pcm: bytes) -> None:
        """Post microphone audio (16 kHz s16le mono)."""
        self._link.send_audio(pcm)

    def send_text(self, text: str) -> None:
        """Post text that the user typed."""
        if self.deferred is not None:
            text = self.deferred.with_text(text)
        self._post_carrying(compose.realtime_text(text) if self._realtime_text else compose.text_turn(text))

    def send_video(self, data: bytes, mime_type: str = "image/jpeg") -> None:
        """Post one image of a video, or keep the newest until it can go out."""
        message = compose.realtime_video(data, mime_type)
        if self._link.is_open and self._link.is_connected and self._picture is None:
            self._post_picture(message)
        else:
            # On a slow network pictures would queue up without end, each older than what is seen.
            self._link.outbox.add_picture(message)

    def _post_picture(self, message: ClientMessage) -> None:
        self._picture = self._link.post(message)
        self._picture.add_done_callback(self._on_picture_sent)

    def _on_picture_sent(self, sending: asyncio.Future[None]) -> None:
        self._forget(sending)
        self._picture = None
        if not (self._link.is_open and self._link.is_connected):
            return
        if (message := self._link.outbox.take_picture()) is not None:
            with contextlib.suppress(GeminiLiveError):
                self._post_picture(message)

    def send_context(
        self, texts: Sequence[str], role: ContextRole = "model", prompt: bool = False, reason: str = ""
    ) -> None:
        """Post texts as context; with `prompt` the model speaks at once.

        For a model that takes no context by itself they wait for the next text or the next connection.
        """
        if self.deferred is not None:
            if prompt and not self.live:
                raise ConnectionClosedError("The connection has ended", close_code=1006)
            self._hold(self.deferred, texts, reason)
            if prompt:
                self.prompt_model(reason)
            return
        ref = self._post_intended("context", context_message(texts, role, prompt=prompt))
        self._emit(ev.ContextSent(texts=tuple(texts), reasons=_reasons(reason), ref=ref))
        if prompt:
            self._on_prompt()

    def prompt_model(self, reason: str = "") -> None:
        """Ask the model to speak now."""
        self._post_carrying(
            prompt_message() if self.deferred is None else compose.realtime_text(self.deferred.prompt())
        )
        self._emit(ev.PromptChanged(state="sent", reason=reason))
        self._on_prompt()

    def _hold(self, deferred: DeferredContext, texts: Sequence[str], reason: str) -> None:
        dropped = deferred.hold(texts)
        self._emit(ev.ContextSent(texts=tuple(texts), reasons=_reasons(reason), queued=True))
        if dropped:
            text = f"{dropped} notes were dropped before the model got them: more than {MAX_NOTES} were waiting"
            self._emit(ev.Notice(level="warning", code="steering", text=text))

    def _report_deferred(self, ref: str) -> None:
        """Report the deferred notes as sent: the message just posted carries them."""
        if self.deferred is not None and self.deferred.waiting:
            self._emit(ev.ContextSent(texts=self.deferred.take(), ref=ref))

    def confirm_setup(self) -> None:
        """Report the deferred notes that the setup of an accepted connection has carried."""
        texts = () if self.deferred is None else self.deferred.confirm_setup()
        if texts:
            self._emit(ev.ContextSent(texts=texts, reasons=("part of the setup",)))

    def update_instruction(self, text: str, reason: str = "") -> None:
        """Replace the system instruction, by the model's route.

        Raises `GeminiLiveError` for a model that takes one only with a new connection.
        """
        if self.route == "reconnect":
            raise GeminiLiveError("This model takes a new instruction only with a new connection")
        ref = self._post_intended("instruction", instruction_message(text, self.route))
        self.on_instruction(text)
        self._emit(ev.InstructionUpdated(text=text, via=self.route, reasons=_reasons(reason), ref=ref))

    def activity_start(self) -> None:
        """Post the mark that the user begins to speak."""
        self._post(compose.activity_start())

    def activity_end(self) -> None:
        """Post the mark that the user has finished speaking."""
        self._post(compose.activity_end())

    def send_tool_answers(self, answers: Sequence[FunctionResponse]) -> None:
        """Post the answers of tool calls."""
        self._post(compose.tool_responses(*answers))


def _reasons(text: str) -> tuple[str, ...]:
    """Split the reasons that `send_notes` has joined."""
    return tuple(text.split("; ")) if text else ()
