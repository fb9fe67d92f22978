"""Read a transcript as messages: texts that were heard, calls, results, hand-offs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, TypeAlias, overload

from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.conversation.transcript_turn import CallStatus, TranscriptTurn
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor

Role = Literal["user", "assistant"]

MAX_MESSAGES = 50
"""Messages of a context that a program gives: as many as turns are kept."""

MAX_CHARS = 1_000_000
"""Characters of all of them: more than a model's context."""


@record
class ChatMessage:
    """Text of the user or of the model.

    `text` of the model is what was heard; where `interrupted`, `unheard` is the rest.
    """

    role: Role
    text: str
    interrupted: bool = False
    unheard: str = ""


@record
class FunctionCall:
    """Call of a tool; `arguments` are a JSON text."""

    call_id: str
    name: str
    arguments: str


@record
class FunctionCallOutput:
    """Answer of a call; `output` is a JSON text."""

    call_id: str
    name: str
    output: str
    status: CallStatus = "ok"

    @property
    def is_error(self) -> bool:
        """True for a call that did not end well."""
        return self.status not in ("ok", "running")


@record
class AgentHandoff:
    """Hand-off between two agents, by their names; `previous` is "" for the first one."""

    previous: str
    agent: str


ChatItem: TypeAlias = ChatMessage | FunctionCall | FunctionCallOutput | AgentHandoff
"""Item of a conversation."""


class ChatContext(Sequence[ChatItem]):
    """Items of a conversation, read-only, the oldest first."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[ChatItem] = ()) -> None:
        if not isinstance(items, Iterable):
            raise AgentError(
                f"The items of a conversation cannot be {items!r:.60}", remedy="Give a list", field="items", value=items
            )
        self.items: tuple[ChatItem, ...] = tuple(items)

    def messages(self) -> tuple[ChatMessage, ...]:
        """Return the messages among the items."""
        return tuple(item for item in self.items if isinstance(item, ChatMessage))

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, at: int) -> ChatItem: ...
    @overload
    def __getitem__(self, at: slice) -> ChatContext: ...
    def __getitem__(self, at: int | slice) -> ChatItem | ChatContext:
        return ChatContext(self.items[at]) if isinstance(at, slice) else self.items[at]

    def __eq__(self, other: object) -> bool:
        return self.items == other.items if isinstance(other, ChatContext) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.items)

    def __repr__(self) -> str:
        return f"ChatContext({list(self.items)!r})"


def items_of(turn: TranscriptTurn) -> Iterator[ChatItem]:
    """Yield the items of a turn: the user's words, then the model's around its calls."""
    if turn.user.strip():
        yield ChatMessage("user", turn.user.strip())
    at = 0
    for call in turn.tool_calls:
        if said := turn.model[at : call.after].strip():
            yield ChatMessage("assistant", said)
        at = max(at, min(call.after, len(turn.model)))
        yield FunctionCall(call.call_id, call.name, call.args)
        if call.status != "running":
            yield FunctionCallOutput(call.call_id, call.name, call.result, call.status)
    rest = turn.model[at:].strip()
    if rest:
        yield ChatMessage("assistant", rest, turn.interrupted, turn.unheard.strip())


def check_messages(messages: Any) -> tuple[ChatMessage, ...]:
    """Return the messages of a context that a program gives.

    Calls and hand-offs are left out. Raises `AgentError` for what is none, or too many.
    """
    if isinstance(messages, str | bytes) or not isinstance(messages, Iterable):
        raise AgentError(
            f"A chat context cannot be {messages!r:.60}",
            remedy='Give messages, for example [ChatMessage("user", "hello")]',
            field="chat_ctx",
            value=type(messages).__name__,
        )
    found: list[ChatMessage] = []
    chars = 0
    for item in messages:
        if isinstance(item, FunctionCall | FunctionCallOutput | AgentHandoff):
            continue
        if not isinstance(item, ChatMessage) or item.role not in ("user", "assistant"):
            raise AgentError(
                f"A chat context cannot hold {item!r:.60}",
                remedy='Give ChatMessage("user", text) or ChatMessage("assistant", text)',
                field="chat_ctx",
                value=type(item).__name__,
            )
        text: Any = item.text
        if not isinstance(text, str):
            raise AgentError(
                f"A message's text cannot be {text!r:.60}",
                remedy="Give a string",
                field="chat_ctx",
                value=type(text).__name__,
            )
        chars += len(text)
        found.append(item)
        # It may be an iterator that does not end.
        for count, limit, unit in ((len(found), MAX_MESSAGES, "messages"), (chars, MAX_CHARS, "characters")):
            if count > limit:
                raise AgentError(
                    f"A chat context of {count:,} {unit} is too long: at most {limit:,} are kept",
                    remedy="Give the newest, or a summary",
                    field="chat_ctx",
                    value=count,
                )
    return tuple(found)


Chat: TypeAlias = Literal["keep", "fresh"] | tuple[ChatMessage, ...]
"""Part of the conversation that an agent's model knows when it takes over: all, nothing, or chosen messages."""

CHATS = ("keep", "fresh")


def as_chat(choice: Any) -> Any:
    """Return a choice of `CHATS` in its own spelling, or checked messages.

    A text that is no choice comes back as it is: the caller refuses it.
    """
    return as_choice(choice, CHATS) if isinstance(choice, str | Enum) else check_messages(choice)


def messages_to_json(messages: Sequence[ChatMessage]) -> tuple[dict[str, Any], ...]:
    """Return messages as events have them."""
    return tuple({"role": message.role, "text": redactor.text(message.text)} for message in messages)


def messages_from_json(messages: Sequence[Mapping[str, Any]]) -> tuple[ChatMessage, ...]:
    """Read messages of an event; one whose text its line has cut is left out."""
    return tuple(
        ChatMessage(role, text)
        for role, text in ((message.get("role"), message.get("text")) for message in messages)
        if role in ("user", "assistant") and isinstance(text, str)
    )


def turns_of(messages: Sequence[ChatMessage], now: float) -> list[TranscriptTurn]:
    """Return messages as ended turns: the user's with the answers that follow."""
    turns: list[TranscriptTurn] = []
    user, model = "", ""
    for message in (*messages, ChatMessage("user", "")):
        if message.role == "assistant":
            model = f"{model} {message.text}".strip()
            continue
        if user or model:
            by: Literal["typed", "model"] = "typed" if user else "model"
            turns.append(TranscriptTurn(number=0, by=by, started_at=now, user=user, model=model))
        user, model = message.text, ""
    return turns
