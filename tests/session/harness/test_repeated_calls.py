"""Calls that another program runs, or a dead engine ran, do not run again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.session.announcing import on_virtual_time
from tests.session.link.test_an_engine_that_died import first_engine, next_engine
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.call_claims import claim_call
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.task_store import TaskStore
from gemini_live_runtime.harness.tasks import HarnessTask, NewRunningTask
from gemini_live_runtime.session.agent.harness.repeated_calls import call_key

RAN: list[int] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@tool(spillable=True, side_effects=True)
async def pay(amount: int) -> str:
    """Pay.

    Args:
        amount: Dollars.
    """
    RAN.append(amount)
    await asyncio.sleep(5.0)
    return "paid"


@tool(spillable=True)
async def report(pages: int) -> str:
    """Write a report.

    Args:
        pages: How many.
    """
    RAN.append(pages)
    await asyncio.sleep(5.0)
    return "written"


@tool(side_effects=True)
def tip(amount: int) -> str:
    """Give a tip.

    Args:
        amount: Dollars.
    """
    RAN.append(amount)
    return "given"


@tool(spillable=True)
async def look_up(word: str) -> str:
    """Look a word up.

    Args:
        word: Which.
    """
    RAN.append(1)
    await asyncio.sleep(0.2)
    RAN.append(-1)
    return "found"


def payer() -> Live:
    return agent().tools(pay, report, tip, look_up)


def answers(t: Talk) -> list[dict[str, Any]]:
    return [answer[2] for answer in t.sent("answer")]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Harness]:
    """Harness of another program that lives."""
    with Harness.open(tmp_path) as harness:
        yield harness


async def recorded(root: Path, harness: Harness, name: str, **args: Any) -> HarnessTask:
    """Return the record of a call's task, as if the program of `harness` ran it."""
    async with talk(payer(), harness=on_virtual_time(root)) as t:
        await t.calls(name, **args)
        await t.passes(0.5)
        key = harness.tasks.find().records[0].call_key
    RAN.clear()
    assert key
    return harness.tasks.start(NewRunningTask(title=name, call_key=key, agent="test"))


@pytest.mark.parametrize("name", ["pay", "report"])
async def test_a_call_that_a_task_of_another_engine_does_names_that_task(
    tmp_path: Path, elsewhere: Harness, name: str
) -> None:
    args = {"amount": 40} if name == "pay" else {"pages": 40}
    theirs = await recorded(tmp_path, elsewhere, name, **args)
    async with talk(payer(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls(name, **args)
        await t.passes(1.0)
        assert RAN == []
        assert [answer["task"] for answer in answers(t)] == [theirs.id]
        assert [event.task for event in t.all(ev.ToolFinished)] == [theirs.id]


async def test_a_call_with_other_arguments_runs(tmp_path: Path, elsewhere: Harness) -> None:
    await recorded(tmp_path, elsewhere, "pay", amount=40)
    async with talk(payer(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("pay", amount=41)
        await t.passes(1.0)
        assert RAN == [41]


async def test_a_call_runs_once_the_task_of_the_other_engine_has_ended(tmp_path: Path, elsewhere: Harness) -> None:
    theirs = await recorded(tmp_path, elsewhere, "pay", amount=40)
    async with talk(payer(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("pay", amount=40)
        await t.passes(1.0)
        elsewhere.tasks.complete(theirs.id)
        await t.calls("pay", amount=40)
        await t.passes(1.0)
        assert RAN == [40]


async def test_a_call_runs_when_the_program_of_the_task_has_died(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as dying:
        await recorded(tmp_path, dying, "pay", amount=40)
    async with talk(payer(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("pay", amount=40)
        await t.passes(1.0)
        assert RAN == [40]


@pytest.mark.parametrize("exists", [True, False])
async def test_of_two_engines_that_begin_the_same_call_within_its_budget_one_runs_it(
    tmp_path: Path, exists: bool
) -> None:
    if exists:
        Harness.open(tmp_path).close()
    async with talk(payer(), harness=on_virtual_time(tmp_path)) as one:  # noqa: SIM117 - the second ends first
        async with talk(payer(), harness=on_virtual_time(tmp_path)) as other:
            await one.calls("pay", amount=40)
            await other.calls("pay", amount=40)
            await other.passes(1.0)
            assert RAN == [40]
            assert answers(one)[0]["task"] == answers(other)[0]["task"]
            await other.calls("pay", amount=41)
            await other.passes(1.0)
            assert RAN == [40, 41]


async def test_a_call_that_ends_within_its_budget_is_waited_for_and_then_runs_in_the_other_engine(
    tmp_path: Path,
) -> None:
    async with talk(payer(), harness=on_virtual_time(tmp_path)) as one:  # noqa: SIM117
        async with talk(payer(), harness=on_virtual_time(tmp_path)) as other:
            await one.calls("look_up", word="a")
            await other.calls("look_up", word="a")
            while not answers(other):
                # Claims are files: on a busy machine they take longer than the loop's own time tells.
                await other.passes(0.5)
            assert RAN == [1, -1, 1, -1]
            assert answers(one) == answers(other) == [{"output": "found"}]
    assert list(tmp_path.iterdir()) == []


async def test_a_payment_does_not_run_while_another_program_holds_its_claim_and_records_nothing(
    tmp_path: Path,
) -> None:
    keys = {name: call_key("test", name, args) for name, args in (("pay", {"amount": 40}), ("report", {"pages": 2}))}
    claims = [claim_call(tmp_path, key or "") for key in keys.values()]
    async with talk(payer(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("pay", amount=40)
        await t.calls("report", pages=2)
        await t.passes(2.0)
        assert (RAN, answers(t)) == ([], [])
        await t.passes(1.0)
        assert RAN == [2]
        assert "was not run" in answers(t)[0]["error"]
    for claim in claims:
        assert claim is not None
        claim.release()


async def test_a_payment_does_not_run_where_the_records_do_not_tell(
    tmp_path: Path, elsewhere: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(store: TaskStore, key: str) -> None:
        raise HarnessError("tasks cannot be read: Input/output error")

    monkeypatch.setattr(TaskStore, "running_with", refuses)
    async with talk(payer(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("pay", amount=40)
        await t.calls("report", pages=2)
        await t.passes(1.0)
        assert RAN == [2]
        assert "was not run" in answers(t)[0]["error"]


async def test_without_records_a_call_opens_none(tmp_path: Path) -> None:
    async with talk(payer(), harness=on_virtual_time(tmp_path / "root")) as t:
        await t.calls("tip", amount=1)
        assert RAN == [1]
    assert list(tmp_path.iterdir()) == []


def test_the_key_of_a_call_does_not_tell_a_secret() -> None:
    assert call_key("test", "pay", {"note": "AIza" + "B" * 35}) is None
    assert call_key("test", "pay", {"a": 1, "b": 2}) == call_key("test", "pay", {"b": 2, "a": 1})
    assert call_key("test", "pay", {"a": 1}) != call_key("other", "pay", {"a": 1})


async def test_a_call_that_the_server_repeats_to_the_next_engine_is_answered_and_not_run_again() -> None:
    store = first_engine()
    async with talk(payer(), own_store=store) as t:
        await t.hears("a tip of five")
        await t.calls("tip", amount=5)
        found = next_engine(t, store)
    assert RAN == [5]
    async with talk(payer(), own_store=found) as t:
        await t.calls("tip", amount=5)  # with the id of the first, "c1"
        await t.rests()
        assert RAN == [5]
        assert t.sent("answer") == [("answer", "c1", {"output": "given"})]


async def test_a_call_that_was_running_when_the_engine_died_is_answered_as_interrupted_when_it_is_repeated() -> None:
    store = first_engine()
    async with talk(payer(), own_store=store) as t:
        await t.hears("pay forty")
        await t.calls("pay", amount=40)
        found = next_engine(t, store)
    async with talk(payer(), own_store=found) as t:
        await t.calls("pay", amount=40)
        await t.passes(6.0)
        assert RAN == [40]
        assert any("not known what it has done" in answer["error"] for answer in answers(t))


async def test_calls_without_an_id_run_in_the_next_engine() -> None:
    store = first_engine()
    unnumbered = {"functionCalls": [{"name": "tip", "args": {"amount": 1}}]}
    async with talk(payer(), own_store=store) as t:
        await t.server.says(toolCall=unnumbered)
        await t.rests()
        found = next_engine(t, store)
    async with talk(payer(), own_store=found) as t:
        await t.server.says(toolCall=unnumbered)
        await t.rests()
        assert RAN == [1, 1]
