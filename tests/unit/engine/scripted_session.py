"""Script a session by its spec's `agent` and its commands, to test its host."""

from __future__ import annotations

import asyncio
import builtins
import os
import sys
from dataclasses import dataclass, field

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.commands import Command, SendText, SetMicrophone
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.samples import MeterSample


@dataclass
class ScriptedSession:
    """Echoes typed text as a turn of the model; some texts do more, see `command`."""

    spec: EngineSpec
    hub: Hub
    clock: Clock
    turn: int = 0
    end: asyncio.Event = field(default_factory=asyncio.Event)
    reason: str = ""
    commands: list[Command] = field(default_factory=list)
    mic_db: float = -60.0
    pokes: int = 0
    watchers: list[bool] = field(default_factory=list)
    """Values that `watched` was called with."""

    async def run(self) -> int:
        spec = self.spec
        self.hub.emit(
            ev.SessionStarted(
                session_id=spec.session_id,
                agent=spec.agent,
                model="scripted",
                backend=spec.backend,
                wall=self.hub.wall,
                record=spec.record,
                mode=spec.mode,
                program="test",
            ),
            turn=0,
            gen=0,
        )
        self._say(ev.SessionState(word="listening"))
        if spec.agent == "breaks":
            raise RuntimeError("the script breaks")
        if spec.agent == "clings":
            while True:
                await self.end.wait()
                await self.clock.sleep(3600)
        await self.end.wait()
        self._say(ev.SessionEnded(reason=self.reason, exit_code=0))
        return 0

    async def command(self, command: Command) -> str:
        self.commands.append(command)
        order = command.order
        if isinstance(order, SetMicrophone):
            self.hub.emit(
                ev.CommandRefused(command_id=command.id, command=order.command, reason="There is no microphone."),
                turn=self.turn,
                gen=0,
            )
        elif isinstance(order, SendText):
            await self._text(order.text, command.id)
        return ""

    async def _text(self, text: str, ident: str) -> None:
        if text == "raise":
            raise RuntimeError("the command breaks")
        if text == "raise later":
            asyncio.get_running_loop().call_soon({}.__getitem__, "a key")
        if text == "print":
            print("printed by Python")
            os.write(1, b"written by C\n")
            os.write(2, b"warned by C\n")
        if text == "input":
            try:
                builtins.input("? ")  # noqa: ASYNC250 - what it does here is the question
            except EOFError as error:
                print(error)
            breakpoint()
        if text.startswith("many "):
            for number in range(int(text.split()[1])):
                self._say(ev.Log(source="engine", level="info", text=str(number)))
        if text.startswith("sound "):
            self.hub.audio("user", b"\x01\x02" * int(text.split()[1]))
            self.hub.audio("model", b"\x03\x04" * int(text.split()[1]))
        if text == "block":
            while True:
                pass
        self.turn += 1
        self._say(ev.TurnStarted(by="typed"))
        self._say(ev.TextSent(text=text, command_id=ident))
        for word in ("You ", "typed ", text[:200]):
            self._say(ev.TranscriptDelta(side="model", text=word))
        self._say(ev.TurnCompleted(outcome="complete", latency_ms=12.0))

    def _say(self, payload: ev.Payload) -> None:
        self.hub.emit(payload, turn=self.turn, gen=self.turn)

    def hang_up(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.end.set()

    def finish_tasks(self, reason: str) -> bool:
        """Return False: it has no tasks."""
        return False

    def on_console_attached(self, attached: bool) -> None:
        self.watchers.append(attached)

    def on_watched(self, watched: bool) -> None:
        """Do nothing: it announces nothing."""

    def on_records_changed(self) -> None:
        self.pokes += 1

    def report(self, payload: ev.Payload) -> bool:
        self.hub.tell(payload)
        return True

    def sample(self) -> MeterSample:
        return MeterSample(t=0.0, mic_db=self.mic_db)


def make_session(spec: EngineSpec, hub: Hub, clock: Clock) -> ScriptedSession:
    if spec.agent == "unknown":
        raise AgentError("There is no agent 'unknown'", remedy="Choose concierge", field="agent")
    if spec.agent == "crashes":
        raise ZeroDivisionError("the agent's module divides by zero")
    if spec.agent == "kills":
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)
    return ScriptedSession(spec, hub, clock)
