"""Define the simulated agent: parts of all kinds, often slow, failing or stubborn.

Its functions use the world that runs (`CURRENT`), so that its plans are made once. Faults of this agent say that they
are intended; any other fault in a session is a finding.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable
from dataclasses import replace
from functools import cache
from typing import Any

from tests.simulation.agent_tools import (
    ON_PURPOSE,
    TOOLS,
    Current,
    add,
    broken,
    log,
    mood,
    never,
    note,
    pay,
    search,
    stubborn,
    ticket,
)
from tests.simulation.other_agents import DESK, ask, transfer

from gemini_live_runtime import events as ev
from gemini_live_runtime.api import Live
from gemini_live_runtime.conversation.extraction import ExtractionTrigger, FunctionExtractor
from gemini_live_runtime.conversation.phases import Phase, PhasePreparation, Transition
from gemini_live_runtime.conversation.promotion import FieldPromotion
from gemini_live_runtime.conversation.steering import ContextDelivery, SteeringMode
from gemini_live_runtime.conversation.transcript import TranscriptWindow
from gemini_live_runtime.errors import StateError
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.persistence.stores import MemoryPersistence
from gemini_live_runtime.session.rules.effects import LiveEffect, SendContext
from gemini_live_runtime.session.rules.reactor import Live as LiveEvent
from gemini_live_runtime.session.rules.reactor import ReactorEvent, ReactorRule, VoiceRuntimeState
from gemini_live_runtime.state.computed import ComputedVar
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.temporal import (
    ConsecutiveFailureDetector,
    RateDetector,
    SustainedDetector,
    TemporalPattern,
    TurnCountDetector,
)
from gemini_live_runtime.state.terms import called_ok, key
from gemini_live_runtime.state.watchers import Change, Watcher

# -- phases ----------------------------------------------------------------------------------------------------------


def _leave_help(state: State) -> Awaitable[None]:
    # Noted where it is called: what is awaited begins a little later.
    Current.timeline.note("leaving", phase="help")
    return mood()


async def _enter_help(state: State) -> None:
    state.set("app:helped", True)
    await mood()


async def _enter_order(state: State) -> None:
    await mood()
    state.modify("app:orders", 0, lambda orders: orders + 1)


async def _total(state: State) -> None:
    await mood()
    state.set("app:total", state.get("app:items", 0) * 10)


async def _what_was_said(state: State, window: TranscriptWindow) -> str | None:
    await mood()
    return f"So far: {len(window)} turns" if len(window) else None


def _order_text(state: State) -> str:
    # Code that decides may only read; a session in which it could write would never come to rest.
    with contextlib.suppress(StateError):
        state.modify("app:written_by_instruction", 0, lambda count: count + 1)
    return f"Take the order. There are {state.get('app:items', 0)} items so far."


PHASES = (
    Phase(
        "greet",
        "Ask for the name.",
        needs="user:name",
        transitions=(
            Transition("help", key("app:anger") > 0.7, because="the caller is angry"),
            Transition("order", key("user:name").is_set(), because="the name is known"),
        ),
    ),
    Phase(
        "help",
        "Calm the caller down.",
        tools=(note, search, ticket, log, broken, never, stubborn, ask, transfer),
        on_enter=_enter_help,
        on_exit=_leave_help,
        on_enter_context="The caller was angry.",
        prompt_on_enter=True,
        transitions=Transition("greet", ~(key("app:anger") > 0.3), because="the caller is calm"),
    ),
    Phase(
        "order",
        _order_text,
        guard=~key("app:closed").is_true(),
        needs=("app:items",),
        on_enter=_enter_order,
        on_enter_context=_what_was_said,
        transitions=(
            Transition("help", key("app:anger") > 0.7, because="the caller is angry"),
            Transition("pay", key("derived:enough").is_true(), because="there are enough items"),
        ),
    ),
    Phase(
        "pay",
        "Take the money.",
        tools=(pay, add, ticket, log, never),
        requires=("app:total",),
        preparations=PhasePreparation("total", _total, "app:total"),
        presents="price",
        clear_on_enter="app:reopen",
        prompt_on_enter="Ask for the card.",
        transitions=(
            Transition("done", called_ok("pay"), because="it is paid"),
            Transition("order", key("app:reopen").is_true(), because="something is missing"),
        ),
    ),
    Phase("done", "Say goodbye.", tools=(log,), terminal=True, prompt_on_enter=True),
)


# -- what notices ----------------------------------------------------------------------------------------------------


def _alarm(state: State, change: Change) -> None:
    state.modify("app:alarms", 0, lambda count: count + 1)


async def _noted_items(state: State, change: Change) -> None:
    await asyncio.sleep(0.3)
    state.set("app:seen_items", change.new)


async def _moody_watcher(state: State) -> None:
    await mood()
    if Current.chance.random() < 0.3:
        state.set("app:closed", False)


def _failing_action() -> None:
    raise RuntimeError(ON_PURPOSE)


WATCHERS = (
    Watcher(key("app:anger").crossed_above(0.7), _alarm, name="alarm", blocking=True),
    Watcher(key("app:items").changed(), _noted_items, name="items"),
    Watcher(key("app:closed").changed_to(True), _moody_watcher, name="closed", blocking=True),
    Watcher((key("app:items") >= 2).became_true(), _failing_action, name="failing"),
)


def _escalated(state: State) -> None:
    state.set("app:escalated", True)


async def _impatient(state: State) -> None:
    await mood()
    state.modify("app:impatience", 0, lambda count: count + 1)


PATTERNS = (
    TemporalPattern("angry for long", SustainedDetector(key("app:anger") > 0.5, 5.0), _escalated),
    TemporalPattern("many cuts", RateDetector("turn.interrupted", 2, 10.0), _impatient, cooldown_s=5.0, blocking=True),
    TemporalPattern("nameless", TurnCountDetector(~key("user:name").is_set(), 2), _impatient),
    TemporalPattern("tool fails", ConsecutiveFailureDetector("broken", 2), _failing_action),
)

COMPUTED = (
    ComputedVar("price", lambda state: state.get("app:items", 0) * 10, depends_on="app:items"),
    ComputedVar("enough", (key("app:items") >= 2) & (key("derived:price") < 1000)),
)


async def read_mood(window: TranscriptWindow) -> dict[str, Any]:
    """Extract the mood and the caller's name from the last words."""
    said = window.last_user
    if "garble" in said:
        raise ValueError(ON_PURPOSE)
    if "slowly" in said:
        await asyncio.sleep(Current.chance.choice((0.2, 0.6, 1.0, 3.0)))
    found: dict[str, Any] = {}
    if "angry" in said:
        found["anger"] = 0.9
    if "calm" in said:
        found["anger"] = 0.1
    if "name" in said:
        found["name"] = said.rsplit("name", 1)[-1].split()[0] if said.rsplit("name", 1)[-1].split() else ""
    return found


async def read_consent(window: TranscriptWindow) -> dict[str, Any]:
    """Extract consent from the last words, often after the conversation has gone on."""
    agreed = "agreed" in window.last_user
    await asyncio.sleep(Current.chance.choice((0.0, 0.3, 1.5, 4.0)) if agreed else 0.0)
    return {"agreed": True} if agreed else {}


async def count_answers(window: TranscriptWindow) -> dict[str, Any]:
    """Count the turns of the window in which the model has spoken."""
    await asyncio.sleep(0)
    return {"answers": sum(1 for turn in window.turns if turn.model)}


async def after_tools(window: TranscriptWindow) -> dict[str, Any]:
    """Return nothing, or fail."""
    await mood()
    return {}


EXTRACTORS = (
    FunctionExtractor(
        function=read_mood,
        deadline_s=2.0,
        promotions=(FieldPromotion.overwrite("anger"), FieldPromotion.non_empty("name").to("user:name")),
    ),
    FunctionExtractor(
        function=read_consent,
        deadline_s=5.0,
        promotions=(FieldPromotion.true_only("agreed").after_presented("price"),),
    ),
    FunctionExtractor(
        function=count_answers,
        trigger=ExtractionTrigger("generation-complete"),
        promotions=(FieldPromotion.overwrite("answers").to("temp:answers"),),
    ),
    FunctionExtractor(function=after_tools, trigger=ExtractionTrigger("tool-call")),
)


# -- who listens -----------------------------------------------------------------------------------------------------


async def _listener(*args: Any) -> None:
    await mood()


async def _zero() -> None:
    await mood()


async def _boundary(state: State, writer: Any) -> None:
    if Current.chance.random() < 0.2:
        writer.send_context(["A turn is over."])
    await mood()


async def _override(calls: Any, state: State) -> dict[str, Any] | None:
    await mood()
    answered = {call.id: {"given": True} for call in calls if call.args.get("name") == "override"}
    return answered or None


async def _answers(responses: Any, state: State) -> Any:
    await mood()
    dice = Current.chance.random()
    if dice < 0.05:
        return []
    for response in responses:
        response.response["seen"] = True
    return responses


def _words(text: str, final: bool) -> None:
    if Current.chance.random() < Current.faulty / 2:
        raise RuntimeError(ON_PURPOSE)


async def _amendment(state: State) -> str | None:
    if Current.chance.random() < Current.faulty / 4:
        raise RuntimeError(ON_PURPOSE)
    return "Be quick." if state.get("app:anger", 0) > 0.5 else None


def _sorry(event: ReactorEvent, voice: VoiceRuntimeState, state: State) -> list[LiveEffect] | None:
    if isinstance(event, LiveEvent) and isinstance(event.event, ev.TurnInterrupted) and event.event.by == "operator":
        return [SendContext(("The operator interrupted.",), "sorry")]
    return None


async def _concurrent() -> None:
    await asyncio.sleep(0.4)
    await mood()


async def _enter() -> None:
    Current.timeline.note("entered", agent="simulated")
    await mood()


async def _leave() -> None:
    Current.timeline.note("left", agent="simulated")
    await mood()


@cache
def _base() -> Live:
    live = (
        Live.builder("simulated")
        .instruction("You are in a simulation.")
        .tools(*TOOLS, ask, transfer)
        .on_enter(_enter)
        .on_exit(_leave)
        .hands_over_to(DESK)
        .phase(*PHASES)
        .computed(*COMPUTED)
        .watch(*WATCHERS)
        .pattern(*PATTERNS)
        .extract(*EXTRACTORS)
        .rule(ReactorRule("sorry", _sorry))
        .repair(2, 4)
        .on("tool_call", _override)
        .on("before_tool_response", _answers)
        .on("turn_boundary", _boundary)
        .on("interrupted", _concurrent, concurrent=True)
        .on("input_transcript", _words)
        .on("output_transcript", _words)
        .on("instruction_amendment", _amendment)
    )
    for name in ("turn_complete", "connected", "disconnected", "go_away", "tool_cancelled", "error"):
        live = live.on(name, _listener)
    for name in ("generation_complete", "interrupted", "resumed", "teardown"):
        live = live.on(name, _zero)
    return live.on("extracted", lambda name, value: _listener()).on("extraction_error", lambda name, text: _listener())


MODELS = ("gemini-3.8-live", "gemini-2.5-flash-live", "gemini-3.1-flash-live")


@cache
def variant(
    model: str, steering: SteeringMode, deferred: bool, greeting: bool, soft: bool, turns: str
) -> tuple[Live, SessionPlan]:
    """Return a variant of the agent, and its plan."""
    live = _base().model(model).steering(steering, ContextDelivery.DEFERRED if deferred else ContextDelivery.IMMEDIATE)
    if greeting:
        live = live.greeting("Greet the caller.")
    if turns == "manual":
        live = live.turn_taking("manual")
    elif turns == "client":
        live = live.turn_taking("client", "responsive").interruptions("client")
    elif soft:
        live = live.soft_turns(2.0)
    return live, live.plan()


def choose_plan(chance: random.Random, *, reconnects: bool) -> SessionPlan:
    """Choose a variant of the agent, with or without persistence.

    `reconnects` is for a model that takes instructions only with a new connection.
    """
    Current.first, plan = variant(
        MODELS[-1] if reconnects else chance.choice(MODELS),
        SteeringMode.INSTRUCTION_UPDATE if reconnects else chance.choice(list(SteeringMode)),
        chance.random() < 0.3,
        chance.random() < 0.3,
        chance.random() < 0.3,
        chance.choices(("auto", "manual", "client"), (0.65, 0.15, 0.2))[0],
    )
    if chance.random() < 0.3:
        definition = replace(plan.definition, persistence=MemoryPersistence(), telemetry_s=5.0)
        plan = replace(plan, definition=definition)
    return plan
