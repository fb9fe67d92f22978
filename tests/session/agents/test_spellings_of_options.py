"""Options are texts in any case, or members of an enumeration."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    Agent,
    ContextDelivery,
    EffectMode,
    EffectPolicy,
    FieldPromotion,
    Live,
    MergePolicy,
    NewNotification,
    NotificationKind,
    SendContext,
    ServerDetection,
    SpeechPriority,
    SteeringMode,
    ToolExecutionMode,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError, HarnessError
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.definition.callbacks import CallbackMode, EventCallbacks
from gemini_live_runtime.tools.consent import check_policies
from gemini_live_runtime.tools.kinds import ToolKind
from gemini_live_runtime.tools.registry import provided


class Word(Enum):
    """Enumeration of a program, whose values are options."""

    ASK = "ask"
    MONEY = "money"
    AGAIN = "again"
    NONE = "none"
    USER = "user"
    CLIENT = "client"
    KEEP_KNOWN = "keep_known"
    HIGH = "high"
    DEFERRED = "deferred"
    WHEN_IDLE = "when_idle"
    AT_ONCE = "CONCURRENT"


class TurnDetection(Enum):
    """Enumeration of a program for who finds the turns."""

    CLIENT = "client"


def ping() -> None:
    """Ping."""


class Pings:
    """Provider of a tool."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def tools(self) -> list[Any]:
        return [ping]


OPTIONS: dict[str, tuple[Callable[[Any], Any], tuple[Any, ...], Any]] = {
    "consent": (lambda value: tool(consent=value)(ping).consent, ("ASK", Word.ASK), "ask"),
    "policy": (lambda value: check_policies({"pay": value})["pay"], ("Ask", Word.ASK), "ask"),
    "risk": (lambda value: tool(risk=value)(ping).risk, ("Money", Word.MONEY), "money"),
    "restart": (lambda value: tool(spillable=True, restart=value)(ping).restart, ("Again", Word.AGAIN), "again"),
    "role": (lambda value: SendContext(("a",), role=value).role, ("USER", Word.USER), "user"),
    "mode": (
        lambda value: EventCallbacks().add("on_error", lambda text: None, mode=value).of("on_error")[0].mode,
        ("Concurrent", "CONCURRENT"),
        CallbackMode.CONCURRENT,
    ),
    "interruptions by": (
        lambda value: (
            Agent(name="a", instructions="A.", interruptions_by=value).plan().definition.turn_rules.interruptions_by
        ),
        ("Client", Word.CLIENT),
        "client",
    ),
    "merge": (
        lambda value: FieldPromotion("name", merge=value).merge,
        ("keep known", "Keep-Known", "KEEP_KNOWN", Word.KEEP_KNOWN),
        MergePolicy.KEEP_KNOWN,
    ),
    "detection": (
        lambda value: (
            Agent(name="a", instructions="A.", server_detection=ServerDetection(start_sensitivity=value))
            .plan()
            .definition.server_detection.start_sensitivity
        ),
        ("High", Word.HIGH),
        "high",
    ),
    "delivery": (
        lambda value: Live.builder("a").instruction("A.").steering("hybrid", value).plan().definition.context_delivery,
        ("Deferred", Word.DEFERRED),
        ContextDelivery.DEFERRED,
    ),
    "scheduling": (
        lambda value: tool(background=True, scheduling=value)(ping).mode.scheduling,
        ("when-idle", Word.WHEN_IDLE),
        "WHEN_IDLE",
    ),
    "effect": (
        lambda value: EffectPolicy(mode=value).mode,
        ("Concurrent", Word.AT_ONCE),
        EffectMode.CONCURRENT,
    ),
    "kind": (lambda value: provided(Pings(value))[0].kind, ("built_in", "Built-In"), ToolKind.BUILT_IN),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_a_part_is_a_text_in_any_case_or_a_member(option: str) -> None:
    use, spellings, wanted = OPTIONS[option]
    apart = [f" {spelling.replace('-', ' ').replace('_', ' ')} " for spelling in spellings if isinstance(spelling, str)]
    for spelling in (*spellings, *apart):
        assert use(spelling) is wanted or use(spelling) == wanted
    with pytest.raises(AgentError, match=r"(?i)soon"):
        use("soon")
    with pytest.raises(AgentError, match="5"):
        use(5)


@pytest.mark.parametrize(
    "spelling", ["context_injection", "Context-Injection", "context injection", " CONTEXT INJECTION"]
)
def test_words_of_an_option_may_be_apart_by_spaces_dashes_or_underscores(spelling: str) -> None:
    planned = Live.builder("a").instruction("A.").steering(spelling).plan()
    assert planned.definition.steering is SteeringMode.CONTEXT_INJECTION


@pytest.mark.parametrize("option", ["delivery", "scheduling", "merge"])
def test_an_empty_text_is_no_option(option: str) -> None:
    with pytest.raises(AgentError, match=r"cannot be|Unknown|merged"):
        OPTIONS[option][0]("")


@pytest.mark.parametrize("name", [None, 5, "on_eror"])
def test_a_callback_that_there_is_not_is_refused_whatever_names_it(name: Any) -> None:
    with pytest.raises(AgentError, match=f"Unknown callback {name}"):
        agent().on(name, print)


async def test_options_of_a_running_session_are_texts_in_any_case_or_members() -> None:
    async with talk(agent().turn_taking("client")) as t:
        session = t.stage.session.agent_session
        given: Any = "None"
        assert session.generate_reply(priority="high", tool_choice=given).priority == SpeechPriority.HIGH
        found = []
        for given in ("MANUAL", "Client", "Push_To_Talk", TurnDetection.CLIENT):
            await t.handle.update_options(turn_detection=given)
            found.append(session.options["turn_detection"])
        assert found == ["manual", "client", "manual", "client"]
        given = "soon"
        for wrong in (
            lambda: session.generate_reply(priority="soon"),
            lambda: session.generate_reply(tool_choice=given),
            lambda: session.update_agent(agent(), chat=given),
        ):
            with pytest.raises(GeminiLiveError, match="soon"):
                wrong()


async def test_a_new_agents_view_of_the_talk_is_a_text_in_any_case() -> None:
    async with talk(agent()) as t:
        given: Any = "Fresh"
        t.stage.session.agent_session.update_agent(Live.builder("other").instruction("Be kind."), chat=given)
        await t.rests()
        assert [event.chat for event in t.all(ev.AgentHandedOff)] == ["fresh"]


async def test_records_are_found_by_a_status_in_any_case(tmp_path: Path) -> None:
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        given: Any = "Running"
        assert (await t.handle.harness.tasks(given)).records == []
        given = "soon"
        with pytest.raises(HarnessError, match="status cannot be 'soon'"):
            await t.handle.harness.tasks(given)
        kind: Any = "TaskFailed"
        queued = await t.handle.harness.notify(NewNotification(title="It failed.", kind=kind))
        assert queued.kind is NotificationKind.TASK_FAILED
        with pytest.raises(HarnessError, match="kind cannot be 'soon'"):
            await t.handle.harness.notify(NewNotification(title="It failed.", kind=given))


# -- warnings and options ----------------------------------------------------------------------------------------------


class Taking(Enum):
    """Options that a program keeps in an enumeration of its own."""

    CLIENT = "client"
    RECONNECT = "reconnect"


@pytest.mark.parametrize(
    ("by_text", "by_member"),
    [
        (agent().steering("hybrid"), agent().steering(SteeringMode.HYBRID)),
        (agent().steering("CONTEXT-INJECTION"), agent().steering(SteeringMode.CONTEXT_INJECTION)),
        (agent().steering("hybrid", "deferred"), agent().steering(SteeringMode.HYBRID, ContextDelivery.DEFERRED)),
        (agent().turn_taking("client"), agent().turn_taking(Taking.CLIENT)),
        (agent().instruction_route("reconnect"), agent().instruction_route(Taking.RECONNECT)),
        (agent().turn_taking("Push_To_Talk"), agent().turn_taking("push-to-talk")),  # type: ignore[arg-type]
        (agent().instruction_route("CONTEXT-UPDATE"), agent().instruction_route("context_update")),  # type: ignore[arg-type]
    ],
)
def test_an_option_is_a_text_or_a_member(by_text: Live, by_member: Live) -> None:
    for name in ("steering", "context_delivery", "turn_taking", "instruction_route"):
        assert getattr(by_text.plan().definition, name) is getattr(by_member.plan().definition, name)


def test_options_of_parts_are_texts_or_members_too() -> None:
    assert EffectPolicy("Blocking") == EffectPolicy(EffectMode.BLOCKING)  # type: ignore[arg-type]
    assert FieldPromotion("name", merge="keep_known").merge is MergePolicy.KEEP_KNOWN  # type: ignore[arg-type]
    assert ToolExecutionMode.background(scheduling="when-idle").scheduling == "WHEN_IDLE"  # type: ignore[arg-type]
    for wrong in (
        lambda: EffectPolicy("soon"),  # type: ignore[arg-type]
        lambda: FieldPromotion("name", merge="soon"),  # type: ignore[arg-type]
        lambda: ToolExecutionMode.background(scheduling="soon"),  # type: ignore[arg-type]
    ):
        with pytest.raises(AgentError, match=r"(?i)soon"):
            wrong()


def test_a_text_that_is_no_option_is_refused_with_those_there_are() -> None:
    with pytest.raises(AgentError, match=r"HYBRID"):
        agent().steering("hybird").plan()


def test_the_kind_of_a_tool_is_taken_in_any_case() -> None:
    assert ToolExecutionMode("Background", "silent").is_background  # type: ignore[arg-type]
