"""Define extractors, which read facts out of the transcript, and schedule them.

Each extractor runs once at a time. A request for one that runs waits for it; a later request replaces the one that
waits, since its window is newer.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, Protocol, TypeVar

from gemini_live_runtime.author_code import exact_text, is_awaitable
from gemini_live_runtime.clock import hold_time
from gemini_live_runtime.conversation.promotion import FieldPromotion
from gemini_live_runtime.conversation.text_model import TextModel
from gemini_live_runtime.conversation.transcript import TranscriptWindow
from gemini_live_runtime.errors import AgentError, StateError, caller_place
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.records import frozen_record, record
from gemini_live_runtime.state.functions import check_name, check_takes, function_name
from gemini_live_runtime.state.values import to_json
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.threads import call_in_thread

T = TypeVar("T")

DEFAULT_WINDOW = 3
"""Ended turns that an extractor reads, besides the open one."""

DEFAULT_DEADLINE_S = 8.0
"""Seconds after which a result is discarded."""

EXTRACTED = "temp:extracted:"
"""Prefix of the keys that hold each extractor's whole last result."""

MAX_QUOTE = 80
"""Characters that an error or a reason quotes of a model's text, sanitised."""

TriggerEvent = Literal["turn", "tool-call", "phase-change", "generation-complete"]


@frozen_record
class ExtractionTrigger:
    """Event at which an extractor runs.

    It runs at most every `every` turns, and for the tools or phases named in `only` (empty: all).
    """

    event: TriggerEvent
    every: int = 0
    only: frozenset[str] = frozenset()


EVERY_TURN = ExtractionTrigger("turn")
"""Trigger at the end of each turn."""

AFTER_TOOL_CALL = ExtractionTrigger("tool-call")
"""Trigger at the end of any tool call."""

ON_PHASE_CHANGE = ExtractionTrigger("phase-change")
"""Trigger after entering any phase."""

ON_GENERATION_COMPLETE = ExtractionTrigger("generation-complete")
"""Trigger when the model has finished generating, while it may still be heard."""


def interval(turns: int) -> ExtractionTrigger:
    """Return a trigger at the end of every `turns`-th turn."""
    if type(turns) is not int or turns < 1:
        raise AgentError(
            f"An interval is at least 1 turn, not {turns!r}",
            remedy="Give a whole number of turns",
            field="interval",
            value=turns,
        )
    return ExtractionTrigger("turn", every=turns)


def after_tool_call(*tools: str) -> ExtractionTrigger:
    """Return a trigger at the end of a call of one of these tools."""
    for name in tools:
        check_name("A tool after whose calls an extractor runs", name, field="tools")
    return ExtractionTrigger("tool-call", only=frozenset(map(exact_text, tools)))


def on_phase_change(*phases: str) -> ExtractionTrigger:
    """Return a trigger after entering one of these phases."""
    for name in phases:
        check_name("A phase after which an extractor runs", name, field="phases")
    return ExtractionTrigger("phase-change", only=frozenset(map(exact_text, phases)))


@record
class Refusal:
    """A field of a model's answer that cannot be used; "" is the whole answer."""

    field: str
    reason: str


@record
class ExtractedFields:
    """Usable fields of an answer as JSON values, and the refused ones."""

    fields: dict[str, Any]
    refused: tuple[Refusal, ...] = ()


class TurnExtractor(Protocol):
    """A reader of an object out of the last turns.

    `window` counts ended turns (the open one comes on top), `deadline_s` bounds one run. With a true attribute
    `needs_model`, the session must have a text model.
    """

    @property
    def name(self) -> str:
        """Name, unique in a session."""
        ...

    @property
    def window(self) -> int:
        """Number of ended turns to read."""
        ...

    @property
    def trigger(self) -> ExtractionTrigger:
        """Event at which it runs."""
        ...

    @property
    def promotions(self) -> Sequence[FieldPromotion]:
        """Rules by which fields become state; without any, all do."""
        ...

    @property
    def deadline_s(self) -> float:
        """Seconds that a run may take."""
        ...

    def should_extract(self, window: TranscriptWindow, /) -> bool:
        """Return True when these turns are worth a run."""
        ...

    async def extract(
        self, window: TranscriptWindow, model: TextModel | None, /
    ) -> Mapping[str, Any] | ExtractedFields:
        """Return the object that was found; may raise."""
        ...


@frozen_record
class FunctionExtractor:
    """An extractor made of a plain or async function of a window.

    It returns an object, or None for nothing. A plain function runs in a thread of its own, so it may block. `name` ""
    is the function's own. `promotions` may be a single one.
    """

    function: Callable[[TranscriptWindow], Any]
    name: str = field(default="", kw_only=True)
    window: int = field(default=DEFAULT_WINDOW, kw_only=True)
    trigger: ExtractionTrigger = field(default=EVERY_TURN, kw_only=True)
    promotions: Sequence[FieldPromotion] = field(default=(), kw_only=True)
    deadline_s: float = field(default=DEFAULT_DEADLINE_S, kw_only=True)
    defined_at: str = field(default_factory=caller_place, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise AgentError(
                f"An extractor ({self.defined_at}) cannot be {self.function!r:.60}",
                remedy="Give a function of the window",
                field="function",
                value=self.function,
            )
        check_takes(f"The extractor {function_name(self.function)} ({self.defined_at})", self.function, "(window)")
        object.__setattr__(self, "name", exact_text(self.name) or function_name(self.function))
        object.__setattr__(self, "promotions", as_promotions(self.promotions))
        check_extractor(self)

    def should_extract(self, window: TranscriptWindow, /) -> bool:
        """Return True."""
        return True

    async def extract(self, window: TranscriptWindow, model: TextModel | None, /) -> ExtractedFields:
        """Call the function and check its result."""
        if inspect.iscoroutinefunction(self.function):
            return as_extracted_fields(await self.function(window))
        with hold_time(self.deadline_s):
            thread = call_in_thread(lambda: self.function(window), "extractor")
            try:
                result = await asyncio.shield(thread)
            except asyncio.CancelledError:
                # A thread cannot be stopped. The run lasts until it ends, so that threads do not pile up.
                await asyncio.wait((thread,))
                raise
        return as_extracted_fields(await result if is_awaitable(result) else result)


ExtractorLike = TurnExtractor | Callable[[TranscriptWindow], Any]
"""An extractor, or a function of a window that is one."""


def as_extractor(value: ExtractorLike) -> TurnExtractor:
    """Return `value` as an extractor; raise `AgentError` naming missing members."""
    if callable(value) and not hasattr(value, "extract"):
        return FunctionExtractor(function=value)
    members = ("name", "window", "trigger", "promotions", "deadline_s", "should_extract", "extract")
    missing = [member for member in members if not hasattr(value, member)]
    if missing:
        kind = type(value).__name__
        raise AgentError(
            f"{kind} cannot be used as an extractor: it has no {', '.join(missing)}",
            remedy="Use LlmExtractor, FunctionExtractor, or a function of a transcript window",
            field="extractor",
            value=kind,
        )
    check_extractor(value)  # type: ignore[arg-type]
    return value  # type: ignore[return-value]


def as_promotions(value: Any) -> Any:
    """Return one promotion, or an iterable of them, as a tuple."""
    if isinstance(value, FieldPromotion):
        return (value,)
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


def check_extractor(extractor: TurnExtractor) -> None:
    """Raise `AgentError` for a setting of an extractor that cannot be used."""
    promotions: Any = extractor.promotions
    if not isinstance(promotions, list | tuple) or not all(isinstance(item, FieldPromotion) for item in promotions):
        raise AgentError(
            f"The extractor {extractor.name} has the promotions {promotions!r:.60}",
            remedy="Give a list of promotions, such as FieldPromotion.overwrite(field)",
            field="promotions",
            value=promotions,
        )
    for name, value, usable in (
        ("name", extractor.name, isinstance(extractor.name, str) and bool(extractor.name.strip())),
        ("window", extractor.window, type(extractor.window) is int and extractor.window >= 1),
        ("deadline_s", extractor.deadline_s, is_finite(extractor.deadline_s) and extractor.deadline_s > 0),
        ("trigger", extractor.trigger, isinstance(extractor.trigger, ExtractionTrigger)),
    ):
        if not usable:
            raise AgentError(
                f"The extractor {extractor.name} has the {name} {value!r:.60}",
                remedy="Give it a name, a window of 1 turn or more, a deadline above 0 s and a trigger like EVERY_TURN",
                field=name,
                value=value,
            )


def as_extracted_fields(result: Any) -> ExtractedFields:
    """Return an extractor's result, with the fields that are not JSON refused.

    Raises `TypeError` when it is no object.
    """
    if isinstance(result, ExtractedFields):
        fields: Mapping[Any, Any] = result.fields
        refused = list(result.refused)
    else:
        dump = getattr(result, "model_dump", None)
        fields, refused = dump(mode="json") if dump is not None else {} if result is None else result, []
    if not isinstance(fields, Mapping):
        raise TypeError(f"it returned {type(result).__name__}, not an object")
    usable = {}
    for field_name, value in fields.items():
        name = str(exact_text(field_name))
        try:
            usable[name] = to_json(name, value)
        except StateError as error:
            refused.append(Refusal(name[:MAX_QUOTE], sanitise_line(str(error), MAX_QUOTE)))
    return ExtractedFields(usable, tuple(refused))


@record
class ExtractionRequest:
    """A request to run an extractor.

    `of_turn` and `window` are those at the time of the request. `merged` earlier requests found the extractor running
    and are answered by this one.
    """

    extractor: TurnExtractor
    event: TriggerEvent
    of_turn: int
    window: TranscriptWindow
    merged: int = 0


class ExtractionSchedule:
    """Schedule of a session's extractors, each running once at a time.

    `since` is the turn that intervals count from. Raises `AgentError` for two extractors of one name.
    """

    def __init__(self, extractors: Iterable[ExtractorLike] = (), *, since: int = 0) -> None:
        self.extractors: dict[str, TurnExtractor] = {}
        for extractor in map(as_extractor, extractors):
            other = self.extractors.setdefault(extractor.name, extractor)
            if other is not extractor:
                raise AgentError(
                    f"Two extractors are named {extractor.name}{_places(other, extractor)}",
                    remedy="Give one of them another name",
                    field="name",
                    value=extractor.name,
                )
        self._last: dict[str, int] = dict.fromkeys(self.extractors, since)
        self._running: set[str] = set()
        self._waiting: dict[str, ExtractionRequest] = {}

    def due(self, event: TriggerEvent, turn_number: int, *, tool: str = "", phase: str = "") -> list[TurnExtractor]:
        """Return the extractors to run at an event, in the order of definition.

        `turn_number` counts the turns that are complete. An interval begins anew with each result of this method, also
        when the run fails.
        """
        named = {"tool-call": tool, "phase-change": phase}.get(event, "")
        due = []
        for name, extractor in self.extractors.items():
            trigger = extractor.trigger
            if trigger.event != event or (trigger.only and named not in trigger.only):
                continue
            if trigger.every:
                if turn_number - self._last[name] < trigger.every:
                    continue
                self._last[name] = turn_number
            due.append(extractor)
        return due

    def start_or_queue(self, request: ExtractionRequest) -> bool:
        """Return True to start this run now; else queue it in place of an earlier one."""
        name = request.extractor.name
        if name not in self._running:
            self._running.add(name)
            return True
        waiting = self._waiting.get(name)
        merged = 0 if waiting is None else waiting.merged + 1
        self._waiting[name] = replace(request, merged=merged)
        return False

    def finish(self, name: str) -> ExtractionRequest | None:
        """Record the end of an extractor's run; return the request to run now, or None."""
        following = self._waiting.pop(name, None)
        # With a request waiting the extractor stays marked as running: the caller starts it at once.
        if following is None:
            self._running.discard(name)
        return following

    def continue_from(self, other: ExtractionSchedule) -> None:
        """Take over the running extractors and the intervals of another schedule."""
        self._running = set(other._running)
        self._last.update((name, turn) for name, turn in other._last.items() if name in self._last)

    def drop_waiting(self) -> None:
        """Drop every request that has not started."""
        self._waiting.clear()

    @property
    def running(self) -> frozenset[str]:
        """Names of the extractors that run."""
        return frozenset(self._running)


def _places(*extractors: TurnExtractor) -> str:
    places = [place for extractor in extractors if (place := getattr(extractor, "defined_at", ""))]
    return f" ({' and '.join(places)})" if places else ""
