"""Run a session in virtual time and script the server's side in a few words."""

from __future__ import annotations

import asyncio
import contextlib
import wave
from base64 import b64decode
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.unit.session.session_support import ScriptedServer, Sink, Stage, stage

from gemini_live_runtime import Live, LiveHandle, Phase, State, TextModel, Transition, key
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.source import AgentSource
from gemini_live_runtime.audio.interface import AudioIO
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.autosave import OwnStore
from gemini_live_runtime.session.agent.tools.consent import ConsentOptions

P = TypeVar("P", bound=ev.Payload)

AN_INSTANT = 0.01
"""Virtual seconds: they pass only once everything that can happen by itself has happened."""

SECOND_OF_SPEECH = 24_000 * 2


def agent() -> Live:
    """Return an agent called "test" whose instruction is "Be brief."; tests extend it."""
    return Live.builder("test").instruction("Be brief.")


GO = key("app:go")


def two_phases(when: Any = GO, second: Any = "Two.", **of_second: Any) -> tuple[Phase, Phase]:
    """Return the phases "first" and "second".

    The guard `when` leads from the first to the second. `second` is the instruction of the second phase, `of_second`
    its further settings; it is terminal.
    """
    return (
        Phase("first", "One.", transitions=Transition("second", when)),
        Phase("second", second, terminal=True, **of_second),
    )


class Talk:
    """Session under test and the server's end of its wire, which reads all the time."""

    def __init__(self, one: Stage) -> None:
        self.stage = one
        self.server: ScriptedServer = one.server
        self.handle: LiveHandle = one.session.handle
        self.state: State = one.state
        self.setup: dict[str, Any] = {}
        self._calls = self._commands = 0
        self._reading: list[asyncio.Task[None]] = []

    # -- what happens ------------------------------------------------------------------------------------------------

    async def begins(self) -> dict[str, Any]:
        """Let the session connect; its setup."""
        self.setup = await self.server.accepts()
        self.server.frames.clear()
        self._read(self.server)
        await self.rests()
        return self.setup

    async def connects_again(self) -> dict[str, Any]:
        """Take the next connection; its setup. From here on `server` is its end."""
        self.server = await self.stage.next_server()
        setup = await self.server.accepts()
        self.server.frames.clear()
        self._read(self.server)
        await self.rests()
        return setup

    def _read(self, server: ScriptedServer) -> None:
        self._reading.append(asyncio.create_task(server.drinks()))

    async def rests(self) -> None:
        """Return once nothing more happens without time passing."""
        await asyncio.sleep(AN_INSTANT)

    async def passes(self, seconds: float) -> None:
        """Let so many virtual seconds pass."""
        await asyncio.sleep(seconds)

    @property
    def now(self) -> float:
        """Virtual seconds so far."""
        return asyncio.get_running_loop().time()

    async def types(self, text: str) -> None:
        """Type `text` as the user."""
        await self.stage.types(text)
        await self.rests()

    async def hears(self, text: str) -> None:
        """Send the server's transcript of the user's speech."""
        await self.server.says(serverContent={"inputTranscription": {"text": text}})
        await self.rests()

    async def says(self, text: str) -> None:
        """Send the transcript of the model's speech, without audio."""
        await self.server.says(serverContent={"outputTranscription": {"text": text}})
        await self.rests()

    async def ends(self) -> None:
        """End the model's answer and the turn."""
        await self.server.says(serverContent={"generationComplete": True})
        await self.server.says(serverContent={"turnComplete": True})
        await self.rests()

    async def turn(self, user: str = "hello", model: str = "fine") -> None:
        """Send a spoken turn: question, answer and end."""
        await self.hears(user)
        await self.says(model)
        await self.ends()

    async def voice(self, speaking: bool) -> None:
        """Send a mark of the server's voice activity detector."""
        await self.server.says(voiceActivity={"voiceActivityType": "ACTIVITY_START" if speaking else "ACTIVITY_END"})
        await self.rests()

    async def calls(self, *names: str, **args: Any) -> None:
        """Call tools in one message, all with the same arguments.

        The ids are `c1`, `c2`, and so on.
        """
        calls = []
        for name in names:
            self._calls += 1
            calls.append({"id": f"c{self._calls}", "name": name, "args": args})
        await self.server.says(toolCall={"functionCalls": calls})
        await self.rests()

    async def commands(self, order: cmd.Order) -> str:
        """Give a command as the operator; return the reason of its refusal, or ""."""
        self._commands += 1
        ident = f"o{self._commands}"
        await self.stage.session.command(cmd.Command(ident, order))
        await self.rests()
        refused = [event.reason for event in self.all(ev.CommandRefused) if event.command_id == ident]
        assert len(refused) <= 1
        return "".join(refused)

    async def edits(self, *edits: dict[str, Any], reason: str = "") -> str:
        """Edit state keys as the operator; return the reason of the refusal, or ""."""
        return await self.commands(cmd.EditState(edits=edits, reason=reason))

    async def sets(self, name: str, value: Any, **more: Any) -> str:
        """Edit one state key as the operator; return the reason of the refusal, or ""."""
        return await self.edits({"key": name, "value": value, **more})

    async def previews(self, *edits: dict[str, Any]) -> ev.EditPreviewed:
        """Preview edits as the operator."""
        assert await self.commands(cmd.PreviewEdit(edits=edits)) == ""
        return self.all(ev.EditPreviewed)[-1]

    async def writes(self, **values: Any) -> None:
        """Write `app:` keys as the embedding program."""
        for name, value in values.items():
            self.state.set(f"app:{name}", value)
        await self.rests()

    # -- what came of it ---------------------------------------------------------------------------------------------

    def all(self, kind: type[P]) -> list[P]:
        """Return every event of a kind."""
        return self.stage.sink.all(kind)

    @property
    def phases(self) -> list[str]:
        """The phases entered, in order."""
        return [event.phase for event in self.all(ev.PhaseEntered)]

    @property
    def events(self) -> list[str]:
        """The types of all events but those of the wire, in order."""
        return [event.type for event in self.stage.sink.events if not event.type.startswith("wire.")]

    @property
    def wire(self) -> list[tuple[Any, ...]]:
        """Messages that the client has sent on the current connection, without the setup.

        Each is a short tuple that begins with its kind.
        """
        return [told for frame in self.server.frames for told in _told(frame)]

    def sent(self, kind: str) -> list[tuple[Any, ...]]:
        """Return the sent messages of one kind."""
        return [told for told in self.wire if told[0] == kind]

    def sound_sent(self) -> bytes:
        """Return the microphone's sound that the server has got on the current connection."""
        inputs = [frame["realtimeInput"] for frame in self.server.frames if "realtimeInput" in frame]
        return b"".join(b64decode(item["audio"]["data"]) for item in inputs if "audio" in item)

    def failures(self) -> list[ev.CodeFailed]:
        """Return the faults of the agent's own code."""
        return self.all(ev.CodeFailed)


def _told(frame: dict[str, Any]) -> list[tuple[Any, ...]]:
    if "contextUpdate" in frame:
        return [("instruction", _text(frame["contextUpdate"]["systemInstruction"]))]
    if "toolResponse" in frame:
        answers = frame["toolResponse"]["functionResponses"]
        return [("answer", answer["id"], answer["response"]) for answer in answers]
    if "realtimeInput" in frame:
        (kind,) = frame["realtimeInput"]
        return [("audio",)] if kind == "audio" else [(kind,)]
    content = frame["clientContent"]
    turns = content.get("turns", [])
    if not turns:
        return [("prompt",)]
    if content.get("turnComplete"):
        return [("text", _text(turn)) for turn in turns]
    return [(f"{turn['role']} context", _text(turn)) for turn in turns]


def _text(content: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in content["parts"])


@contextlib.asynccontextmanager
async def talk(
    of: Live | AgentSource,
    *,
    begins: bool = True,
    text_model: TextModel | None = None,
    audio: Callable[[], AudioIO] = NoAudio,
    mode: ev.Mode = "voice",
    own_store: OwnStore | None = None,
    sink: Sink | None = None,
    harness: HarnessWorker | None = None,
    dormant_after_s: float = 0.0,
    consent: ConsentOptions | None = None,
) -> AsyncIterator[Talk]:
    """Run a session of an agent beside the block, and hang up at its end.

    It is connected when the block begins, unless `begins` is False.
    """
    async with stage(
        agent=of,
        text_model=text_model,
        audio=audio,
        mode=mode,
        own_store=own_store,
        sink=sink,
        harness=harness,
        dormant_after_s=dormant_after_s,
        consent=consent,
    ) as one:
        talking = Talk(one)
        if begins:
            await talking.begins()
        yield talking


def silence(path: Path, seconds: float = 1.0) -> Path:
    """Write a silent WAV file, which serves a session as its microphone."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(int(seconds * 16_000) * 2))
    return path
