"""Define an agent as an object or a class of its own: instructions, tools, hooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from gemini_live_runtime.author_code import exact_text
from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.conversation.chat import AgentHandoff, ChatContext, ChatItem, as_chat
from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.session.agent.handover.agent_updates import with_tools
from gemini_live_runtime.session.core.turn_rules import (
    FALSE_INTERRUPTION_TIMEOUT_S,
    MAX_TOOL_STEPS,
    MAX_UNRECOVERABLE_ERRORS,
    USER_AWAY_TIMEOUT_S,
    InterruptionsBy,
    TurnRules,
)
from gemini_live_runtime.session.definition.builder import AgentBuilder
from gemini_live_runtime.session.definition.definition import DEFAULT_MODEL, Definition, TurnTaking
from gemini_live_runtime.session.definition.plan import SessionPlan, make_plan
from gemini_live_runtime.session.definition.server_detection import ServerDetection
from gemini_live_runtime.session.definition.turn_choice import as_turn_taking
from gemini_live_runtime.tools.declaration import Tool

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.phases import Phase
    from gemini_live_runtime.session.endpointing.end_of_turn import EndOfTurnModel
    from gemini_live_runtime.session.io.agent_session import AgentSession
    from gemini_live_runtime.session.io.user_turn import UserTurn

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Agent:
    """Agent of a conversation, to use as it is or to derive a class from.

    A derived class may have tools among its methods, each with `@tool`, and override `on_enter`, `on_exit` and
    `on_user_turn_completed`. What the
    arguments here cannot say, phases with their guards among it, `define` adds with the builder.
    """

    is_agent = True

    def __init__(
        self,
        *,
        name: str = "",
        instructions: str = "",
        instruction: str = "",
        tools: Sequence[Any] = (),
        phases: Sequence[Phase] = (),
        model: str = DEFAULT_MODEL,
        local_model: str = "",
        voice: str = "",
        greeting: str = "",
        chat: Literal["keep", "fresh"] | Iterable[ChatItem] = "keep",
        phrases: Sequence[str] = (),
        description: str = "",
        turn_detection: TurnTaking | Literal["push-to-talk"] = "auto",
        manual_activity: bool = False,
        user_away_timeout: float | None = USER_AWAY_TIMEOUT_S,
        server_detection: ServerDetection | None = None,
        min_endpointing_delay: float | None = None,
        max_endpointing_delay: float | None = None,
        end_of_turn_model: EndOfTurnModel | None = None,
        interruptions_by: InterruptionsBy = "server",
        min_interruption_duration: float | None = None,
        min_interruption_words: int = 0,
        false_interruption_timeout: float | None = FALSE_INTERRUPTION_TIMEOUT_S,
        allow_interruptions: bool = True,
        min_consecutive_speech_delay: float = 0.0,
        max_tool_steps: int | None = MAX_TOOL_STEPS,
        max_unrecoverable_errors: int | None = MAX_UNRECOVERABLE_ERRORS,
        hands_over_to: Sequence[Any] = (),
    ) -> None:
        """Check everything; raise one `AgentError` that lists every fault.

        `name` is by default that of the class, in kebab case. `instruction` is another spelling of `instructions`.
        Plain functions among `tools` are declared. `local_model` is the model on the embedded server: its script of
        that name, "local-<name>" by default, has the dialogue. With a `greeting` the model speaks first, prompted by
        it. `chat` is what the model knows when the agent takes over, see `Live.chat`. `phrases` are examples of what
        the user can say; the console shows them. `turn_detection` is who finds the user's turns; `manual_activity` is
        short for "manual", and `server_detection` has the settings of the server's detector; the endpointing delays and
        the end-of-turn model are those of `Live.endpointing`. `user_away_timeout` is the silence in seconds on both
        sides after which the user counts as away; None is never. `interruptions_by` and the three after it are those of
        `Live.interruptions`; `allow_interruptions` and the two limits those of `Live`, `min_consecutive_speech_delay`
        is that of `Live.speech_gap`. `hands_over_to` names agents, or functions that return them, which this one may
        hand the conversation over to.
        """
        if instruction and instructions:
            raise AgentError("instruction and instructions are the same: give one of them", field="instructions")
        for field, items in (
            ("tools", tools),
            ("phases", phases),
            ("phrases", phrases),
            ("hands_over_to", hands_over_to),
        ):
            _check_items(field, items)
        self.defined_at = caller_place()
        own = type(self)
        builder = AgentBuilder(
            Definition(
                name=exact_text(name) or ("" if own.__name__ == "Agent" else _WORD.sub("-", own.__name__).lower()),
                instruction=exact_text(instructions or instruction),
                tools=(*tools, *_method_tools(self)),
                phases=tuple(phases),
                model=exact_text(model),
                local_model=exact_text(local_model),
                voice=exact_text(voice),
                greeting=exact_text(greeting),
                chat=as_chat(chat),
                phrases=tuple(map(exact_text, phrases)),
                description=exact_text(description),
                turn_rules=TurnRules(
                    user_away_timeout_s=user_away_timeout,
                    interruptions_by=as_choice(interruptions_by, get_args(InterruptionsBy)),
                    min_interruption_s=min_interruption_duration,
                    min_interruption_words=min_interruption_words,
                    false_interruption_timeout_s=false_interruption_timeout,
                    allow_interruptions=allow_interruptions,
                    min_speech_gap_s=min_consecutive_speech_delay,
                    max_tool_steps=max_tool_steps,
                    max_unrecoverable_errors=max_unrecoverable_errors,
                ),
                turn_taking="manual" if manual_activity else as_turn_taking(turn_detection),
                min_endpointing_delay_s=min_endpointing_delay,
                max_endpointing_delay_s=max_endpointing_delay,
                end_of_turn_model=end_of_turn_model,
                server_detection=ServerDetection() if server_detection is None else server_detection,
                hands_over_to=tuple(hands_over_to),
                built_at=self.defined_at,
                on_enter=self.on_enter if own.on_enter is not Agent.on_enter else None,
                on_exit=self.on_exit if own.on_exit is not Agent.on_exit else None,
                on_user_turn_completed=(
                    self.on_user_turn_completed
                    if own.on_user_turn_completed is not Agent.on_user_turn_completed
                    else None
                ),
                owner=self,
            )
        )
        self._plan = make_plan(self.define(builder).definition)
        self._session: AgentSession | None = None

    def define(self, builder: AgentBuilder) -> AgentBuilder:
        """Return `builder` with what else the agent has, such as state and watchers."""
        return builder

    async def on_enter(self) -> None:
        """Begin to speak: called at first, and after each hand-off to this agent."""

    async def on_exit(self) -> None:
        """End: called when another agent takes over, and at the end; it has 5 s."""

    async def on_user_turn_completed(self, turn: UserTurn) -> None:
        """Take the user's turn that has ended, before the model does; it has 5 s.

        Add context for the answer, or raise `StopResponse` to drop the turn. Only where the turn ends here: with
        `turn_detection` "client" or "manual".
        """

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def __getattr__(self, name: str) -> Any:
        own = type(self).__name__
        if name in ("_plan", "_session", "_result"):
            raise AgentError(
                f"The agent {own} was not made whole",
                remedy=f"Call super().__init__(...) in {own}.__init__, before it is used",
                field="agent",
                value=own,
            )
        raise AttributeError(f"{own!r} object has no attribute {name!r}")

    @property
    def name(self) -> str:
        """Name of the agent."""
        return self._plan.name

    @property
    def instructions(self) -> str:
        """Instruction that applies in every phase."""
        return self._plan.definition.instruction

    @property
    def model(self) -> str:
        """Model on Google's servers."""
        return self._plan.definition.model

    @property
    def description(self) -> str:
        """Sentence that lists of agents show."""
        return self._plan.definition.description

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Tools with their schemas, methods among them."""
        return self._plan.declared

    declared = tools

    @property
    def session(self) -> AgentSession:
        """Session in which this agent speaks, or has spoken last.

        Raises `AgentError` before that.
        """
        if self._session is None:
            raise AgentError(
                f"Agent {self.name} is in no session",
                remedy="Use it from on_enter on, or the context of a tool",
                field="session",
            )
        return self._session

    @property
    def chat_ctx(self) -> ChatContext:
        """Conversation as this agent's model knows it; empty before the agent speaks.

        After a hand-off it ends with that.
        """
        session = self._session
        if session is None:
            return ChatContext()
        if session.current_agent is self:
            return session.chat_ctx
        items = session.history.items
        left = [at for at, item in enumerate(items) if isinstance(item, AgentHandoff) and item.previous == self.name]
        return ChatContext(items[: left[-1]] if left else ())

    async def update_instructions(self, instructions: str) -> None:
        """Replace the instruction, also while this agent speaks.

        Raises `AgentError` for one that is no text.
        """
        self._plan = make_plan(replace(self._plan.definition, instruction=instructions))
        if self._speaks_in is not None:
            self._speaks_in.handle.update_instruction(instructions)

    async def update_tools(self, tools: Sequence[Any]) -> None:
        """Replace all tools, also while this agent speaks: give `[*agent.tools, another]`.

        Raises `AgentError` for tools that cannot be used; nothing has changed then.
        """
        plan = make_plan(with_tools(self._plan.definition, tools))
        if self._speaks_in is not None:
            await self._speaks_in.update_tools(plan.definition.tools)
        self._plan = plan

    async def update_chat_ctx(self, chat_ctx: Iterable[ChatItem]) -> None:
        """Let these messages be all that was said; this agent has to speak.

        Raises `AgentError` for what is no context, and for an agent that does not speak.
        """
        if self._speaks_in is None:
            raise AgentError(
                f"Agent {self.name} does not speak: there is no conversation that it could be told of",
                remedy="Use it from on_enter on",
                field="chat_ctx",
                value=self.name,
            )
        await self._speaks_in.update_chat_ctx(chat_ctx)

    @property
    def _speaks_in(self) -> AgentSession | None:
        session = self._session
        return session if session is not None and session.is_running and session.current_agent is self else None

    def attach(self, session: AgentSession) -> None:
        """Note the session in which this agent begins to speak."""
        self._session = session

    def plan(self) -> SessionPlan:
        """Return the plan that sessions are made from."""
        return self._plan


def _check_items(field: str, items: Any) -> None:
    """Raise `AgentError` for what holds no items; a text holds only letters."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise AgentError(
            f"{field} cannot be {items!r:.60}", remedy="Give a list", field=field, value=type(items).__name__
        )


def _method_tools(agent: Agent) -> list[Tool]:
    """Return the tools among an agent's methods, bound to it, in their order."""
    found: dict[str, Tool] = {}
    for kind in reversed(type(agent).__mro__):
        for attribute, item in vars(kind).items():
            found.pop(attribute, None)
            if isinstance(item, Tool):
                bound = item.function.__get__(agent) if item.signature.is_method else item.function
                found[attribute] = replace(item, function=bound)
    return list(found.values())
