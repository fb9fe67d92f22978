"""An agent is checked as a whole: all faults at once, each with its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, StrEnum
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    BackgroundAgentDispatcher,
    ComputedVar,
    ConsecutiveFailureDetector,
    ContextDelivery,
    EffectMode,
    EffectPolicy,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    MergePolicy,
    Phase,
    PhasePreparation,
    RateDetector,
    ReactorRule,
    State,
    StateKey,
    SteeringMode,
    SustainedDetector,
    TemporalPattern,
    ToolContext,
    ToolExecutionMode,
    Transition,
    TransitionPhase,
    TurnCountDetector,
    Watcher,
    after_tool_call,
    called_ok,
    interval,
    key,
    on_phase_change,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.assemble import make_session
from gemini_live_runtime.engine.host import in_process
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import AgentError, StateError
from gemini_live_runtime.session.definition.definition import TurnTaking
from gemini_live_runtime.state.terms import Term


def ping() -> None:
    """Ping."""


def rule(name: str) -> ReactorRule:
    """Return a rule that does nothing."""
    return ReactorRule(name, lambda event, voice, state: None)


END = Phase("end", "End.", terminal=True)
TO_END = Transition("end", called_ok("ping"))

FAULTS: dict[str, tuple[Live, str]] = {
    "an unknown target": (
        agent().phase(Phase("a", "A.", transitions=Transition("b", True))),
        "leads to b",
    ),
    "an unknown initial phase": (agent().phase(END).initial_phase("x"), "initial phase x does not exist"),
    "an unknown tool in an allow-list": (agent().phase(Phase("a", "A.", tools="fly", transitions=TO_END), END), "fly"),
    "a cycle of computed values": (
        agent().computed(ComputedVar("a", lambda s: 1, "derived:b"), ComputedVar("b", lambda s: 1, "derived:a")),
        "a",
    ),
    "a need of a computed key that nothing computes": (
        agent().tools(ping).phase(Phase("a", "A.", needs="derived:risk", transitions=TO_END), END),
        "derived:risk is read, which does not exist",
    ),
    "a watcher of what is never announced": (
        agent().watch(Watcher(key("session:silence_ms").crossed_above(5000), lambda: None)),
        "session:silence_ms",
    ),
    "a pattern of what is never announced": (
        agent().pattern(TemporalPattern("still", SustainedDetector(key("session:silence_ms") > 5, 3), lambda: None)),
        "session:silence_ms",
    ),
    "an extractor after a tool that is not there": (
        agent().tools(ping).extract(FunctionExtractor(lambda window: {}, trigger=after_tool_call("pong"))),
        "the tool pong, which does not exist. Use ping",
    ),
    "an extractor in a phase that is not there": (
        agent().phase(END).extract(FunctionExtractor(lambda window: {}, trigger=on_phase_change("ended"))),
        "the phase ended, which does not exist. Use end",
    ),
    "a pattern of a tool that is not there": (
        agent().tools(ping).pattern(TemporalPattern("p", ConsecutiveFailureDetector("fly", 2), ping)),
        "failures of the tool fly, which does not exist. The tools are ping",
    ),
    "a pattern of events that it is not shown": (
        agent().pattern(TemporalPattern("p", RateDetector("state.changed", 2, 5), ping)),
        "waits for state.changed, which patterns are not shown",
    ),
    "a guard of a computed key that nothing computes": (
        agent()
        .computed(ComputedVar("risk", key("app:x").is_true()))
        .watch(Watcher(key("derived:risc").became_true(), ping)),
        "derived:risc is read, which does not exist. Use derived:risk",
    ),
    "two phases of one name": (agent().phase(END, Phase("end", "Again.", terminal=True)), "Two phases are called end"),
    "two tools of one name": (agent().tools(ping, tool(name="ping", description="x")(lambda: None)), "Two tools"),
    "two rules of one name": (agent().rule(rule("r"), rule("r")), "Two rules are named r"),
    "two watchers of one name": (
        agent().watch(*(Watcher(key("app:x").changed(), ping, name="w") for _ in range(2))),
        "named w",
    ),
    "two patterns of one name": (
        agent().pattern(*(TemporalPattern("p", TurnCountDetector(True, 1), ping) for _ in range(2))),
        "named p",
    ),
    "a value that is not of its key's type": (
        agent().state(StateKey("app:n", int), values={"app:n": "many"}),
        "app:n",
    ),
    "a value that is not JSON": (agent().state(values={"app:x": object()}), "app:x"),
    "no instruction": (Live.builder("empty"), "no instruction"),
    "no name": (Live.builder(" ").instruction("x"), "no name"),
    "what is no tool": (agent().tools(7), "7 is not a tool"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_before_anything_is_opened(fault: str) -> None:
    built, said = FAULTS[fault]
    with pytest.raises(AgentError) as raised:
        built.plan()
    assert said in str(raised.value)


def test_every_fault_is_told_at_once_with_its_place() -> None:
    built = agent().phase(Phase("a", "A.", transitions=Transition("b", True))).rule(rule("r"), rule("r")).tools(7)
    with pytest.raises(AgentError) as raised:
        built.plan()
    text = str(raised.value)
    assert "The agent has" in text
    assert text.count("test_plan_faults.py:") >= 3


def test_a_builder_is_not_changed_by_its_calls() -> None:
    first = agent()
    second = first.tools(ping)
    assert (len(first.definition.tools), len(second.definition.tools)) == (0, 1)


async def test_one_agent_serves_several_sessions_that_know_nothing_of_each_other() -> None:
    of = agent().pattern(TemporalPattern("p", TurnCountDetector(True, 2), ping)).state(values={"app:n": 0})
    for _ in range(2):
        async with talk(of) as t:
            assert t.state["app:n"] == 0
            await t.writes(n=1)
            await t.turn()
            assert "pattern.fired" not in t.events


def test_settings_that_a_model_cannot_follow_are_named() -> None:
    slow = tool(background=True)(ping)
    of = agent().tools(slow).repair().soft_turns().turn_taking("push-to-talk")
    told = "\n".join(of.ignored_settings("gemini-3.1-flash-live-preview"))
    assert "waits for every tool: ping" in told
    assert "repair has no effect" in told
    assert "soft_turns has no effect" in told


@pytest.mark.parametrize("by", ["server", "manual"])
def test_a_preset_without_a_detector_of_ours_is_named_when_it_was_asked_for(by: TurnTaking) -> None:
    assert agent().turn_taking(by).ignored_settings() == []
    (told,) = agent().turn_taking(by, preset="responsive").ignored_settings()
    assert told == f"turn_taking's preset has no effect: with {by} our detector does not decide"
    assert agent().turn_taking("client", preset="immediate").ignored_settings() == []


@pytest.mark.parametrize("mode", [SteeringMode.CONTEXT_INJECTION, SteeringMode.HYBRID])
def test_a_way_of_steering_with_nothing_to_steer_is_named(mode: SteeringMode) -> None:
    (told,) = agent().steering(mode).ignored_settings()
    assert told.startswith(f"{mode.name} steering has no effect")
    modifier = InstructionModifier.with_state("app:n")
    assert agent().steering(mode).in_every_phase(modifier).ignored_settings() == []
    assert agent().steering(mode).phase(Phase("a", "A.", modifiers=modifier, terminal=True)).ignored_settings() == []


def test_a_phase_without_modifiers_is_something_to_tell_only_where_phases_are_told_as_context() -> None:
    of = agent().phase(Phase("a", "A.", terminal=True))
    assert of.steering(SteeringMode.CONTEXT_INJECTION).ignored_settings() == []
    assert len(of.steering(SteeringMode.HYBRID).ignored_settings()) == 1


async def test_an_agent_without_phases_has_modifiers_all_the_same() -> None:
    async with talk(agent().in_every_phase(InstructionModifier.custom(lambda state: "Stay calm."))) as t:
        setup = t.setup
        assert setup["systemInstruction"]["parts"][0]["text"] == "Be brief.\n\nStay calm."


def test_what_a_model_without_context_makes_of_steering_is_named() -> None:
    of = agent().model("gemini-3.1-flash-live").phase(Phase("a", "A.", terminal=True))
    assert of.ignored_settings() == []
    told = of.steering(SteeringMode.HYBRID, ContextDelivery.DEFERRED).ignored_settings()
    assert len(told) == 2
    assert all(line.startswith("gemini-3.1-flash-live takes no context during a session: ") for line in told)


def test_a_phase_that_only_code_goes_to_is_none_nobody_gets_to() -> None:
    def go(event: object, voice: object, state: object) -> list[TransitionPhase]:
        return [TransitionPhase("apart")]

    way_out = Transition("end", called_ok("ping"))
    phases = (Phase("a", "A.", transitions=way_out), Phase("apart", "Apart.", transitions=way_out), END)
    assert agent().tools(ping).phase(*phases).rule(ReactorRule("go", go)).plan().name


# -- warnings and options ----------------------------------------------------------------------------------------------


class Taking(Enum):
    """Options that a program keeps in an enumeration of its own."""

    CLIENT = "client"
    RECONNECT = "reconnect"


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
    assert re.match(r"test_plan_faults.py:\d+: The phase a needs app:room, which nothing seems to fill", warning)
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


@pytest.mark.parametrize("wrong", [{"trigger": "every_turn"}, {"trigger": None}, {"deadline_s": "soon"}])
def test_an_extractor_with_an_option_that_cannot_be_used_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(AgentError, match=r"trigger|deadline_s"):
        FunctionExtractor(lambda window: {}, **wrong)


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
    assert told.startswith("test_plan_faults.py:")
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


@pytest.mark.parametrize(
    "value", [10**5000, -(10**400), [10**5000], {"a": 10**400}], ids=["long", "negative", "list", "object"]
)
def test_a_number_that_no_event_can_hold_is_refused(value: Any) -> None:
    with pytest.raises(AgentError, match="more than 308 digits"):
        agent().state(values={"app:n": value}).plan()
    state = State()
    with pytest.raises(StateError, match="more than 308 digits"):
        state.set("app:n", value)
    state.set("app:n", 10**300)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: agent().repair("2", "4"), "Repair cannot nudge after '2' and escalate after '4' turns"),
        (lambda: agent().state(values=[("app:x", 1)]), ".state(values=...) cannot be [('app:x', 1)]"),
        (lambda: tool(timeout_s="5")(ping), "timeout_s must be a number above 0, not '5'"),
        (lambda: interval("3"), "An interval is at least 1 turn, not '3'"),
        (lambda: EffectPolicy("blocking", "5"), "An effect's timeout must be more than 0 s, not '5'"),
        (lambda: Phase("a", "A.", needs=None), "has None in needs. Give"),
        (lambda: Phase("a", "A.", requires=[5]), "has 5 in requires"),
        (lambda: Phase("a", "A.", transitions="b"), "has 'b' in transitions. Give Transition"),
        (lambda: Phase("a", "A.", modifiers=["x"]), "has 'x' in modifiers"),
        (lambda: Phase("a", "A.", presents=None), "has None in presents"),
        (lambda: Phase("a", "A.", tools=5), "lists 5 as a tool"),
        (lambda: PhasePreparation("p", ping, produces=None), "has None in produces"),
        (lambda: ToolExecutionMode("foo"), "Unknown kind of tool 'foo'"),
        (lambda: ToolExecutionMode(None), "Unknown kind of tool None"),
    ],
)
def test_a_setting_of_the_wrong_type_is_refused_in_a_sentence(make: Any, problem: str) -> None:
    with pytest.raises(AgentError, match=re.escape(problem)):
        make()


def test_the_kind_of_a_tool_is_taken_in_any_case() -> None:
    assert ToolExecutionMode("Background", "silent").is_background  # type: ignore[arg-type]
