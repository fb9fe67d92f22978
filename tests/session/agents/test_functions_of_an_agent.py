"""Each function of an agent is known to take what it is called with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import pytest
from tests.session.talking import agent, two_phases

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    FieldPromotion,
    FunctionExtractor,
    InstructionModifier,
    Live,
    PhasePreparation,
    RateDetector,
    ReactorRule,
    TemporalPattern,
    TurnCountDetector,
    Watcher,
    WatchPredicate,
    key,
)
from gemini_live_runtime.errors import AgentError

With = Callable[[Any], Live]


def prepared(function: Any) -> Live:
    preparation = PhasePreparation("menu", function, produces="app:x")
    return agent().phase(*two_phases(True, requires="app:x", preparations=preparation))


def promoted(function: Any) -> Live:
    promotions = [FieldPromotion.overwrite("a").when(function)]
    return agent().extract(FunctionExtractor(lambda window: {"a": 1}, promotions=promotions))


DECIDING: dict[str, With] = {
    "a transition's guard": lambda f: agent().phase(*two_phases(f)),
    "a phase's guard": lambda f: agent().phase(*two_phases(True, guard=f)),
    "a guard beside another": lambda f: agent().phase(*two_phases(key("app:x").is_set() & f)),
    "an instruction": lambda f: agent().phase(*two_phases(True, f)),
    "a modifier": lambda f: agent().in_every_phase(InstructionModifier.custom(f)),
    "a modifier's guard": lambda f: agent().in_every_phase(InstructionModifier.when(f, "Often.")),
    "a format": lambda f: agent().in_every_phase(ContextBuilder().format("app:x", f).as_modifier()),
    "a computed value": lambda f: agent().computed(ComputedVar("n", f, "app:x")),
    "a watched guard": lambda f: agent().watch(Watcher(WatchPredicate.became_true(f), print)),
    "a detector's guard": lambda f: agent().pattern(TemporalPattern("p", TurnCountDetector(f, 1), print)),
    "a detector's event": lambda f: agent().pattern(TemporalPattern("p", RateDetector(f, 1, 1), print)),
    "an extractor": lambda f: agent().extract(FunctionExtractor(f)),
    "a function in an extractor's place": lambda f: agent().extract(f),
}

OF_MORE: dict[str, With] = {
    "a predicate": lambda f: agent().watch(Watcher(WatchPredicate.custom("app:x", f), print)),
    "a promotion": promoted,
    "a rule": lambda f: agent().rule(ReactorRule("r", f)),
}

ACTING: dict[str, With] = {
    "on_enter of a phase": lambda f: agent().phase(*two_phases(True, on_enter=f)),
    "on_exit of a phase": lambda f: agent().phase(*two_phases(True, on_exit=f)),
    "on_enter_context": lambda f: agent().phase(*two_phases(True, on_enter_context=f)),
    "a preparation": prepared,
    "a watcher": lambda f: agent().watch(Watcher(key("app:x").changed(), f)),
    "a pattern": lambda f: agent().pattern(TemporalPattern("p", TurnCountDetector(True, 1), f)),
    "on_enter": lambda f: agent().on_enter(f),
    "on_exit": lambda f: agent().on_exit(f),
    "on_user_turn_completed": lambda f: agent().turn_taking("client").on_user_turn_completed(f),
}

ALL = DECIDING | OF_MORE | ACTING


def of_seven(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> bool:
    return True


def by_name(*, state: Any) -> bool:
    return True


@pytest.mark.parametrize("what", ALL)
@pytest.mark.parametrize(
    "function", [of_seven, by_name, partial(of_seven, 1)], ids=["seven", "by name", "partial of seven"]
)
def test_a_function_that_cannot_be_called_with_what_it_gets_is_refused(function: Any, what: str) -> None:
    with pytest.raises(AgentError, match=r"cannot be called with|requires more arguments"):
        ALL[what](function).plan()


UNKNOWN = {"a builtin": max, "its partial": partial(max, 1), "a method of C": set[int]().add, "a type": type}


@pytest.mark.parametrize("what", DECIDING | OF_MORE)
@pytest.mark.parametrize("function", UNKNOWN)
def test_a_function_that_decides_is_refused_when_python_does_not_know_its_parameters(function: str, what: str) -> None:
    with pytest.raises(AgentError, match=r"Python does not know the parameters of .*Wrap it .* such as lambda"):
        (DECIDING | OF_MORE)[what](UNKNOWN[function]).plan()


@pytest.mark.parametrize("what", {**ACTING, "a listener": lambda f: agent().on("text", f)})
@pytest.mark.parametrize("function", UNKNOWN)
def test_of_an_action_whose_parameters_python_does_not_know_the_plan_warns(function: str, what: str) -> None:
    acting = {**ACTING, "a listener": lambda f: agent().on("text", f)}
    (warning,) = acting[what](UNKNOWN[function]).plan().warnings()
    assert "Python does not know the parameters of" in warning


@pytest.mark.parametrize("what", DECIDING)
@pytest.mark.parametrize("function", [itemgetter("app:x"), str, dict], ids=["itemgetter", "str", "dict"])
def test_well_known_callables_of_one_argument_can_decide(function: Any, what: str) -> None:
    assert DECIDING[what](function).plan().warnings() == []


async def later(*_: Any) -> bool:
    return True


class Later:
    """Object that is called like an async function."""

    async def __call__(self, *_: Any) -> bool:
        return True


@pytest.mark.parametrize("what", [what for what in DECIDING | OF_MORE if "extractor" not in what])
@pytest.mark.parametrize("function", [later, partial(later, 1), Later()], ids=["function", "partial", "object"])
def test_an_async_function_that_decides_is_refused(function: Any, what: str) -> None:
    with pytest.raises((AgentError, TypeError), match=r"is an async function, but has to|is async: a guard decides"):
        (DECIDING | OF_MORE)[what](function)
