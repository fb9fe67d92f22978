"""An agent is checked before anything is opened: all faults at once, with places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gemini_live_runtime.api import Live
from gemini_live_runtime.conversation.phases import Phase, Transition
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.definition.definition import Delivery, DeliveryConfig
from gemini_live_runtime.session.definition.key_writers import Mentions
from gemini_live_runtime.state.computed import ComputedVar
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key


def agent() -> Live:
    return Live.builder("test").instruction("Test.")


def faults(live: Live) -> str:
    with pytest.raises(AgentError) as caught:
        live.plan()
    return str(caught.value)


def test_an_agent_is_checked_once() -> None:
    live = agent()
    assert live.plan() is live.plan()


SETTINGS: list[tuple[Callable[[Live], Live], str]] = [
    (lambda a: a.turn_taking("sever"), "turn_taking cannot be 'sever'. Use one of auto, server, client, manual."),  # type: ignore[arg-type]
    (lambda a: a.turn_taking("client", "fast"), "preset cannot be 'fast'"),  # type: ignore[arg-type]
    (
        lambda a: a.server_detection(start_sensitivity="medium"),
        "server_detection's start_sensitivity cannot be 'medium'. Use one of high, low.",
    ),  # type: ignore[arg-type]
    (
        lambda a: a.server_detection(silence_duration_ms=-1),
        "silence_duration_ms cannot be -1. Use whole milliseconds from 0 to 10,000.",
    ),
    (lambda a: a.server_detection(prefix_padding_ms=0.5), "prefix_padding_ms cannot be 0.5"),  # type: ignore[arg-type]
    (lambda a: a.server_detection(turn_coverage="some"), "turn_coverage cannot be 'some'. Use one of only-activity"),  # type: ignore[arg-type]
    (lambda a: a.instruction_route("pigeon"), "instruction_route cannot be 'pigeon'"),  # type: ignore[arg-type]
    (lambda a: a.steering("hybird"), "Use one of SteeringMode.INSTRUCTION_UPDATE"),
    (lambda a: a.telemetry(0), ".telemetry(every_s) cannot be 0. Use a number of seconds above 0."),
    (lambda a: a.telemetry(float("nan")), "cannot be nan"),
    (lambda a: a.soft_turns(-1), ".soft_turns(after_s) cannot be -1"),
    (lambda a: a.background_agents(0), ".background_agents(at_most) cannot be 0"),
    (lambda a: a.delivery(DeliveryConfig(control=Delivery(0))), "control events cannot be Delivery(limit=0)"),
    (lambda a: a.delivery(None), ".delivery(...) cannot be None"),  # type: ignore[arg-type]
    (lambda a: a.model(" "), "model is empty"),
    (lambda a: a.voice(3), "voice is 3, not a string"),  # type: ignore[arg-type]
    (lambda a: a.phrases(3), "The phrase 3 is not a string"),  # type: ignore[arg-type]
    (lambda a: a.persistence(object()), "it has no save, load, delete"),  # type: ignore[arg-type]
    (lambda a: a.text_model(object()), "it has no generate"),  # type: ignore[arg-type]
    (lambda a: a.phase("x"), "'x' is not a Phase"),  # type: ignore[arg-type]
    (lambda a: a.watch("x"), "'x' is not a Watcher"),  # type: ignore[arg-type]
    (lambda a: a.rule("x"), "'x' is not a ReactorRule"),  # type: ignore[arg-type]
    (lambda a: a.computed("x"), "'x' is not a ComputedVar"),  # type: ignore[arg-type]
    (lambda a: a.pattern("x"), "'x' is not a TemporalPattern"),  # type: ignore[arg-type]
    (lambda a: a.in_every_phase("x"), "'x' is not a InstructionModifier"),  # type: ignore[arg-type]
    (lambda a: a.state("app:x"), "'app:x' is not a StateKey"),  # type: ignore[arg-type]
    (lambda a: a.tools(3), "3 is not a tool"),
    (lambda a: a.instruction(""), "has no instruction"),
    (lambda a: a.instruction(3), "instruction is 3, not a string"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("change", "words"), SETTINGS, ids=[words for _, words in SETTINGS])
def test_a_setting_of_no_use_is_refused_with_its_value_and_where_the_agent_was_begun(
    change: Callable[[Live], Live], words: str
) -> None:
    said = faults(change(agent()))
    assert words in said
    assert "test_plan.py:" in said


def test_every_fault_is_listed_at_once_each_with_its_own_place() -> None:
    def clash() -> str:
        """Do nothing; the name is that of another tool."""
        return ""

    def first() -> Any:
        return Phase("ask", "Ask.", transitions=Transition("nowhere", key("app:x").is_true()), tools=["no_such_tool"])

    computed = [ComputedVar(name, lambda s: 1, depends_on=[other]) for name, other in (("a", "b"), ("b", "a"))]
    said = faults(
        agent()
        .phase(first(), "not a phase")  # type: ignore[arg-type]
        .tools(clash, clash)
        .computed(*computed)
        .state(StateKey("app:n", int), StateKey("app:n", int), values={"app:n": "many", "app:o": object()})
        .telemetry(-1)
    )
    for words in (
        "nowhere",
        "no_such_tool",
        "'not a phase' is not a Phase",
        "Two tools are named clash",
        "Two state keys are named app:n",
        "app:o",
        ".telemetry",
    ):
        assert words in said, words
    lines = said.splitlines()
    assert lines[0].startswith("The agent has ")
    assert all("test_plan.py:" in line for line in lines[1:]), said


def test_a_plan_gives_every_session_parts_of_its_own() -> None:
    plan = agent().state(values={"app:list": [1]}).phase(Phase("one", "One.", terminal=True)).plan()
    first, second = plan.make_state(), plan.make_state()
    first.set("app:list", [2])
    assert second.get("app:list") == [1]
    one, two = plan.make_machine(), plan.make_machine()
    assert one is not None
    assert one is not two


def test_what_a_model_cannot_do_is_listed() -> None:
    def slow() -> str:
        """Be slow."""
        return ""

    from gemini_live_runtime.tools.declaration import tool

    live = agent().tools(tool(background=True)(slow)).repair().soft_turns().turn_taking("push-to-talk").voice("Kore")
    ignored = "\n".join(live.ignored_settings("gemini-3.1-flash-live"))
    assert "slow" in ignored
    assert "repair has no effect" in ignored
    assert "soft_turns has no effect" in ignored
    assert "Kore" in "\n".join(live.ignored_settings("local-test"))


KEY = StateKey("app:by_constant", str)


def helper(state: State) -> None:
    state.set("app:by_helper", 1)


def writes(state: State) -> None:
    state.set("app:whole", 1)
    state.user["by_item"] = 1
    state.set(KEY, "x")
    helper(state)

    def inside() -> None:
        state.set(f"session:{state.get('x')}", 1)

    inside()


@pytest.mark.parametrize(
    ("wanted", "mentioned"),
    [
        ("app:whole", True),
        ("user:by_item", True),
        ("app:by_helper", True),
        ("app:by_constant", True),
        ("session:anything", True),
        ("app:never", False),
        ("never", False),
    ],
)
def test_a_key_is_taken_to_be_filled_when_code_names_it_in_any_way(wanted: str, mentioned: bool) -> None:
    assert (wanted in Mentions([writes])) is mentioned


def test_functions_that_name_each_other_are_looked_at_once() -> None:
    def even(n: int) -> bool:
        return n == 0 or odd(n - 1)

    def odd(n: int) -> bool:
        return n != 0 and even(n - 1)

    assert "app:x" not in Mentions([even, odd, print, functools_partial()])


def functools_partial() -> Any:
    import functools

    return functools.partial(helper)


def test_a_need_that_no_part_fills_is_a_warning_with_its_place() -> None:
    live = Live.builder("test").phase(
        Phase("ask", "Ask.", needs="user:never", transitions=Transition("end", key("user:never").is_set())),
        Phase("end", "Bye.", terminal=True),
    )
    (said,) = live.plan().warnings()
    assert "user:never" in said
    assert said.startswith("test_plan.py:")
