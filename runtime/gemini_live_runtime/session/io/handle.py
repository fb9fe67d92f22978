"""A running session in the hands of the program that embeds it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.session.agent.background_agents import BackgroundAgentDispatcher
from gemini_live_runtime.session.agent.subscription import Subscription
from gemini_live_runtime.session.io.vad import InputVadSnapshot
from gemini_live_runtime.session.outbound.context_queue import DeferredWriter
from gemini_live_runtime.session.rules.reactor import PlaybackDrained, VoiceRuntimeState
from gemini_live_runtime.state.store import State

if TYPE_CHECKING:
    from gemini_live_runtime.session.io.live_session import LiveSession


class LiveHandle:
    """What a program can do with a session: talk, listen, look into its mind and steer it.

    Everything belongs to the session's event loop.
    """

    def __init__(self, session: LiveSession) -> None:
        self._session = session
        self._mind = session.conductor
        self._made = 0

    # -- talking -----------------------------------------------------------------------------------------------------

    async def send_text(self, text: str) -> None:
        """Send typed text as the user's turn; raises `GeminiLiveError` when it is refused."""
        await self._order(cmd.SendText(text=text))

    def send_audio(self, pcm: bytes) -> None:
        """Send microphone audio: s16le mono at 16 kHz. Raises `GeminiLiveError` where nobody would hear it."""
        if not self._session.takes_audio:
            raise GeminiLiveError(
                "This session takes no microphone audio now",
                remedy='Connect with audio="program" and mode="voice"',
                field="audio",
            )
        self._session.ears.take_audio(pcm)

    def send_video(self, data: bytes, mime_type: str = "image/jpeg") -> None:
        """Send one picture; the session's time budget is that of video from now on. Raises `GeminiLiveError`."""
        self._mind.user_writer.send_video(data, mime_type)
        self._mind.signals.mark_video_sent()

    def send_context(self, *texts: str) -> None:
        """Let the model know something without answering it. Raises `GeminiLiveError`.

        A model that takes no context in mid-session hears it with the next prompt, typed text or connection.
        """
        self._mind.user_writer.send_context(texts, reason="program")

    def prompt(self, reason: str = "program") -> None:
        """Have the model speak as soon as nobody else does."""
        self._mind.steersman.arm_prompt(reason)

    async def interrupt(self) -> None:
        """Stop what the model is saying; raises `GeminiLiveError` when it says nothing."""
        await self._order(cmd.Interrupt())

    def update_instruction(self, text: str) -> None:
        """Replace the agent's own instruction; phase and modifiers are added as before."""
        self._mind.replace_instruction(text)

    def answer_tool(self, call_id: str, result: dict[str, Any]) -> bool:
        """Answer a running call in the tool's place; False when it is not running. The tool is cancelled."""
        return self._mind.desk.answer_for(call_id, result)

    def writer(self) -> DeferredWriter:
        """What user input is written to: queued context goes out ahead of it."""
        return self._mind.user_writer

    async def _order(self, order: cmd.Order) -> None:
        self._made += 1
        command = cmd.Command(f"program-{self._made}", order)
        refused = await self._session.carried_out(command)
        if refused:
            raise GeminiLiveError(refused, field=order.command)

    # -- who has the floor -------------------------------------------------------------------------------------------

    def user_speech_started(self) -> None:
        """The user begins to speak, as the program knows it: waiting prompts are dropped."""
        self._mind.fast.user_speech(True)

    def user_speech_ended(self) -> None:
        """The user has finished speaking, as the program knows it."""
        self._mind.fast.user_speech(False)

    def playback_drained(self) -> None:
        """The program has played all it was given: a waiting prompt may go out."""
        self._mind.react(PlaybackDrained(self._mind.pending.has_prompt))

    flush_deferred_prompt = playback_drained

    def voice_state(self) -> VoiceRuntimeState:
        """Who has the floor."""
        return self._mind.reactor.voice

    def input_vad_state(self) -> InputVadSnapshot | None:
        """Our own voice activity detector; None while the server decides when the user speaks."""
        return self._session.ears.input_vad_state()

    # -- listening ---------------------------------------------------------------------------------------------------

    def events(self, name: str = "subscriber") -> Subscription:
        """Every event from now on, as an asynchronous iterator; a slow reader loses the oldest, counted.

        It ends with the session. To stop earlier, `close` it or use it in an `async with` block.
        """
        return self._mind.subscribers.add(name)

    stream = events

    @property
    def done(self) -> asyncio.Future[int]:
        """The session's exit code, once it has ended. To cancel it, as a timeout does, means nothing to the session."""
        return asyncio.shield(self._session.done)

    async def until_quiet(self, seconds: float = 0.2) -> None:
        """Return once nothing has gone on and nothing was owed for so many seconds."""
        await self._session.until_quiet(seconds)

    # -- looking and steering ----------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The session's state; what the program writes is written as the program's."""
        return self._mind.state

    @property
    def phase(self) -> str:
        """The conversation's phase; "" for an agent without phases."""
        return "" if self._mind.director is None else self._mind.director.machine.current

    @property
    def wire_phase(self) -> str:
        """What the connection is doing, as `session:wire_phase`."""
        return self._mind.signals.wire_phase

    def transition_to(self, phase: str, reason: str = "") -> None:
        """Take the conversation to a phase without asking guards; raises `AgentError` for one that does not exist."""
        self._mind.moves.to(phase, source="program", reason=reason)

    async def preview_phase(self, phase: str) -> ev.PhasePreviewed:
        """What going to a phase without asking guards would do, found out on a copy."""
        return await self._mind.operator.foresee_phase(phase)

    async def edit_state(self, *edits: dict[str, Any], reason: str = "") -> None:
        """Write or remove keys by hand, all or none, as the `state.edit` command does. Raises `GeminiLiveError`."""
        await self._order(cmd.EditState(edits=edits, reason=reason))

    async def preview_edit(self, *edits: dict[str, Any]) -> ev.EditPreviewed:
        """What `edit_state` would do, found out on a copy."""
        return await self._mind.operator.foresee_edit(edits)

    async def undo_edit(self, *, force: bool = False) -> None:
        """Take back the last edit. Raises `GeminiLiveError` when a key was changed since, unless `force`."""
        await self._order(cmd.UndoEdit(force=force))

    async def redo_edit(self, *, force: bool = False) -> None:
        """Make the edit again that was taken back last. Raises as `undo_edit` does."""
        await self._order(cmd.RedoEdit(force=force))

    async def reload(self) -> None:
        """Read the agent's file again, between two turns. Raises `GeminiLiveError` for one that has no file."""
        await self._order(cmd.ReloadAgent())

    def explain(self) -> dict[str, Any]:
        """Where the conversation stands and why it goes no further, every guard with the values it read."""
        return self._mind.moves.explain()

    def why_blocked(self, phase: str) -> list[str]:
        """What keeps the conversation from going to `phase`, a sentence each; none when nothing does."""
        return self._mind.moves.why_blocked(phase)

    def mute_watcher(self, name: str, muted: bool = True) -> None:
        """Let a watcher only count what would have set it off, or hear it again. Raises `AgentError` for no such."""
        self._mind.operator.switch(name, muted, "agent")

    async def fire_watcher(self, name: str) -> None:
        """Run what a watcher does, as if its condition had come true. Raises `GeminiLiveError` for no such."""
        await self._order(cmd.FireWatcher(watcher=name))

    def extracted(self, extractor: str) -> dict[str, Any] | None:
        """The last object that an extractor found."""
        found = self._mind.state.get(f"temp:extracted:{extractor}")
        return found if isinstance(found, dict) else None

    def telemetry(self) -> dict[str, Any]:
        """The session's figures now."""
        return self._mind.fast.figures()

    @property
    def agents(self) -> BackgroundAgentDispatcher:
        """Background agents of this session."""
        return self._mind.agents

    def resume_handle(self) -> str:
        """What the server gave to resume this session with; a secret, "" for none."""
        return self._mind.body.resumption_handle

    # -- the end -----------------------------------------------------------------------------------------------------

    async def disconnect(self, reason: str = "hung up") -> int:
        """End the session in an orderly way; its exit code. A second call waits for the same end."""
        self._session.hang_up(reason)
        return await self.done
