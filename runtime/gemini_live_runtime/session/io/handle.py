"""Give a program that embeds a session what it can do with it."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Unpack

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.session.agent.background_agents import BackgroundAgentDispatcher
from gemini_live_runtime.session.agent.listeners.subscription import Subscription
from gemini_live_runtime.session.definition.turn_choice import as_turn_taking
from gemini_live_runtime.session.endpointing.vad import InputVadSnapshot
from gemini_live_runtime.session.io.harness_controller import HarnessController
from gemini_live_runtime.session.io.loop_writer import LoopWriter
from gemini_live_runtime.session.io.turn_changes import TURNS, TurnChanges, check_turn_changes
from gemini_live_runtime.session.outbound.context_queue import PROGRAM
from gemini_live_runtime.session.ports.loop_calls import LoopCalls, async_on_loop, on_loop
from gemini_live_runtime.session.ports.messages import check_text
from gemini_live_runtime.session.rules.reactor import PlaybackDrained, VoiceRuntimeState
from gemini_live_runtime.state.mutations import check_may_act, check_may_wait
from gemini_live_runtime.state.store import State

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gemini_live_runtime.session.io.audio_input import AudioInput
    from gemini_live_runtime.session.link.controller import LinkPosition
    from gemini_live_runtime.session.orchestrator import Orchestrator


class LiveHandle:
    """A program's handle of its running session.

    Its methods may be called from any thread; on another than the session's they wait until the session has done it.
    Futures that they return belong to the session's event loop. Those that act raise `AgentError` in
    code that decides, such as a guard, and `GeminiLiveError` after the session's end.
    """

    def __init__(
        self,
        orchestrator: Orchestrator,
        audio_input: AudioInput,
        *,
        carry_out: Callable[[cmd.Command], Awaitable[str]],
        until_quiet: Callable[[float], Awaitable[None]],
        hang_up: Callable[[str], None],
        drain: Callable[[], None],
        done: asyncio.Future[int],
    ) -> None:
        """`carry_out` returns why a command was refused, or ""; `done` the exit code."""
        self._orchestrator = orchestrator
        self._agent = orchestrator.agent
        self._audio_input = audio_input
        self._carry_out = carry_out
        self._until_quiet = until_quiet
        self._hang_up = hang_up
        self._drain = drain
        self._done = done
        self._commands = 0
        self.agent_session: object = None
        """`AgentSession` over this handle, which `AgentSession.of` returns."""
        self.loop_calls = LoopCalls(done.get_loop())
        self.harness = HarnessController(orchestrator.tools.tasks, self.loop_calls, self.events)
        """Tasks, notifications and memory of the session."""

    # -- talking -------------------------------------------------------------------------------------------------------

    @async_on_loop
    async def send_text(self, text: str) -> None:
        """Send typed text as the user's turn; raises `GeminiLiveError` when it is refused."""
        self._check_usable()
        self._agent.answers.check()
        await self._order(cmd.SendText(text=text))

    @on_loop
    def send_audio(self, pcm: bytes) -> None:
        """Send microphone audio: s16le mono at 16 kHz.

        Raises `GeminiLiveError` when it goes nowhere.
        """
        self._check_usable()
        if not self._audio_input.takes_audio:
            raise GeminiLiveError(
                "This session takes no microphone audio now",
                remedy='Connect with audio="program" and mode="voice"',
                field="audio",
            )
        self._audio_input.take_audio(pcm)

    @on_loop
    def send_video(self, data: bytes, mime_type: str = "image/jpeg") -> None:
        """Send one picture; the session then has the time budget of video.

        The newest waits for a connection, or until one before it is sent. Raises `GeminiLiveError`.
        """
        self._check_usable()
        self._agent.user_writer.send_video(data, mime_type)
        self._orchestrator.session_keys.mark_video_sent()

    @on_loop
    def send_context(self, *texts: str) -> None:
        """Give the model context that it does not answer. Raises `GeminiLiveError`.

        A model that takes no context in mid-session hears it with the next prompt, typed text or connection.
        """
        self._check_usable()
        for text in texts:
            remedy = "Give each text as an argument of its own: send_context(*texts)"
            check_text(text, "Context", field="texts", remedy=remedy)
        self._agent.user_writer.send_context(texts, reason=PROGRAM)

    @on_loop
    def prompt(self, reason: str = "program") -> None:
        """Have the model speak as soon as the floor is free."""
        self._check_usable()
        self._agent.answers.check()
        self._orchestrator.steering.arm_prompt(reason)

    @async_on_loop
    async def interrupt(self) -> None:
        """Stop what the model is saying; raises `GeminiLiveError` when it says nothing."""
        await self._order(cmd.Interrupt())

    @async_on_loop
    async def set_microphone(self, on: bool) -> None:
        """Open or mute the microphone; raises `GeminiLiveError` in text mode."""
        await self._order(cmd.SetMicrophone(on=on))

    @async_on_loop
    async def set_speaker(self, on: bool) -> None:
        """Open or mute the speaker."""
        await self._order(cmd.SetSpeaker(on=on))

    @async_on_loop
    async def update_options(self, **options: Unpack[TurnChanges]) -> None:
        """Change how turns are taken; what is left out stays.

        Options are `turn_detection`, `min_endpointing_delay`, `max_endpointing_delay`, `user_away_timeout`,
        `min_interruption_duration`, `min_interruption_words`, `false_interruption_timeout`, `max_tool_steps`,
        `max_unrecoverable_errors`, `allow_interruptions` and `min_consecutive_speech_delay`; the last two until another
        agent takes over.
        A change from or to the server's detector takes effect with a new connection, which is made in the next pause.
        The rules from `user_away_timeout` on take effect at once; None turns one off. Raises `GeminiLiveError` for what
        cannot change in this session; what is before it in this order has changed then.
        """
        check_turn_changes(options)
        changes = {name: value for name, value in options.items() if name not in TURNS and value is not ...}
        if not changes or any(options.get(name) is not None for name in TURNS):
            await self._order(
                cmd.SetOptions(
                    turn_detection=as_turn_taking(options.get("turn_detection")),
                    min_endpointing_delay=options.get("min_endpointing_delay"),
                    max_endpointing_delay=options.get("max_endpointing_delay"),
                )
            )
        if changes:
            await self._order(cmd.SetRules(changes=changes))

    @async_on_loop
    async def commit_user_turn(self) -> None:
        """End the user's turn now; raise `GeminiLiveError` where the server ends turns.

        Also when no turn is open.
        """
        await self._order(cmd.CommitTurn())

    @async_on_loop
    async def clear_user_turn(self) -> None:
        """Drop what the user has said in the open turn; raise as `commit_user_turn` does."""
        await self._order(cmd.ClearTurn())

    @on_loop
    def update_instruction(self, text: str) -> None:
        """Replace the agent's own instruction; phase and modifiers are added as before.

        Raises `GeminiLiveError` for one that is no text.
        """
        self._check_usable()
        self._orchestrator.steering.replace_instruction(text)

    @on_loop
    def answer_tool(self, call_id: str, result: dict[str, Any]) -> bool:
        """Answer a running call in its tool's place; False when it does not run.

        The tool is cancelled.
        """
        self._check_usable()
        return self._orchestrator.tools.answer_for(call_id, result)

    def writer(self) -> LoopWriter:
        """Return the writer of user input, which sends queued context ahead of it."""
        check_may_act()
        return LoopWriter(self._agent.user_writer, self.loop_calls)

    def _check_usable(self) -> None:
        check_may_act()
        if self._done.done():
            raise GeminiLiveError("The session is over", remedy="Start a new one")

    async def _order(self, order: cmd.Order) -> None:
        self._check_usable()
        self._commands += 1
        refusal = await self._carry_out(cmd.Command(f"program-{self._commands}", order))
        if refusal:
            raise GeminiLiveError(refusal, field=order.command)

    # -- the floor -----------------------------------------------------------------------------------------------------

    @on_loop
    def user_speech_started(self) -> None:
        """Report that the user begins to speak: armed prompts are dropped."""
        self._check_usable()
        self._orchestrator.observer.on_user_speech(True)

    @on_loop
    def user_speech_ended(self) -> None:
        """Report that the user has finished speaking, as the program knows it."""
        self._check_usable()
        self._orchestrator.observer.on_user_speech(False)

    @on_loop
    def playback_drained(self) -> None:
        """Report that the program has played all audio: an armed prompt may go out."""
        self._check_usable()
        self._agent.react(PlaybackDrained(self._agent.context_queue.has_prompt))

    flush_deferred_prompt = playback_drained

    def voice_state(self) -> VoiceRuntimeState:
        """Return who has the floor."""
        return self._orchestrator.reactor.voice

    def input_vad_state(self) -> InputVadSnapshot | None:
        """Return the state of our voice detector; None while the server decides."""
        return self._audio_input.input_vad_state()

    # -- listening -----------------------------------------------------------------------------------------------------

    @on_loop
    def events(self, name: str = "subscriber") -> Subscription:
        """Return an asynchronous iterator of every event from now on.

        The first one in a block of `connect` begins with what happened before the block.
        A slow reader loses the oldest events, which is counted. It ends with the session. To stop
        earlier, `close` it or use it in an `async with` block.
        """
        return self._orchestrator.subscribers.add(name)

    stream = events

    @property
    def done(self) -> asyncio.Future[int]:
        """Future of the session's exit code.

        Cancelling it, as a timeout does, does not end the session.
        """
        return asyncio.shield(self._done)

    @async_on_loop
    async def until_quiet(self, seconds: float = 0.2) -> None:
        """Return once nothing went on and nothing was owed for `seconds`, or at the end.

        Raises `AgentError` in a tool, a hook or a listener, which the session waits for.
        """
        check_may_wait("until the session is quiet", "Await a speech's handle, or wait in the program")
        if not is_finite(seconds):
            raise AgentError(f"until_quiet cannot wait {seconds!r:.60}", remedy="Give seconds", field="seconds")
        await self._until_quiet(seconds)

    # -- inspecting and steering ---------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """State of the session; writes here have the program as their origin."""
        return self._agent.state

    @property
    def phase(self) -> str:
        """Phase of the conversation; "" for an agent without phases."""
        phases = self._agent.phases
        return "" if phases is None else phases.machine.current

    @property
    def wire_phase(self) -> str:
        """Phase of the connection, as in `session:wire_phase`."""
        return self._orchestrator.session_keys.wire_phase

    @on_loop
    def transition_to(self, phase: str, reason: str = "") -> None:
        """Go to a phase without asking guards; raises `AgentError`."""
        self._check_usable()
        self._orchestrator.pipeline.request_phase(phase, source="program", reason=reason)

    @async_on_loop
    async def preview_phase(self, phase: str) -> ev.PhasePreviewed:
        """Return what going to a phase without asking guards would do."""
        return await self._orchestrator.operator.preview_phase(phase)

    @async_on_loop
    async def edit_state(self, *edits: dict[str, Any], reason: str = "") -> None:
        """Write or remove keys by hand, all or none, as `state.edit` does.

        Raises `GeminiLiveError`.
        """
        await self._order(cmd.EditState(edits=edits, reason=reason))

    @async_on_loop
    async def preview_edit(self, *edits: dict[str, Any]) -> ev.EditPreviewed:
        """Return what `edit_state` would do, worked out on a copy."""
        return await self._orchestrator.operator.preview_edit(edits)

    @async_on_loop
    async def undo_edit(self, *, force: bool = False) -> None:
        """Undo the last edit.

        Raises `GeminiLiveError` when a key was changed since, unless `force`.
        """
        await self._order(cmd.UndoEdit(force=force))

    @async_on_loop
    async def redo_edit(self, *, force: bool = False) -> None:
        """Make the edit again that was taken back last. Raises as `undo_edit` does."""
        await self._order(cmd.RedoEdit(force=force))

    @async_on_loop
    async def reload(self) -> None:
        """Read the agent's file again, between two turns.

        Raises `GeminiLiveError` for an agent without a file.
        """
        await self._order(cmd.ReloadAgent())

    @on_loop
    def explain(self) -> dict[str, Any]:
        """Return where the conversation is and what keeps it there.

        With the values that each guard read.
        """
        phases = self._agent.phases
        return {} if phases is None else deepcopy(phases.explain())

    @on_loop
    def why_blocked(self, phase: str) -> list[str]:
        """Return what keeps the conversation from going to `phase`, a sentence each."""
        phases = self._agent.phases
        return [f"Agent {self._agent.plan.name} has no phases"] if phases is None else phases.why_blocked(phase)

    @on_loop
    def mute_watcher(self, name: str, muted: bool = True) -> None:
        """Mute a watcher, which then only counts, or unmute it.

        Raises `AgentError`.
        """
        self._check_usable()
        self._orchestrator.operator.switch_watcher(name, muted, "agent")

    @async_on_loop
    async def fire_watcher(self, name: str) -> None:
        """Run a watcher's action as if its condition had come true.

        Raises `GeminiLiveError`.
        """
        await self._order(cmd.FireWatcher(watcher=name))

    def extracted(self, extractor: str) -> dict[str, Any] | None:
        """Return the last object that an extractor found, or None."""
        found = self._agent.state.get(f"temp:extracted:{extractor}")
        return found if isinstance(found, dict) else None

    @property
    def link(self) -> LinkPosition:
        """Position of the link to the server: ids, what went out and came in, restarts."""
        return self._agent.host.link_position

    @on_loop
    def telemetry(self) -> dict[str, Any]:
        """Return the session's figures so far."""
        return self._orchestrator.reporter.figures()

    @property
    def agents(self) -> BackgroundAgentDispatcher:
        """Background agents of this session."""
        return self._orchestrator.background_agents

    def resume_handle(self) -> str:
        """Return the server's handle to resume this session with; a secret, "" for none."""
        return self._agent.host.resumption_handle

    # -- the end -------------------------------------------------------------------------------------------------------

    @on_loop
    def shutdown(self) -> None:
        """End the session once all that is owed is said.

        That is answers, speeches that wait, and tools. Nothing more of the user's is taken.
        """
        self._check_usable()
        self._drain()

    @async_on_loop
    async def disconnect(self, reason: str = "hung up") -> int:
        """End the session in an orderly way and return its exit code.

        Further calls wait for the same end.
        """
        check_may_act()
        self._hang_up(str(reason))
        return await self.done
