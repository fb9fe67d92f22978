"""Build messages to the model: texts, instructions, context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol, get_args

from gemini_live_runtime.choices import as_choice
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.messages import ClientMessage, FunctionResponse

ContextRole = Literal["model", "user"]
InstructionVia = Literal["context_update", "system_content", "user_note"]

INSTRUCTION_MARK = "[Instruction] "
"""Prefix of an instruction that travels as something the user said."""

CONTEXT_MARK = "[Context] "
"""Prefix of context that travels as something the user said."""


CALL_IT = "Give a string; call a function first, and give what it returns"
"""Remedy for an instruction that is no text."""


@frozen_record
class ContextNote:
    """Text for the model to know, not to answer. `reason` is for people."""

    text: str
    role: ContextRole = "model"
    reason: str = ""


class SessionWriter(Protocol):
    """Posts to the model. Nothing waits: the order of calls is the order on the wire.

    Every method may raise `GeminiLiveError`; nothing was posted then. `reason` is for the journal.
    """

    def send_audio(self, pcm: bytes) -> None:
        """Post microphone audio (16 kHz s16le mono)."""
        ...

    def send_text(self, text: str) -> None:
        """Post a turn that the user typed; the model answers it."""
        ...

    def send_video(self, data: bytes, mime_type: str = "image/jpeg") -> None:
        """Post one still of a video."""
        ...

    def send_context(
        self, texts: Sequence[str], role: ContextRole = "model", prompt: bool = False, reason: str = ""
    ) -> None:
        """Post texts for the model to know; with `prompt` it speaks at once."""
        ...

    def prompt_model(self, reason: str = "") -> None:
        """Ask the model to speak now."""
        ...

    def update_instruction(self, text: str, reason: str = "") -> None:
        """Replace the system instruction."""
        ...

    def activity_start(self) -> None:
        """Mark that the user begins to speak, where the client decides that."""
        ...

    def activity_end(self) -> None:
        """Mark that the user has finished, where the client decides that."""
        ...

    def send_tool_answers(self, answers: Sequence[FunctionResponse]) -> None:
        """Post the answers of calls."""
        ...


def check_text(value: object, what: str, *, field: str = "text", remedy: str = "Give a string") -> None:
    """Raise `AgentError` unless `value`, called `what` in the sentence, is a string.

    Queued, it would fail only later, far from the code that gave it.
    """
    if not isinstance(value, str):
        raise AgentError(
            f"{what} is text, not {type(value).__name__}: {value!r:.100}", remedy=remedy, field=field, value=value
        )


def check_context(texts: Any, role: Any, *, field: str = "texts") -> tuple[tuple[str, ...], ContextRole]:
    """Return context and its role in lower case; raise `AgentError` for others."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise AgentError(
            f"Context is a list of texts, not {texts!r:.100}",
            remedy=f"Write [{texts[:40]!r}]" if isinstance(texts, str) else "Give a list of strings",
            field=field,
            value=texts,
        )
    given = tuple(texts)
    for text in given:
        check_text(text, "Context", field=field)
    named = as_choice(role, get_args(ContextRole))
    if named not in get_args(ContextRole):
        raise AgentError(
            f"Context cannot have the role {role!r:.60}",
            remedy=f"Use {' or '.join(get_args(ContextRole))}",
            field="role",
            value=role,
        )
    return given, named


def instruction_message(text: str, via: InstructionVia) -> ClientMessage:
    """Return the message that replaces the system instruction with `text`.

    Raises `AgentError` for an unknown `via`.
    """
    match via:
        case "context_update":
            return compose.context_update(instruction=text)
        case "system_content":
            return compose.text_turn(text, role="system", turn_complete=False)
        case "user_note":
            return compose.text_turn(INSTRUCTION_MARK + text, role="user", turn_complete=False)
        case _:
            raise AgentError(
                f"An instruction cannot travel as {via!r} in a message",
                remedy="Use context_update, system_content or user_note",
                field="via",
                value=via,
            )


def context_message(texts: Sequence[str], role: ContextRole = "model", *, prompt: bool = False) -> ClientMessage:
    """Return the message with one turn for each of `texts`.

    Those in the user's name are marked as context.
    """
    mark = CONTEXT_MARK if role == "user" else ""
    turns = (compose.text_content(mark + text, role=role) for text in texts)
    return compose.client_content(*turns, turn_complete=prompt)


def prompt_message() -> ClientMessage:
    """Return the message that asks the model to speak."""
    return compose.client_content(turn_complete=True)
