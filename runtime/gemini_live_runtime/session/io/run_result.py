"""Tell what a session did after the user said something, and check it in tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NoReturn, overload

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.chat import (
    AgentHandoff,
    ChatItem,
    ChatMessage,
    FunctionCall,
    FunctionCallOutput,
    Role,
)
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import record
from gemini_live_runtime.session.agent.listeners.event_views import call_of, output_of
from gemini_live_runtime.text import clip

Kind = Literal["message", "function_call", "function_call_output", "agent_handoff"]

_KINDS: dict[Kind, type] = {
    "message": ChatMessage,
    "function_call": FunctionCall,
    "function_call_output": FunctionCallOutput,
    "agent_handoff": AgentHandoff,
}

MAX_SHOWN = 200
"""Characters of an item that a failed expectation prints."""


@record
class ToolUse:
    """Call of a tool with its result.

    `status` is "ok", "error", "timeout", "cancelled" or "refused".
    """

    name: str
    args: dict[str, Any]
    status: str
    result: dict[str, Any]


class RunResult:
    """Answers, calls and hand-offs that followed a text of the user's, in order.

    `expect` checks them in tests.
    """

    def __init__(self, items: Iterable[ChatItem], owners: Mapping[str, Any] | None = None) -> None:
        """`owners` are the objects of agents, by name, where they are of a class."""
        self.items = tuple(items)
        """Messages of the model, calls, their answers, and hand-offs that followed."""
        self._expect = RunExpectations(self.items, owners or {})

    @property
    def expect(self) -> RunExpectations:
        """Expectations with a cursor, which each `next_event` moves."""
        return self._expect

    @property
    def messages(self) -> tuple[str, ...]:
        """Texts of the model's answers."""
        return tuple(item.text for item in self.items if isinstance(item, ChatMessage))

    @property
    def tool_calls(self) -> tuple[ToolUse, ...]:
        """Calls that have ended, with their results."""
        args = {item.call_id: json.loads(item.arguments) for item in self.items if isinstance(item, FunctionCall)}
        return tuple(
            ToolUse(item.name, args[item.call_id], item.status, json.loads(item.output))
            for item in self.items
            if isinstance(item, FunctionCallOutput) and item.call_id in args
        )

    @property
    def handoffs(self) -> tuple[str, ...]:
        """Names of the agents that took over."""
        return tuple(item.agent for item in self.items if isinstance(item, AgentHandoff))

    def __repr__(self) -> str:
        return f"RunResult({list(self.items)!r})"


class EventExpectation:
    """Expectation of one item.

    Each method returns the item, or raises `AssertionError`.
    """

    def __init__(self, among: _Items, at: int) -> None:
        self._among = among
        self._at = at

    @property
    def item(self) -> ChatItem:
        """Item that is expected to be something."""
        return self._among.items[self._at]

    def is_message(self, *, role: Role | None = None, contains: str = "") -> ChatMessage:
        """Expect a message, of a role, with a text in it."""
        item = self.item
        if isinstance(item, ChatMessage) and role in (None, item.role) and contains in item.text:
            return item
        self._fail("a message", role=role, contains=contains or None)

    def is_function_call(self, *, name: str | None = None, arguments: Mapping[str, Any] | None = None) -> FunctionCall:
        """Expect a call of a tool, with at least these arguments."""
        item = self.item
        if isinstance(item, FunctionCall) and name in (None, item.name):
            made = json.loads(item.arguments)
            if all(key in made and made[key] == value for key, value in (arguments or {}).items()):
                return item
        self._fail("a function call", name=name, arguments=arguments)

    def is_function_call_output(self, *, output: Any = None, is_error: bool | None = None) -> FunctionCallOutput:
        """Expect an answer of a tool, as an object or as the value that the tool returned."""
        item = self.item
        if isinstance(item, FunctionCallOutput) and is_error in (None, item.is_error):
            made = json.loads(item.output)
            if output is None or output == made or {"output": output} == made:
                return item
        self._fail("the output of a function call", output=output, is_error=is_error)

    def is_agent_handoff(self, *, new_agent_type: Any = None) -> AgentHandoff:
        """Expect a hand-off to an agent of a class, or of a name."""
        item = self.item
        if isinstance(item, AgentHandoff) and self._among.is_agent(item.agent, new_agent_type):
            return item
        self._fail("a hand-off", new_agent_type=new_agent_type)

    def _fail(self, what: str, **wanted: Any) -> NoReturn:
        details = ", ".join(f"{name}={value!r}" for name, value in wanted.items() if value is not None)
        raise AssertionError(self._among.report(f"Expected {what}{f' with {details}' if details else ''}", self._at))


class _Items:
    """Items with what is known of their agents."""

    def __init__(self, items: tuple[ChatItem, ...], owners: Mapping[str, Any], first: int = 0) -> None:
        self.items = items
        self.owners = owners
        self.first = first

    def is_agent(self, name: str, wanted: Any) -> bool:
        """Return True when the agent of a name is of a class, or of that name."""
        if wanted is None or isinstance(wanted, str):
            return wanted in (None, name)
        if isinstance(wanted, type):
            return isinstance(self.owners.get(name), wanted)
        return bool(getattr(wanted, "name", None) == name)

    def report(self, problem: str, at: int = -1) -> str:
        """Return a problem with what did follow; the item at `at` is marked."""
        lines = [
            f"{'>' if number == at else ' '} {self.first + number} {_shown(item)}"
            for number, item in enumerate(self.items)
        ]
        return "\n".join([f"{problem}. What followed:", *(lines or ["  nothing"])])


class RangeExpectations:
    """Expectations of items anywhere in a range."""

    def __init__(self, among: _Items) -> None:
        self._among = among

    def __len__(self) -> int:
        return len(self._among.items)

    def contains_message(self, *, role: Role | None = None, contains: str = "") -> ChatMessage:
        """Expect a message somewhere."""
        found = self._first("is_message", role=role, contains=contains)
        assert isinstance(found, ChatMessage)
        return found

    def contains_function_call(
        self, *, name: str | None = None, arguments: Mapping[str, Any] | None = None
    ) -> FunctionCall:
        """Expect a call of a tool somewhere."""
        found = self._first("is_function_call", name=name, arguments=arguments)
        assert isinstance(found, FunctionCall)
        return found

    def contains_function_call_output(self, *, output: Any = None, is_error: bool | None = None) -> FunctionCallOutput:
        """Expect an answer of a tool somewhere."""
        found = self._first("is_function_call_output", output=output, is_error=is_error)
        assert isinstance(found, FunctionCallOutput)
        return found

    def contains_agent_handoff(self, *, new_agent_type: Any = None) -> AgentHandoff:
        """Expect a hand-off somewhere."""
        found = self._first("is_agent_handoff", new_agent_type=new_agent_type)
        assert isinstance(found, AgentHandoff)
        return found

    def _first(self, check: str, **wanted: Any) -> ChatItem:
        for at in range(len(self._among.items)):
            try:
                found: ChatItem = getattr(EventExpectation(self._among, at), check)(**wanted)
            except AssertionError:
                continue
            return found
        details = ", ".join(f"{name}={value!r}" for name, value in wanted.items() if value not in (None, ""))
        what = check.removeprefix("is_").replace("_", " ")
        expected = f"Expected {'an' if what.startswith('a') else 'a'} {what}{f' with {details}' if details else ''}"
        raise AssertionError(self._among.report(f"{expected} among them"))


class RunExpectations(RangeExpectations):
    """Expectations of what followed, one item after the other.

    Failures are `AssertionError`s that print what did follow.
    """

    def __init__(self, items: tuple[ChatItem, ...], owners: Mapping[str, Any]) -> None:
        super().__init__(_Items(items, owners))
        self._at = 0

    def next_event(self, kind: Kind | None = None) -> EventExpectation:
        """Return the next item, with `kind` the next of it: what is between is skipped."""
        if kind is not None and kind not in _KINDS:
            raise AgentError(
                f"There is no kind of event {kind!r:.60}",
                remedy=f"Use one of {', '.join(_KINDS)}",
                field="kind",
                value=kind,
            )
        for at in range(self._at, len(self._among.items)):
            if kind is None or isinstance(self._among.items[at], _KINDS[kind]):
                self._at = at + 1
                return EventExpectation(self._among, at)
        raise AssertionError(self._among.report(f"Expected {kind or 'another event'}, and there is none"))

    def skip_next(self, count: int = 1) -> RunExpectations:
        """Skip items; raise `AssertionError` when there are not so many."""
        if self._at + count > len(self._among.items):
            left = len(self._among.items) - self._at
            raise AssertionError(self._among.report(f"Expected {count} more events to skip, and there are {left}"))
        self._at += count
        return self

    def skip_next_event_if(self, kind: Kind, **like: Any) -> ChatItem | None:
        """Skip the next item and return it where it is as described; None otherwise."""
        if self._at >= len(self._among.items):
            return None
        try:
            found: ChatItem = getattr(EventExpectation(self._among, self._at), f"is_{kind}")(**like)
        except AssertionError:
            return None
        self._at += 1
        return found

    def no_more_events(self) -> None:
        """Expect that nothing more followed."""
        if self._at < len(self._among.items):
            raise AssertionError(self._among.report("Expected no more events", self._at))

    @overload
    def __getitem__(self, at: int) -> EventExpectation: ...
    @overload
    def __getitem__(self, at: slice) -> RangeExpectations: ...
    def __getitem__(self, at: int | slice) -> EventExpectation | RangeExpectations:
        """Return the expectation of one item, or of those of a range."""
        items = self._among.items
        if isinstance(at, slice):
            first = at.indices(len(items))[0]
            return RangeExpectations(_Items(items[at], self._among.owners, first))
        if not -len(items) <= at < len(items):
            raise AssertionError(self._among.report(f"Expected an event {at}, and there are {len(items)}"))
        return EventExpectation(self._among, at % len(items))


def _shown(item: ChatItem) -> str:
    match item:
        case ChatMessage(role=role, text=text, interrupted=interrupted):
            shown = f"message of the {role}: {text}{' (interrupted)' if interrupted else ''}"
        case FunctionCall(name=name, arguments=arguments):
            shown = f"function call {name}({arguments})"
        case FunctionCallOutput(name=name, output=output, status=status):
            shown = f"output of {name}: {output}{'' if status == 'ok' else f' ({status})'}"
        case AgentHandoff(previous=previous, agent=agent):
            shown = f"hand-off from {previous} to {agent}"
    return clip(shown, MAX_SHOWN)


def run_result(events: Iterable[ev.Event], owners: Mapping[str, Any] | None = None) -> RunResult:
    """Return what happened in `events`."""
    items: list[ChatItem] = []
    said: list[str] = []

    def add(*found: ChatItem, unheard: str = "", interrupted: bool = False) -> None:
        text = "".join(said).removesuffix(unheard).strip()
        if text:
            items.append(ChatMessage("assistant", text, interrupted, unheard.strip()))
        said.clear()
        items.extend(found)

    for event in events:
        match event.payload:
            case ev.TranscriptDelta(side="model", channel=channel, text=text) if channel != "thought":
                said.append(text)
            case ev.ToolCalled() as called:
                add(call_of(called))
            case ev.ToolFinished() as finished:
                add(output_of(finished))
            case ev.AgentHandedOff(previous=previous, agent=agent):
                add(AgentHandoff(previous, agent))
            case ev.TurnInterrupted(unheard_text=unheard):
                add(unheard=unheard, interrupted=True)
            case ev.TurnStarted() | ev.TurnCompleted():
                add()
    add()
    return RunResult(items, owners)
