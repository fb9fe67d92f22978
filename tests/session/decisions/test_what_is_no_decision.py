"""A coroutine, a function or a generator in place of a decision is a fault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.session.decisions.deciding_code import Asks, pattern, phases
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    ContextBuilder,
    FieldPromotion,
    FunctionExtractor,
    Live,
    RateDetector,
    State,
    Watcher,
    WatchPredicate,
)
from gemini_live_runtime import events as ev


async def no(*_: Any) -> bool:
    return False


def one_field(condition: Any) -> Live:
    promotion = FieldPromotion.overwrite("agreed").when(condition)
    return agent().extract(FunctionExtractor(lambda window: {"agreed": True}, promotions=[promotion]))


def formatted(text: Any) -> Live:
    shown = ContextBuilder().format("app:shown", lambda value: text(value, State()))
    return agent().state(values={"app:shown": 1}).in_every_phase(shown.as_modifier())


ASYNC: dict[str, Live] = {
    "a format": formatted(no),
    "a guard": agent().phase(*phases(lambda s: no())),
    "a condition": one_field(lambda value, s: no()),
    "an extractor": agent().extract(Asks(no)),
    "a predicate": agent().watch(Watcher(WatchPredicate.custom("app:x", lambda o, n: no()), print)),
    "an event of a detector": pattern(RateDetector(lambda event: no(), 1, 1)),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("what", ASYNC)
async def test_a_coroutine_in_place_of_a_decision_is_not_taken_for_true(what: str) -> None:
    async with talk(ASYNC[what]) as t:
        await t.writes(x=1)
        await t.turn()
        assert t.phases in ([], ["one"])
        assert t.state.get("app:agreed") is None
        assert [*t.all(ev.WatcherFired), *t.all(ev.PatternFired)] == []
        refused = [decided.reason for decided in (*t.all(ev.PromotionDecided), *t.all(ev.ExtractionFailed))]
        assert "coroutine" in (refused or [fault.error for fault in t.failures()])[0]


async def later() -> AsyncIterator[bool]:
    yield False


@pytest.mark.parametrize("condition", [one_field, formatted, lambda of: agent().phase(*phases(lambda s: of(None, s)))])
@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (lambda value, s: (found for found in [False]), "generator"),
        (lambda value, s: later(), "async_generator"),
        (lambda value, s: asyncio.get_running_loop().create_future(), "Future"),
        (lambda value, s: lambda: False, "function"),
        (lambda value, s: s.get, "function"),
        (lambda value, s: print, "function"),
    ],
    ids=["generator", "async generator", "future", "function", "method", "builtin"],
)
async def test_what_is_always_true_is_no_decision(of: Any, kind: str, condition: Callable[[Any], Live]) -> None:
    async with talk(condition(of)) as t:
        await t.turn()
        assert t.phases in ([], ["one"])
        assert t.state.get("app:agreed") is None
        refused = [decided.reason for decided in (*t.all(ev.PromotionDecided), *t.all(ev.ExtractionFailed))]
        assert f"it returned a {kind}, which is no decision" in (refused or [fault.error for fault in t.failures()])[0]
