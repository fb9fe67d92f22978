"""Give agents and programs their session: who speaks, and who speaks next.

A facade: it holds nothing of its own, and every question goes to the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, Unpack, overload

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import is_awaitable
from gemini_live_runtime.conversation.chat import CHATS, as_chat, check_messages
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.records import record
from gemini_live_runtime.session.agent.handover.lifecycle import busy_hook
from gemini_live_runtime.session.agent.listeners.event_views import EventViews
from gemini_live_runtime.session.agent.listeners.session_events import AgentState, SessionEvent, check_event_name
from gemini_live_runtime.session.agent.user_code import takes
from gemini_live_runtime.session.core.speech_queue import SpeechPriority
from gemini_live_runtime.session.io.audio_switch import AudioSwitch
from gemini_live_runtime.session.io.listeners import EventStream, SessionListeners
from gemini_live_runtime.session.io.place import Place, place_of_code
from gemini_live_runtime.session.io.speech_handle import SpeechHandle
from gemini_live_runtime.session.io.speech_requests import SpeechRequests, ToolChoice
from gemini_live_runtime.session.ports.loop_calls import LoopCalls, async_on_loop, on_loop
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.mutations import Origin, check_may_act, check_may_wait

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.chat import ChatContext, ChatItem
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.session.io.handle import LiveHandle
    from gemini_live_runtime.session.io.run_result import RunResult
    from gemini_live_runtime.session.io.turn_changes import TurnChanges
    from gemini_live_runtime.session.orchestrator import Orchestrator
    from gemini_live_runtime.state.store import State

Listener = TypeVar("Listener", bound=Callable[..., Any])


@record
class _Attached:
    """Running session behind a facade."""

    handle: LiveHandle
    orchestrator: Orchestrator
    speeches: SpeechRequests
    views: EventViews
    owners: dict[str, Any]
    """Objects of the agents that have spoken, by name, where they are of a class."""


class AgentSession:
    """Session of agents that hand a conversation over to each other.

    Its methods may be called from any thread; what they return is awaited on the session's event loop.
    """

    def __init__(self) -> None:
        self._listeners = SessionListeners()
        self._attached: _Attached | None = None
        self._given: dict[str, Any] = {}
        self._is_in_run = False

    def attach(self, handle: LiveHandle, orchestrator: Orchestrator) -> None:
        """Stand for the session of `handle` from now on."""
        agent = orchestrator.agent

        def call(callback: Any, speech: SpeechHandle) -> None:
            origin = Origin("callback", function_name(callback), speech.id)
            orchestrator.code.call(f"done callback of {speech.id}", callback, speech, origin=origin)

        speeches = SpeechRequests(agent, call)

        def publish(view: SessionEvent) -> None:
            self._listeners.publish(view, orchestrator.code)

        views = EventViews(agent.transcript, speeches.handles.of_event, publish)
        agent.bus.subscribe(views.on_event, *EventViews.KINDS)
        owners = {agent.plan.name: agent.plan.definition.owner}

        def note_owner(event: ev.Event) -> None:
            owners[agent.plan.name] = agent.plan.definition.owner

        agent.bus.subscribe(note_owner, ev.AgentHandedOff)
        self._attached = _Attached(handle, orchestrator, speeches, views, owners)

        def on_done(done: asyncio.Future[int]) -> None:
            self._listeners.end()

        handle.done.add_done_callback(on_done)

    @property
    def is_running(self) -> bool:
        """True from the start to the end of the session."""
        return self._attached is not None and not self._agent.closed

    @property
    def _running(self) -> _Attached:
        if self._attached is None:
            raise AgentError("The session has not been started", remedy="Await start(agent) first", field="session")
        return self._attached

    @property
    def handle(self) -> LiveHandle:
        """Everything else that a program can do with the session."""
        return self._running.handle

    @property
    def loop_calls(self) -> LoopCalls:
        """Access to the session's event loop from other threads."""
        return self._running.handle.loop_calls

    @property
    def _orchestrator(self) -> Orchestrator:
        return self._running.orchestrator

    @property
    def _agent(self) -> AgentContext:
        return self._running.orchestrator.agent

    @property
    def _speeches(self) -> SpeechRequests:
        return self._running.speeches

    @staticmethod
    def of(handle: LiveHandle) -> AgentSession:
        """Return the session of a handle, as `connect` gives it."""
        session = getattr(handle, "agent_session", None)
        if not isinstance(session, AgentSession):
            raise AgentError(
                f"{handle!r:.60} is no handle of a session",
                remedy="Give the handle that `connect` gives",
                field="handle",
            )
        return session

    # -- agents --------------------------------------------------------------------------------------------------------

    @property
    def userdata(self) -> State:
        """State of the session, which all agents share."""
        return self.handle.state

    @property
    def options(self) -> Mapping[str, Any]:
        """Options in force, read-only; those of turns are there from the start on."""
        options = dict(self._given)
        if self._attached is not None:
            turns = self._agent.host.turn_options
            options |= {
                "turn_detection": turns.detection,
                "min_endpointing_delay": turns.min_delay_s,
                "max_endpointing_delay": turns.max_delay_s,
                **self._agent.host.rules.options(),
            }
        return MappingProxyType(options)

    @property
    def conn_options(self) -> Mapping[str, Any]:
        """Options of the connections in force, read-only, by their names in `LinkPolicy`."""
        return MappingProxyType(asdict(self._agent.host.link_policy))

    @property
    def input(self) -> AudioSwitch:
        """Microphone, to ask for and to switch."""
        return AudioSwitch(lambda: self._agent.host.is_microphone_on, self.handle.set_microphone)

    @property
    def output(self) -> AudioSwitch:
        """Speaker, to ask for and to switch."""
        return AudioSwitch(lambda: self._agent.host.is_speaker_on, self.handle.set_speaker)

    @property
    def current_agent(self) -> Any:
        """Agent that speaks: an `Agent`, or the plan of one that `Live` has built."""
        plan: SessionPlan = self._agent.plan
        return plan.definition.owner or plan

    @property
    def history(self) -> ChatContext:
        """Messages, calls, answers and hand-offs of the newest 50 turns, the oldest first.

        Of the model's text, what was heard; arguments and answers with at most 200 characters.
        """
        return self._agent.transcript.chat()

    @property
    def chat_ctx(self) -> ChatContext:
        """Part of the history that the present agent's model knows."""
        return self._agent.transcript.chat(after=self._agent.told_from)

    # -- events --------------------------------------------------------------------------------------------------------

    @overload
    def on(self, event: str) -> Callable[[Listener], Listener]: ...
    @overload
    def on(self, event: str, listener: Listener) -> Listener: ...
    def on(self, event: str, listener: Any = None) -> Any:
        """Call `listener(event)` for each event of this name, also as a decorator.

        A listener may be async; its faults are reported and change nothing. Listeners may be added before the start,
        and are kept over a restart. Raises `AgentError` for a name that no event has.
        """
        if listener is None:
            check_event_name(event)
            return lambda function: self.on(event, function)
        self._listeners.add(event, listener)
        return listener

    def off(self, event: str, listener: Callable[..., Any]) -> None:
        """Call a listener no more; raises `AgentError` for one that was not added."""
        self._listeners.remove(event, listener)

    def events(self, *names: str) -> EventStream:
        """Return an asynchronous iterator of the events of these names, from now on.

        Without names it has all of them. It ends when the session closes. At most 1,000 events wait for a slow reader;
        then the oldest are dropped, and counted in `dropped`.
        """
        return self._listeners.stream(names)

    @property
    def agent_state(self) -> AgentState:
        """State of the agent: initializing, idle, listening, thinking or speaking."""
        return "initializing" if self._attached is None else self._attached.views.agent_state

    @property
    def user_state(self) -> ev.UserState:
        """State of the user: speaking, listening or away."""
        return "listening" if self._attached is None else self._agent.host.user_state

    # -- hand-offs -----------------------------------------------------------------------------------------------------

    @on_loop
    def update_agent(
        self, agent: Any, *, chat: Literal["keep", "fresh"] | Iterable[ChatItem] | None = None
    ) -> asyncio.Future[Any]:
        """Hand over to `agent` as soon as the model has finished speaking.

        Returns a future of that, which need not be awaited. State is kept. With `chat="fresh"` the new agent's model
        does not learn what was said before, and with messages it learns those instead; None is the agent's choice.
        Raises `AgentError` for what is no agent, and for the one that speaks already.
        """
        self._check_usable()
        chat = None if chat is None else as_chat(chat)
        if isinstance(chat, str) and chat not in CHATS:
            raise AgentError(
                f"chat cannot be {chat!r:.60}", remedy='Use "keep", "fresh" or messages', field="chat", value=chat
            )
        return self._orchestrator.handoff.request(agent, by="program", reason="update_agent", chat=chat)

    @on_loop
    def update_tools(self, tools: Sequence[Any]) -> asyncio.Future[None]:
        """Replace all tools of the agent that speaks; return a future of that.

        Calls that run go on. The model learns of the tools with another connection, made in the next pause. Raises
        `AgentError` for tools that cannot be used, such as those that a phase names and that are missing; nothing has
        changed then.
        """
        self._check_usable()
        return self._orchestrator.updates.replace_tools(tools)

    @on_loop
    def update_chat_ctx(self, chat_ctx: Iterable[ChatItem]) -> asyncio.Future[None]:
        """Let these messages be all that was said; return a future of that.

        At most 50; calls and hand-offs among them are left out. As soon as the model has finished speaking, it learns
        of them on another connection, with a server session of its own. Raises `AgentError` for what is no context.
        """
        self._check_usable()
        return self._orchestrator.updates.replace_chat(check_messages(chat_ctx))

    def place_of_call(self, call_id: str) -> Place:
        """Return the place of a call's tool, which may wait for another agent."""
        tools = self._orchestrator.tools
        return Place(
            self._orchestrator.handoff,
            is_open=lambda: call_id in tools.dispatcher.active_ids,
            is_call=True,
            task=asyncio.current_task(),
            is_awaited=lambda: self._agent.host.awaits_call(call_id),
            suspend=lambda: tools.suspend(call_id),
            resume=lambda: tools.resume(call_id),
        )

    def spawn_hook(self, where: str, hook: Callable[..., Any], origin: Origin) -> None:
        """Start a hook of an agent that may wait for another one."""

        running = [hook]

        async def call(session: AgentSession) -> None:
            place_of_code.set(Place(self._orchestrator.handoff, is_open=lambda: bool(running)))
            try:
                result = hook(*(session,)[: takes(hook, 1)])
                if is_awaitable(result):
                    await result
            finally:
                running.clear()

        call.__qualname__ = function_name(hook)
        # The task of the hook has a context of its own.
        self._orchestrator.code.spawn(where, call, self, origin=origin)

    # -- turns ---------------------------------------------------------------------------------------------------------

    async def update_options(self, **options: Unpack[TurnChanges]) -> None:
        """Change options of the running session, as `LiveHandle.update_options` does."""
        await self.handle.update_options(**options)

    async def commit_user_turn(self) -> None:
        """End the user's turn now, as `LiveHandle.commit_user_turn` does."""
        await self.handle.commit_user_turn()

    async def clear_user_turn(self) -> None:
        """Drop the open turn of the user, as `LiveHandle.clear_user_turn` does."""
        await self.handle.clear_user_turn()

    # -- speeches ------------------------------------------------------------------------------------------------------

    @on_loop
    def generate_reply(
        self,
        user_input: str = "",
        *,
        instructions: str = "",
        tool_choice: ToolChoice = "auto",
        allow_interruptions: bool | None = None,
        priority: int | str = SpeechPriority.NORMAL,
    ) -> SpeechHandle:
        """Have the model speak as soon as the floor is free; return a handle of it.

        It answers `user_input` as if the user had typed it, or the conversation so far; `instructions` are for this
        answer. With `tool_choice="none"` the calls of this answer are refused. Without `allow_interruptions`, which is
        by default the agent's, the microphone's sound is replaced by silence while it is spoken. A higher `priority`
        goes first. Raises `AgentError` for what cannot be used, when too many speeches wait, and when the agent's code
        has asked for too many in a row without a word of the user. In `on_exit` it asks for last words, also in a
        session that takes nothing more; in one that is over they are dropped.
        """
        check_may_act()
        if busy_hook.get() != "on_exit":
            self._check_usable()
        return self._speeches.request(
            user_input,
            instructions,
            tool_choice=tool_choice,
            allow_interruptions=allow_interruptions,
            priority=priority,
        )

    def say(self, text: str, **options: Any) -> NoReturn:
        """Refuse, by name: a Live model cannot be made to say a given text."""
        raise AgentError(
            "The Live API cannot say a given text",
            remedy='Use generate_reply(instructions="Say: ...")',
            field="text",
            value=text,
        )

    @property
    @on_loop
    def current_speech(self) -> SpeechHandle | None:
        """Speech that was asked for, or is going on; None without one."""
        return self._speeches.handles.current

    @property
    @on_loop
    def waiting_speeches(self) -> tuple[SpeechHandle, ...]:
        """Speeches that wait, in the order in which they will be spoken."""
        return self._speeches.handles.waiting

    @on_loop
    def interrupt(self, *, force: bool = False) -> asyncio.Future[None]:
        """Stop the present speech and drop what waits; return a future of that.

        What waits is dropped in its order up to the first speech that may not be interrupted. One that the model was
        asked for and does not begin is over after 5 s, and cut should it come later. Raises `AgentError` when
        the one that is going on may not be, unless `force`.
        """
        self._check_usable()
        return self._speeches.interrupt(force=force)

    @async_on_loop
    async def run(self, user_input: str) -> RunResult:
        """Say `user_input` as the user; return what followed until the session is quiet.

        It serves tests of agents. Raises `AgentError` while another run goes on, and in the agent's own code.
        """
        # Imported here, for only tests of agents need it.
        from gemini_live_runtime.session.io.run_result import run_result

        if self._is_in_run:
            raise AgentError("Another run goes on already", remedy="Await it first", field="run", value=user_input)
        check_may_wait("until the session is quiet", "Use generate_reply")
        running, self._is_in_run = self._running, True
        begins = self._agent.bus.seq
        try:
            async with self.handle.events("run") as events:
                await self.handle.send_text(user_input)
                await self.handle.until_quiet()
                events.end()
                return run_result([event async for event in events if event.seq > begins], running.owners)
        finally:
            self._is_in_run = False

    # -- the end -------------------------------------------------------------------------------------------------------

    def shutdown(self) -> None:
        """End the session once all that is owed is said; return at once.

        The present answer, speeches that wait and tools are finished. Nothing more is accepted: texts and the
        microphone's sound, replies, agents and tools are refused. Tools and hooks may call it.
        """
        if self.is_running:
            self.handle.shutdown()

    @async_on_loop
    async def drain(self) -> int:
        """End the session once all that is owed is said; return its exit code.

        As `shutdown` does. Raises `AgentError` in a tool, a hook or a listener, which the session would wait for.
        """
        check_may_wait("for the end of the session", "Use session.shutdown()")
        self.shutdown()
        return await self._running.handle.done

    async def aclose(self) -> int:
        """End the session in an orderly way and return its exit code; again, do nothing."""
        return 0 if self._attached is None else await self.handle.disconnect("closed by the program")

    def _check_usable(self) -> None:
        check_may_act()
        if self._agent.closed:
            raise GeminiLiveError("The session is over", remedy="Start a new one")
        if self._agent.host.is_draining:
            raise GeminiLiveError(
                "The session ends once all that is owed is said: nothing more is accepted", remedy="Start a new one"
            )
