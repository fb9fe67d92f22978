"""Options of an agent that cannot be used are refused in a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.session.talking import agent, two_phases

from gemini_live_runtime import (
    Agent,
    ChatContext,
    ComputedVar,
    ContextBuilder,
    EffectPolicy,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    Need,
    Phase,
    PhasePreparation,
    RateDetector,
    ReactorRule,
    ScriptedTextModel,
    StateKey,
    SustainedDetector,
    TemporalPattern,
    Tool,
    ToolExecutionMode,
    Transition,
    TurnCountDetector,
    Watcher,
    WatchPredicate,
    after_tool_call,
    interval,
    key,
    on_phase_change,
    tool,
)
from gemini_live_runtime.errors import AgentError, GeminiLiveError


def ping() -> None:
    """Ping."""


def nothing(*_: Any) -> None:
    """Do nothing."""


def pattern(**options: Any) -> TemporalPattern:
    return TemporalPattern("p", TurnCountDetector(True, 2), nothing, **options)


NAMES: dict[str, Callable[[Any], Any]] = {
    "a phase": lambda v: Phase(v, "One."),
    "the target of a transition": lambda v: Transition(v, GO),
    "a preparation": lambda v: PhasePreparation(v, nothing),
    "a rule": lambda v: ReactorRule(v, nothing),
    "a watcher": lambda v: Watcher(GO.changed(), nothing, name=v),
    "a tool": lambda v: tool(name=v)(nothing),
    "a field": lambda v: FieldPromotion.overwrite(v),
    "a presentation": lambda v: FieldPromotion.overwrite("a").after_presented(v),
    "a tool of a trigger": lambda v: after_tool_call(v),
    "a phase of a trigger": lambda v: on_phase_change(v),
    "a target": lambda v: FieldPromotion.overwrite("a").to(v),
    "a need": lambda v: Need(v),
    "a key of a modifier": lambda v: InstructionModifier.with_state(v),
    "a key of a builder": lambda v: ContextBuilder().field(v, "Label"),
    "a scope of memory": lambda v: agent().memory(v).plan(),
    "an initial phase": lambda v: agent().phase(*two_phases()).initial_phase(v).plan(),
    "an agent": lambda v: Agent(name=v, instructions="Be brief."),
}

GO = key("app:go")


@pytest.mark.parametrize("what", NAMES)
@pytest.mark.parametrize("value", [5, ["a"], {"a": 1}, b"a"], ids=["number", "list", "object", "bytes"])
def test_a_name_that_is_no_text_is_refused(what: str, value: Any) -> None:
    with pytest.raises(GeminiLiveError):
        NAMES[what](value)


TEXTS: dict[str, Callable[[Any], Any]] = {
    "a description": lambda v: tool(name="t", description=v)(nothing),
    "a modifier": lambda v: InstructionModifier.when(GO, v),
    "a label of a modifier": lambda v: InstructionModifier.with_state("app:x", label=v),
    "a label of a need": lambda v: Need("app:x", v),
    "a reason": lambda v: Transition("a", GO, because=v),
    "a section": lambda v: ContextBuilder().section(v),
    "a label": lambda v: ContextBuilder().field("app:x", v),
    "a label of a flag": lambda v: ContextBuilder().flag("app:x", v),
}


@pytest.mark.parametrize("what", TEXTS)
def test_words_that_are_no_text_are_refused(what: str) -> None:
    with pytest.raises(GeminiLiveError):
        TEXTS[what](5)


FLAGS: dict[str, Callable[[Any], Any]] = {
    "terminal": lambda v: Phase("a", "One.", terminal=v),
    "prompt_on_enter": lambda v: Phase("a", "One.", prompt_on_enter=v),
    "a blocking watcher": lambda v: Watcher(GO.changed(), nothing, blocking=v),
    "a blocking pattern": lambda v: pattern(blocking=v),
    "tool_advisory": lambda v: agent().tool_advisory(v),
    "a concurrent listener": lambda v: agent().on("turn_complete", nothing, concurrent=v),
}


@pytest.mark.parametrize("what", FLAGS)
@pytest.mark.parametrize("value", [5, None, []], ids=["number", "none", "list"])
def test_a_flag_is_true_or_false(what: str, value: Any) -> None:
    with pytest.raises(GeminiLiveError, match="Use True or False"):
        FLAGS[what](value)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "on_enter of a phase": lambda f: Phase("a", "One.", on_enter=f),
    "on_exit of a phase": lambda f: Phase("a", "One.", on_exit=f),
    "on_enter_context": lambda f: Phase("a", "One.", on_enter_context=f),
    "a preparation": lambda f: PhasePreparation("p", f),
    "on_enter": lambda f: agent().on_enter(f).plan(),
    "on_exit": lambda f: agent().on_exit(f).plan(),
    "on_user_turn_completed": lambda f: agent().turn_taking("client").on_user_turn_completed(f).plan(),
    "an extractor": lambda f: FunctionExtractor(f, name="e"),
    "a format": lambda f: ContextBuilder().format("app:x", f),
    "a guard of a detector": lambda f: SustainedDetector(f, 1),
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_what_is_no_function_is_refused(what: str) -> None:
    with pytest.raises(GeminiLiveError):
        FUNCTIONS[what](5)


TAKE_ONE: dict[str, Callable[[Any], Any]] = {
    "a guard": lambda f: Transition("a", f),
    "an instruction": lambda f: Phase("a", f),
    "a modifier": lambda f: InstructionModifier.custom(f),
    "a computed value": lambda f: ComputedVar("c", f, depends_on="app:x"),
    "a rule": lambda f: ReactorRule("r", f),
    "an event": lambda f: RateDetector(f, 1, 1),
    "a guard of a detector": lambda f: TurnCountDetector(f, 1),
    "a format": lambda f: ContextBuilder().format("app:x", f),
}


@pytest.mark.parametrize("what", TAKE_ONE)
@pytest.mark.parametrize("function", [lambda: True, lambda a, b, c, d: True], ids=["none", "four"])
def test_a_function_that_cannot_be_called_with_what_it_gets_is_refused(what: str, function: Any) -> None:
    with pytest.raises(GeminiLiveError, match="cannot be called with"):
        TAKE_ONE[what](function)


@pytest.mark.parametrize("kind", [5, "no such type", {}, ""])
def test_a_key_of_a_type_that_cannot_be_checked_is_refused(kind: Any) -> None:
    with pytest.raises(GeminiLiveError, match="cannot be of the type"):
        StateKey("app:x", kind)


def test_a_computed_value_depends_on_keys() -> None:
    with pytest.raises(GeminiLiveError, match="cannot depend on 5"):
        ComputedVar("c", lambda state: 1, depends_on=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [5, 1.5, object(), print, {"a"}], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "use",
    [
        lambda value: agent().initial_phase(value).plan(),
        lambda value: agent().ignored_settings(value),
        lambda value: Tool.from_schema("find", "Find.", value, lambda arguments: None),
    ],
    ids=["initial phase", "model", "schema"],
)
def test_names_and_schemas_of_another_type_are_refused_in_a_sentence(use: Any, wrong: Any) -> None:
    with pytest.raises(AgentError, match=r"cannot be|not a string"):
        use(wrong)


@pytest.mark.parametrize("use", [ScriptedTextModel, ChatContext])
def test_what_is_no_list_is_refused_in_a_sentence(use: Any) -> None:
    with pytest.raises(AgentError, match="cannot be 5"):
        use(5)


async def waits(state: Any) -> bool:
    return True


@pytest.mark.parametrize("wrong", [waits, 5, None], ids=["async", "number", "None"])
@pytest.mark.parametrize("watch", [WatchPredicate.became_true, WatchPredicate.became_false])
def test_what_is_no_guard_cannot_be_watched(watch: Any, wrong: Any) -> None:
    with pytest.raises(AgentError, match=r"A watcher cannot wait for this: .*guard"):
        watch(wrong)


@pytest.mark.parametrize("given", [(), ("desk",)], ids=["nothing", "a name"])
@pytest.mark.parametrize(
    "options", [{}, {"name": "desk"}, {"instruction": "Be brief."}], ids=lambda given: "+".join(given)
)
def test_an_agent_that_is_not_begun_by_its_builder_is_refused_with_the_remedy(
    given: tuple[Any, ...], options: dict[str, Any]
) -> None:
    with pytest.raises(AgentError, match=r'Live cannot be made of .*\. Begin with Live\.builder\("name"\)'):
        Live(*given, **options)


@pytest.mark.parametrize("wrong", [{"trigger": "every_turn"}, {"trigger": None}, {"deadline_s": "soon"}])
def test_an_extractor_with_an_option_that_cannot_be_used_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(AgentError, match=r"trigger|deadline_s"):
        FunctionExtractor(lambda window: {}, **wrong)


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
