"""Do the simulated faults of one connection, at the moments that its turns offer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from gemini_live_runtime.local.faults import Fault, FaultSchedule
from gemini_live_runtime.local.protocol.message_sender import MessageSender
from gemini_live_runtime.local.protocol.refusal import (
    DEADLINE,
    FAILURE,
    INTERNAL,
    INVALID_ARGUMENT,
    VIOLATION,
    Refusal,
    context_exhausted,
    invalid,
)
from gemini_live_runtime.wire.messages import (
    ClientMessage,
    Content,
    GoAway,
    Part,
    ServerContent,
    ServerMessage,
    Setup,
    ToolCall,
    Transcription,
)
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES, TransportClosed

MAX_AGE_S = 600.0
"""Seconds after which `age-limit` closes a connection."""

SILENCE_S = 50.0
"""Seconds between the goAway of `go-away-silence` and the close."""

IN_CALL_S = 10.0
"""Seconds between the goAway of `go-away-in-call` and the close."""

STRICT_S = 10.0
"""Seconds between the goAway of `strict-resume` and the close."""

STRICT_GRACE_S = 0.1
"""Seconds that `strict-resume` needs to see that the older connection was closed."""

OUTAGE_S = 5.0
"""Seconds for which `outage` refuses connections."""

PONG_S = 30.0
"""Seconds after which `late-pongs` answers a ping."""

REPEAT_S = 5.0
"""Seconds between two transcriptions of `silent-stall`."""

SLOWER_S = 0.5
"""Seconds that `slow-answers` adds to each answer."""

MAX_SLOW_S = 15.0
"""Most seconds that `slow-answers` adds."""

LATE_SOUND = b"\x00\x10" * 960
"""Sound (40 ms, s16le at 24 kHz) that arrives after an interruption."""

_CLOSES: dict[Fault, tuple[int, str]] = {
    Fault.INTERNAL_ERROR: (FAILURE, INTERNAL),
    Fault.CLEAN_CLOSE: (1000, ""),
    Fault.QUOTA: (FAILURE, "You exceeded your current quota, please check your plan and billing details."),
}
_BREAKS = (Fault.DROP_MID_TURN, Fault.STALE_HANDLE, Fault.STRICT_HISTORY, Fault.OUTAGE)


class SimulatedFaults:
    """Simulated faults of one connection; `forget_handles` drops those of the server."""

    def __init__(self, schedule: FaultSchedule, sender: MessageSender, forget_handles: Callable[[], None]) -> None:
        self.schedule = schedule
        self._sender = sender
        self._forget_handles = forget_handles
        self._answers = 0
        self.ended: asyncio.Future[Refusal] = asyncio.get_running_loop().create_future()
        """Refusal by which a fault ends the connection."""
        self._ending: asyncio.TimerHandle | None = None
        sender.joins_completion = schedule.holds(Fault.JOINED_COMPLETION)

    # -- the beginning -----------------------------------------------------------------------------------------------

    def check_setup(self, setup: Setup, message: ClientMessage) -> None:
        """Raise `Refusal` for a setup that a rule forbids."""
        if self.schedule.holds(Fault.NULL_HANDLE) and setup.session_resumption is not None:
            given = message.raw["setup"]
            resumption = given.get("sessionResumption", given.get("session_resumption"))
            if isinstance(resumption, dict) and resumption.get("handle", "") is None:
                raise Refusal(VIOLATION, f"{INVALID_ARGUMENT}: the session resumption handle is null.")

    def check_content(self, message: ClientMessage, *, resumed: bool) -> None:
        """Raise `Refusal` for content that a rule forbids."""
        content = message.client_content
        is_history = content is not None and content.turns and not content.turn_complete
        if is_history and resumed and self.schedule.refuses_history:
            raise invalid()

    def check_audio(self, *, manual: bool, marked: bool) -> None:
        """Raise `Refusal` for sound outside of the marks of a client that makes them."""
        if manual and not marked and self.schedule.holds(Fault.STRICT_ACTIVITY):
            raise invalid("audio came before activityStart")

    def resume_grace_s(self, usual_s: float) -> float:
        """Return the seconds that a resumption waits for the older connection to close."""
        return STRICT_GRACE_S if self.schedule.holds(Fault.STRICT_RESUME) else usual_s

    async def limit_age(self, after_s: float | None) -> None:
        """Close at the age limit, unannounced, where that fault was ordered."""
        if self.schedule.take(Fault.AGE_LIMIT):
            await asyncio.sleep(MAX_AGE_S if after_s is None else after_s)
            self._forget_handles()
            raise Refusal(FAILURE, DEADLINE)
        if self.schedule.holds(Fault.AGE_LIMIT):
            await asyncio.Event().wait()

    # -- an answer ---------------------------------------------------------------------------------------------------

    async def before_answer(self, *, compresses: bool) -> None:
        """Do what comes before an answer."""
        self._answers += 1
        self.schedule.on_answer()
        if self._answers > 1 and not compresses and self.schedule.holds(Fault.CONTEXT_LIMIT):
            raise context_exhausted()
        if self.schedule.take(Fault.GARBAGE_FRAME):
            await self._sender.raw(b"\x00\xff not json")
        if self.schedule.take(Fault.HUGE_FRAME):
            await self._sender.raw(b'{"serverContent":{"x":"' + b"x" * MAX_MESSAGE_BYTES + b'"}}')
        if self.schedule.take(Fault.GO_AWAY_SILENCE):
            await self._go_away(SILENCE_S)
            self._sender.is_silent = True

    async def before_reply(self, heard: str) -> None:
        """Do what comes between the user's transcript and the answer."""
        if self.schedule.take(Fault.SILENT_STALL):
            self._sender.is_silent = True
            said = ServerMessage(server_content=ServerContent(input_transcription=Transcription(text=heard)))
            while True:
                await asyncio.sleep(REPEAT_S)
                if heard:
                    await self._sender.send(said, although_silent=True)
        if self.schedule.holds(Fault.SLOW_ANSWERS):
            await asyncio.sleep(min(MAX_SLOW_S, SLOWER_S * self._answers))

    async def in_answer(self) -> None:
        """End the connection after a piece of an answer, if a fault does that."""
        take = self.schedule.take
        for fault, (code, reason) in _CLOSES.items():
            if take(fault):
                self.schedule.refused_upgrades += fault is Fault.QUOTA
                raise Refusal(code, reason)
        if take(Fault.STALL_IN_ANSWER):
            self._sender.is_silent = True
            await asyncio.Event().wait()
        broken = next((fault for fault in _BREAKS if take(fault)), None)
        if broken is Fault.STALE_HANDLE:
            self._forget_handles()
        elif broken is Fault.STRICT_HISTORY:
            self.schedule.refuses_history = True
        elif broken is Fault.OUTAGE:
            self.schedule.unreachable_until = asyncio.get_running_loop().time() + OUTAGE_S
        if broken is not None:
            with contextlib.suppress(TransportClosed):
                await self._sender.abort()
            raise TransportClosed(1006)

    async def after_answer(self) -> bool:
        """Do what follows a complete turn; return True when the model speaks unasked."""
        if self.schedule.take(Fault.STRICT_RESUME):
            await self._go_away(STRICT_S)
        return self.schedule.take(Fault.UNASKED_TURN)

    # -- calls -------------------------------------------------------------------------------------------------------

    async def call(self, called: ToolCall) -> None:
        """Send a call; raise `Refusal` when it is one that the server does not implement."""
        if self.schedule.take(Fault.NOT_IMPLEMENTED):
            raise Refusal(VIOLATION, "Operation is not implemented, or supported, or enabled.")
        message = ServerMessage(tool_call=called)
        if self.schedule.take(Fault.DUPLICATE_CALL):
            parts = tuple(Part(function_call=call) for call in called.function_calls)
            content = ServerContent(model_turn=Content(role="model", parts=parts))
            await self._sender.send(ServerMessage(server_content=content))
            await self._sender.send(message)
        await self._sender.send(message)
        if self.schedule.take(Fault.GO_AWAY_IN_CALL):
            await self._go_away(IN_CALL_S)

    # -- ends --------------------------------------------------------------------------------------------------------

    async def _go_away(self, seconds: float) -> None:
        await self._sender.send(ServerMessage(go_away=GoAway(time_left=f"{seconds:g}s")))
        self._ending = asyncio.get_running_loop().call_later(seconds, self._end)

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(Refusal(FAILURE, DEADLINE))

    def close(self) -> None:
        """Cancel what was announced."""
        if self._ending is not None:
            self._ending.cancel()
        self.ended.cancel()
