"""Divide a long message of a server: other tasks run between its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gemini_live_runtime.wire.server import ServerContent, ServerMessage, ToolCall

MAX_CALLS_AT_ONCE = 100
"""Calls of one message taken in before other tasks run."""

MAX_PARTS_AT_ONCE = 100
"""Parts of the model's turn in one message taken in before other tasks run."""


def in_parts(message: ServerMessage) -> Iterator[ServerMessage]:
    """Yield a message, or several for one of many parts or calls.

    Content comes before the calls, what may refer to the calls in the last message.
    """
    contents = _pieces_of_content(message.server_content)
    calls = _pieces_of_calls(message.tool_call)
    if len(contents) + len(calls) == 2:
        yield message
        return
    # The last content and the first calls stay together, as in a message that is not divided.
    pieces: list[tuple[ServerContent | None, ToolCall | None]] = [(content, None) for content in contents[:-1]]
    pieces += [(contents[-1], calls[0]), *((None, call) for call in calls[1:])]
    for number, (content, call) in enumerate(pieces, start=1):
        problems = message.problems if number == 1 else ()
        if number == len(pieces):
            yield replace(message, server_content=content, tool_call=call, problems=problems)
        else:
            yield ServerMessage(server_content=content, tool_call=call, problems=problems)


def _pieces_of_content(content: ServerContent | None) -> Sequence[ServerContent | None]:
    turn = None if content is None else content.model_turn
    if content is None or turn is None or len(turn.parts) <= MAX_PARTS_AT_ONCE:
        return (content,)
    *turns, last = (
        replace(turn, parts=turn.parts[at : at + MAX_PARTS_AT_ONCE])
        for at in range(0, len(turn.parts), MAX_PARTS_AT_ONCE)
    )
    first = ServerContent(model_turn=turns[0], input_transcription=content.input_transcription)
    others = [ServerContent(model_turn=one) for one in turns[1:]]
    return [first, *others, replace(content, model_turn=last, input_transcription=None)]


def _pieces_of_calls(tool_call: ToolCall | None) -> Sequence[ToolCall | None]:
    calls = () if tool_call is None else tool_call.function_calls
    if len(calls) <= MAX_CALLS_AT_ONCE:
        return (tool_call,)
    return [
        ToolCall(function_calls=calls[at : at + MAX_CALLS_AT_ONCE]) for at in range(0, len(calls), MAX_CALLS_AT_ONCE)
    ]
