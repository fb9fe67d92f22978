"""Agents that fail in one place, for every kind of function of their author."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from inspect import isawaitable, iscoroutinefunction
from typing import Any, NamedTuple

from pydantic import BaseModel
from tests.session.talking import Talk, agent, two_phases

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    LlmExtractor,
    MemoryPersistence,
    PatternDetector,
    Phase,
    PhasePreparation,
    ReactorRule,
    State,
    TemporalEvent,
    TemporalPattern,
    ToolContext,
    TranscriptWindow,
    Transition,
    TurnCountDetector,
    Watcher,
    WatchPredicate,
    key,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.definition.callbacks import CALLBACKS
from gemini_live_runtime.tools.background import DefaultResultFormatter
from gemini_live_runtime.wire.audio_frame import encode_model_audio

Fails = Callable[..., Any]
"""Function of any arguments that raises: async, or a plain one."""

TURNS = "session:turn_count"
LATER = key(TURNS) >= 1


class FailingPlace(NamedTuple):
    """Kind of author's code: `make` returns an agent that calls a function there."""

    name: str
    make: Callable[[Fails], Live]
    is_async: bool = False


class Store(MemoryPersistence):
    """Store with methods of an author's."""

    def __init__(self, **methods: Fails) -> None:
        super().__init__()
        vars(self).update(methods)


class Worded(DefaultResultFormatter):
    """Formatter with methods of an author's."""

    def __init__(self, **methods: Fails) -> None:
        vars(self).update(methods)


class Model:
    """Text model that asks an author's function."""

    def __init__(self, fails: Fails) -> None:
        self._fails = fails

    async def generate(self, request: Any, /) -> str:
        """Ask it."""
        return str(await asked(self._fails, request))


class Found(BaseModel):
    """Answer of a text model."""

    mood: str


class Detector(PatternDetector):
    """Detector with methods of an author's, which otherwise finds nothing."""

    def __init__(self, **methods: Fails) -> None:
        vars(self).update(methods)

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        """Find nothing."""
        return False

    def reset(self) -> None:
        """Do nothing."""


class Extractor(FunctionExtractor):
    """Extractor whose wish to run is an author's."""

    def __init__(self, wishes: Fails) -> None:
        super().__init__(lambda window: {}, name="e")
        object.__setattr__(self, "wishes", wishes)

    def should_extract(self, window: TranscriptWindow, /) -> bool:
        """Ask it."""
        return bool(self.wishes(window))  # type: ignore[attr-defined]


async def asked(function: Fails, *args: Any) -> Any:
    """Call a plain or async function."""
    result = function(*args)
    return await result if isawaitable(result) else result


async def done() -> str:
    """Take a second."""
    await asyncio.sleep(1)
    return "done"


def reads_once(window: TranscriptWindow) -> dict[str, Any]:
    """Find a mood in the first turn, and fail in a later one."""
    if "again" in window.last_user:
        raise RuntimeError
    return {"mood": "glad"}


def with_tool(fails: Fails, **options: Any) -> Live:
    """Return an agent with a tool that is the function."""

    async def run_later() -> Any:
        return await fails()

    def run() -> Any:
        return fails()

    function = run_later if iscoroutinefunction(fails) else run
    return agent().tools(tool(name="work", description="Work.", **options)(function))


def with_worker(fails: Fails) -> Live:
    """Return an agent whose tool starts a background agent."""

    class Worker:
        async def run(self, state: State) -> str:
            return str(await asked(fails, state))

    @tool
    def work(context: ToolContext, state: State) -> str:
        """Work."""
        assert context.agents is not None
        context.agents.dispatch("worker", Worker(), state)
        return "begun"

    return agent().tools(work)


def with_condition(fails: Fails) -> Live:
    """Return an agent with a condition of a promotion."""
    found = FieldPromotion.overwrite("a").when(lambda value, state: fails())
    return agent().extract(FunctionExtractor(lambda window: {"a": 1}, name="e", promotions=[found]))


def with_listener(callback: str, **mode: Any) -> Callable[[Fails], Live]:
    """Return a maker of agents that listen to `callback`."""
    reads = FunctionExtractor(reads_once, name="e")
    return lambda fails: with_tool(done).extract(reads).on(callback, fails, **mode)


def in_first_phase(**hooks: Any) -> Live:
    """Return an agent with hooks in the phase in which it begins."""
    return agent().phase(Phase("first", hooks.pop("instruction", "One."), terminal=True, **hooks))


def in_later_phase(**hooks: Any) -> Live:
    """Return an agent with hooks in the phase that comes after a turn."""
    return agent().phase(*two_phases(LATER, **hooks))


def pattern(detector: PatternDetector, then: Fails = lambda: None, **options: Any) -> Live:
    """Return an agent with a pattern."""
    return agent().pattern(TemporalPattern("p", detector, then, **options))


PLAIN: dict[str, Callable[[Fails], Live]] = {
    "a guard": lambda f: agent().phase(*two_phases(lambda s: f())),
    "a guard of a phase": lambda f: in_later_phase(guard=lambda s: f()),
    "an instruction": lambda f: in_first_phase(instruction=lambda s: f()),
    "a modifier": lambda f: agent().in_every_phase(InstructionModifier.custom(lambda s: f())),
    "a guard of a modifier": lambda f: agent().in_every_phase(InstructionModifier.when(lambda s: f(), "Often.")),
    "a format": lambda f: agent().in_every_phase(ContextBuilder().format(TURNS, lambda v: f()).as_modifier()),
    "a computed value": lambda f: agent().computed(ComputedVar("c", lambda s: f(), depends_on=TURNS)),
    "a computed guard": lambda f: agent().computed(ComputedVar("c", key(TURNS).is_set() & f, depends_on=TURNS)),
    "a rule": lambda f: agent().rule(ReactorRule("r", lambda e, v, s: f())),
    "a watched guard": lambda f: agent().watch(Watcher(WatchPredicate.became_true(lambda s: f()), lambda s: None)),
    "a test of a change": lambda f: agent().watch(Watcher(WatchPredicate.custom(TURNS, f), lambda s: None)),
    "a guard of a pattern": lambda f: pattern(TurnCountDetector(lambda s: f(), 2)),
    "a detector": lambda f: pattern(Detector(observe=f)),
    "a detector's deadline": lambda f: pattern(Detector(deadline=f)),
    "a detector's progress": lambda f: pattern(Detector(progress=f)),
    "an extractor's wish": lambda f: agent().extract(Extractor(f)),
    "a condition": with_condition,
    "words of a running call": lambda f: with_tool(done, background=True, formatter=Worded(format_running=f)),
    "words of a cancelled call": lambda f: with_tool(done, background=True, formatter=Worded(format_cancelled=f)),
    "words of a result": lambda f: with_tool(done, background=True, formatter=Worded(format_result=f)),
}
"""Code that is never async."""

EITHER: dict[str, Callable[[Fails], Live]] = {
    "on_enter of the first phase": lambda f: in_first_phase(on_enter=f),
    "on_enter_context of the first phase": lambda f: in_first_phase(on_enter_context=f),
    "on_enter": lambda f: in_later_phase(on_enter=f),
    "on_enter_context": lambda f: in_later_phase(on_enter_context=f),
    "on_exit": lambda f: agent().phase(
        Phase("first", "One.", on_exit=f, transitions=Transition("second", LATER)), two_phases()[1]
    ),
    "a preparation": lambda f: in_later_phase(requires="app:x", preparations=PhasePreparation("p", f, "app:x")),
    "a watcher": lambda f: agent().watch(Watcher(WatchPredicate.changed(TURNS), f)),
    "a blocking watcher": lambda f: agent().watch(Watcher(WatchPredicate.changed(TURNS), f, blocking=True)),
    "a pattern": lambda f: pattern(TurnCountDetector(LATER, 1), f),
    "a blocking pattern": lambda f: pattern(TurnCountDetector(LATER, 1), f, blocking=True),
    "an extractor": lambda f: agent().extract(FunctionExtractor(f, name="e")),
    "a text model": lambda f: agent().text_model(Model(f)).extract(LlmExtractor(Found)),
    "a tool": with_tool,
    "a tool beside the talk": lambda f: with_tool(f, blocking=False),
    "a tool in the background": lambda f: with_tool(f, background=True),
    "a background agent": with_worker,
    "a store that loads": lambda f: agent().persistence(Store(load=f), "x"),
    "a store that saves": lambda f: agent().persistence(Store(save=f), "x"),
}
"""Code that may be async."""

for name, spec in CALLBACKS.items():
    (PLAIN if spec.lane == "fast" else EITHER)[name] = with_listener(name)
    if spec.lane == "control" and not spec.answers:
        EITHER[f"{name}, concurrent"] = with_listener(name, concurrent=True)


def places() -> Iterator[FailingPlace]:
    """Yield every place, those for async functions too."""
    for name, make in (*PLAIN.items(), *EITHER.items()):
        yield FailingPlace(name, make)
    for name, make in EITHER.items():
        yield FailingPlace(f"async {name}", make, is_async=True)


async def goes_everywhere(t: Talk) -> None:
    """Let the session call all of its author's code, over two connections."""
    await t.server.says(sessionResumptionUpdate={"newHandle": "h-1", "resumable": True})
    await t.voice(True)
    await t.hears("hello")
    await t.voice(False)
    parts = [{"text": "Hm.", "thought": True}, {"text": "Good day."}]
    await t.server.says(serverContent={"modelTurn": {"parts": parts}}, usageMetadata={"totalTokenCount": 7})
    await t.server.sends(encode_model_audio(bytes(2400)))
    await t.says("Good day.")
    await t.ends()
    await t.calls("work")
    await t.passes(1.1)
    await t.calls("work")
    await t.server.says(toolCallCancellation={"ids": ["c2"]})
    await t.says("Well, you see")
    await t.server.says(serverContent={"interrupted": True})
    await t.ends()
    t.stage.agent.emit(ev.Notice(level="error", code="mine", text="Broken."))
    await t.server.says(goAway={"timeLeft": "60s"})
    await t.connects_again()
    await t.turn("again")
