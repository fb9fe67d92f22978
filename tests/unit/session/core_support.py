"""Drive a core with a small script language and inspect its effects."""

from __future__ import annotations

from typing import Any, TypeVar

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.effects import Cut, Effect, Emit, EndOfAudio, Play, Send
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.core.pricing import Price
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.turn_options import TurnOptions
from gemini_live_runtime.session.ports.capabilities import capabilities_of
from gemini_live_runtime.tools.background import STANDARD, ToolExecutionMode, final_answer
from gemini_live_runtime.tools.dispatch import Outcome
from gemini_live_runtime.wire.codec import audio_message, client_to_json, from_json
from gemini_live_runtime.wire.messages import AudioFrame, ServerMessage

P = TypeVar("P", bound=ev.Payload)

MS = 24
"""Model samples in a millisecond."""


class Bench:
    """Driver of a core, with a device that plays as the test says."""

    def __init__(
        self, *, mode: ev.Mode = "voice", manual: bool = False, microphone: str = "mic", **options: Any
    ) -> None:
        self.now = 100.0
        self.effects: list[Effect] = []
        self.received: dict[int, int] = {}
        self.heard: dict[int, int] = {}
        self.capabilities = capabilities_of(options.pop("model", "gemini-3.8-live"))
        self.core = SessionCore(
            CoreState(
                mode=mode,
                capabilities=self.capabilities,
                limits=Limits(options.pop("max_cost", None), options.pop("max_minutes", None)),
                price=options.pop("price", Price(1.0, 1.0, 1.0, 1.0)),
                prices_as_of="2026-11",
                started_at=self.now,
                turns=TurnOptions(detection="manual" if manual else "server"),
            )
        )
        opened = ev.AudioOpened(
            input=microphone, output="out", input_rate=48000, output_rate=48000, echo_canceller="aec", problems=()
        )
        self.do(self.core.audio.on_opened(self.now, opened))

    def do(self, effects: list[Effect]) -> None:
        for effect in effects:
            self.effects.append(effect)
            if isinstance(effect, Play):
                self.received[effect.gen] = self.received.get(effect.gen, 0) + len(effect.pcm) // 2
            if isinstance(effect, Cut):
                self.do(self.core.audio.on_cut(self.now, effect, self.heard.get(effect.victim, 0)))

    def connect(self) -> Bench:
        self.do(self.core.connection.on_connecting(self.now, "ws://localhost"))
        self.do(self.core.connection.on_connected(self.now, ms=5.0, server_session="s"))
        return self

    # -- the server ----------------------------------------------------------------------------------------------

    def says(self, **fields: Any) -> None:
        """Pass on a server message, given by its camelCase top-level fields."""
        message, problems = from_json(ServerMessage, fields)
        assert not problems
        self.do(self.core.server.on_message(self.now, message))

    def content(self, **fields: Any) -> None:
        self.says(serverContent=fields)

    def audio(self, ms: int) -> None:
        self.do(
            self.core.server.on_audio(self.now, AudioFrame(b"\x01\x00" * (ms * MS), 24_000, "audio/pcm;rate=24000"))
        )

    def audio_message(self, ms: int) -> None:
        message = audio_message(b"\x01\x00" * (ms * MS), "audio/pcm;rate=24000")
        self.do(self.core.server.on_message(self.now, message))

    def tool_ends(self, outcome: Outcome, mode: ToolExecutionMode = STANDARD) -> None:
        """Finish a call and compose its answer, as the agent would."""
        answer = final_answer(outcome, mode, async_tools=self.capabilities.async_tools)
        self.do(self.core.tools.finish(self.now, outcome, answer))

    # -- the devices ---------------------------------------------------------------------------------------------

    def plays(self, gen: int, ms: int) -> None:
        """Let the device consume `ms` of a generation."""
        before = self.heard.get(gen, 0)
        if before == 0:
            self.do(self.core.audio.on_playback_started(self.now, gen))
        count = min(ms * MS, self.received.get(gen, 0) - before)
        self.heard[gen] = before + count
        self.do(self.core.audio.on_playback_heard(self.now, gen, before, count))

    def drains(self, gen: int) -> None:
        self.plays(gen, 10**6)
        self.do(self.core.audio.on_playback_drained(self.now, gen))

    def voice(self, speaking: bool) -> None:
        self.do(self.core.audio.on_voice(self.now, speaking))

    def passes(self, seconds: float) -> None:
        """Time passes, deadlines are kept."""
        end = self.now + seconds
        while (wait := self.core.deadline(self.now)) is not None and self.now + wait <= end:
            self.now += max(wait, 1e-6)
            self.do(self.core.tick(self.now))
        self.now = end

    # -- the operator --------------------------------------------------------------------------------------------

    def order(self, order: cmd.Order, ident: str = "c1") -> None:
        handler = self.core.commands.handlers()[type(order)]
        self.do(handler(self.now, order, ident))

    def types(self, text: str) -> None:
        self.order(cmd.SendText(text=text))

    # -- what came of it -----------------------------------------------------------------------------------------

    def all(self, kind: type[P]) -> list[P]:
        return [e.payload for e in self.effects if isinstance(e, Emit) and isinstance(e.payload, kind)]

    def emits(self, kind: type[ev.Payload]) -> list[Emit]:
        return [e for e in self.effects if isinstance(e, Emit) and isinstance(e.payload, kind)]

    def last(self, kind: type[P]) -> P:
        return self.all(kind)[-1]

    @property
    def word(self) -> str:
        return self.last(ev.SessionState).word

    @property
    def words(self) -> list[str]:
        return [state.word for state in self.all(ev.SessionState)]

    @property
    def sent(self) -> list[dict[str, Any]]:
        return [client_to_json(e.message) for e in self.effects if isinstance(e, Send)]

    @property
    def played(self) -> list[int]:
        return [e.gen for e in self.effects if isinstance(e, Play)]

    @property
    def ended_audio(self) -> list[int]:
        return [e.gen for e in self.effects if isinstance(e, EndOfAudio)]
