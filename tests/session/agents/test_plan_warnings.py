"""Needs, names and tools that are doubtful are warnings, told by their places."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    BackgroundAgentDispatcher,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    Phase,
    RateDetector,
    State,
    StateKey,
    TemporalPattern,
    ToolContext,
    Transition,
    TurnCountDetector,
    Watcher,
    called_ok,
    key,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.assemble import make_session
from gemini_live_runtime.engine.in_process import in_process
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.state.terms import Term


def ping() -> None:
    """Ping."""


END = Phase("end", "End.", terminal=True)
TO_END = Transition("end", called_ok("ping"))


def remember(name: str, value: str, context: ToolContext) -> str:
    """Remember a value.

    Args:
        name: Its name.
        value: The value.
    """
    context.state.scope("a" + "pp").set(name, value)
    return "ok"


def by_joining(name: str, state: State) -> None:
    """Remember a name."""
    state.set(":".join(["app", name]), "1")


def by_formatting(name: str, state: State) -> None:
    """Remember a name."""
    state.set("app:the_%s" % name, name.upper() if name else "")  # noqa: UP031


def by_replacing(name: str, state: State) -> None:
    """Remember a name."""
    state.modify("app-NAME".replace("-NAME", name), "", str)


def asking(*tools: Any) -> Live:
    return agent().tools(*tools).phase(Phase("a", "A.", needs="app:room", transitions=TO_END), END)


KEYS = {"room": "app:room"}


class Names(StrEnum):
    ROOM = "app:room"


class Desk:
    ROOM = StateKey("app:room", str)

    def book(self, state: State) -> str:
        """Book a room."""
        return self._book(state)

    def _book(self, state: State) -> str:
        state.set("app:room", "1")
        return "ok"

    async def run(self, state: State) -> str:
        return self._book(state)


class Clerk:
    def __call__(self, state: State) -> str:
        """Book a room."""
        state.set("app:room", "1")
        return "ok"


DESK = Desk()
HELPERS = ModuleType("helpers")
OF_NO_MODULE = FunctionType((lambda state: state.set("app:room", "1")).__code__, {})
exec("def book(state):\n    state.set('app:room', '1')", HELPERS.__dict__)


def from_a_table(state: State) -> None:
    state.modify(KEYS["room"], "", str)


def from_a_call(state: State) -> None:
    state.set(str(KEYS), value="1")


def from_an_enumeration(state: State) -> None:
    state.set(Names.ROOM, "1")


def from_a_class(state: State) -> None:
    state.set(Desk.ROOM, "1")


def by_keyword(state: State) -> None:
    state.set(key=KEYS["room"], value="1")


def by_another_name(state: State) -> None:
    getattr(state, "".join(["s", "et"]))("".join(["app:", "room"]), "1")


def by_a_helper_module(state: State) -> None:
    HELPERS.book(state)


def by_an_object(state: State) -> None:
    DESK.book(state)


def by_a_function_of_no_module(state: State) -> None:
    OF_NO_MODULE(state)


def by_a_background_agent(state: State) -> None:
    BackgroundAgentDispatcher.dispatch(Any, "desk", Desk(), state)  # type: ignore[arg-type]


WRITERS: list[Callable[..., Any]] = [
    from_a_table,
    from_a_call,
    from_an_enumeration,
    from_a_class,
    by_keyword,
    by_another_name,
    by_a_helper_module,
    by_an_object,
    by_a_background_agent,
    by_a_function_of_no_module,
    DESK.book,
    partial(from_a_table),
    Clerk(),
]


@pytest.mark.parametrize("write", WRITERS)
def test_of_a_need_that_some_code_may_fill_nothing_is_told(write: Callable[..., Any]) -> None:
    needy = Phase("a", "A.", needs="app:room", on_exit=write, transitions=TO_END)
    assert agent().tools(ping).phase(needy, END).plan().warnings() == []


def in_writing(name: str, state: State) -> None:
    """Remember a name under a key of its own."""
    state.set("app:name", ("a-%s" % name).lower())  # noqa: UP031


@pytest.mark.parametrize("write", [ping, remember, in_writing, by_joining, by_formatting, by_replacing])
def test_a_need_that_no_part_fills_but_a_program_may_is_a_warning(write: Callable[..., Any]) -> None:
    (warning,) = asking(write, *([ping] if write is not ping else [])).plan().warnings()
    assert re.match(r"test_plan_warnings.py:\d+: The phase a needs app:room, which nothing seems to fill", warning)
    assert ".state(...)" in warning


async def test_a_program_fills_the_needs_of_an_agent_and_goes_through_its_phases() -> None:
    """No part of this agent writes the key, leads to its phases or out of one."""
    phases = (Phase("a", "A.", needs="app:room"), Phase("b", "B.", requires="app:floor"))
    async with talk(agent().phase(*phases)) as t:
        t.handle.state.set("app:room", "12")
        t.handle.state.set("app:floor", 1)
        t.handle.transition_to("b")
        await t.rests()
        t.handle.transition_to("a")
        await t.rests()
        assert t.phases == ["a", "b", "a"]
        assert t.state["session:phase_needs"] == ["app:room"]


@pytest.mark.parametrize("hook", ["on_enter", "on_exit", "on_user_turn_completed"])
def test_a_need_that_a_hook_of_the_agent_fills_is_no_fault(hook: str) -> None:
    of = asking(ping).turn_taking("client")
    filled = getattr(of, hook)(lambda session: session.userdata.set("app:room", "1"))
    assert filled.plan().warnings() == []


def test_a_need_of_the_whole_result_of_an_extractor_is_no_fault() -> None:
    reads = FunctionExtractor(lambda window: {}, name="reads", promotions=[FieldPromotion.overwrite("x")])
    needy = Phase("a", "A.", needs="temp:extracted:reads", transitions=TO_END)
    assert agent().tools(ping).extract(reads).phase(needy, END).plan().warnings() == []


def test_a_need_that_an_extractor_without_a_schema_may_fill_is_no_fault() -> None:
    assert asking(ping).extract(FunctionExtractor(lambda window: {"room": "1"})).plan().warnings() == []


def test_a_need_that_a_program_fills_is_declared() -> None:
    assert asking(ping).state(StateKey("app:room", str)).plan().warnings() == []


def promoting(concept: str, when: Term | bool = True) -> FunctionExtractor:
    rule = FieldPromotion.true_only("agreed").after_presented(concept).when(when)
    return FunctionExtractor(lambda window: {}, name="x", promotions=rule)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("built", "warning"),
    [
        (agent().extract(promoting("prise")), "prise was presented, which no phase presents. Use price."),
        (
            agent().pattern(TemporalPattern("p", RateDetector("turn.interupted", 2, 5), ping)),
            "turn.interupted, which is no event of a session. Use turn.interrupted.",
        ),
        (
            agent().watch(Watcher(key("session:turncount").changed(), ping)),
            "session:turncount is read, which nothing seems to write. Use session:turn_count.",
        ),
        (
            agent().pattern(TemporalPattern("p", TurnCountDetector(key("bg:pin_failed"), 2), ping)),
            "bg:pin_failed is read, which nothing seems to write. Use bg:ping_failed.",
        ),
        (
            agent().extract(promoting("price", when=key("session:turncount") >= 2)),
            "session:turncount is read, which nothing seems to write. Use session:turn_count.",
        ),
        (
            agent().in_every_phase(InstructionModifier.with_state("session:presented:prise")),
            "session:presented:prise is read, which nothing seems to write. Use session:presented:price.",
        ),
    ],
    ids=["concept", "event", "session key", "failed tool", "guard of a field", "presented"],
)
def test_a_name_that_nothing_seems_to_have_is_a_warning_with_the_nearest(built: Live, warning: str) -> None:
    (told,) = built.tools(ping).phase(Phase("end", "End.", presents="price", terminal=True)).plan().warnings()
    assert told.startswith("test_plan_warnings.py:")
    assert told.endswith(warning)


def test_a_session_key_that_code_mentions_is_no_warning() -> None:
    def set_mood(state: State) -> None:
        """Set the mood."""
        state.set("session:mood", "good")

    reads = Watcher(key("session:mood").changed(), ping)
    assert agent().tools(set_mood).watch(reads).plan().warnings() == []


def test_a_tool_that_says_nothing_of_itself_is_a_warning() -> None:
    def book(day, count: int = 1):  # type: ignore[no-untyped-def]
        return day

    warnings = agent().tools(book).plan().warnings()
    assert ["no docstring" in warnings[0], "day of the tool book has no annotation" in warnings[1]] == [True, True]
    assert len(warnings) == 2


async def test_warnings_are_notices_of_a_session(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from gemini_live_runtime import Live\n"
        "def book(day): return day\n"
        "agent = Live.builder('mine').instruction('Be brief.').tools(book)\n"
    )
    spec = EngineSpec(session_id="s1", agent=f"{file}:agent", backend="local", record="off", audio="none", fast=True)
    engine = in_process(spec, make_session)
    notices: list[str] = []
    while not notices:
        message = await engine.link.receive()
        if isinstance(message, ev.Event) and isinstance(message.payload, ev.Notice):
            notices.append(message.payload.text)
    assert "no docstring" in notices[0]
    assert await engine.hang_up("done") == 0
