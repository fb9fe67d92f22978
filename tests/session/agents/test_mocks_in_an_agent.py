"""Objects that say to be of another class, as mocks and proxies do."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from tests.session.talking import agent, talk, two_phases

from gemini_live_runtime import (
    ComputedVar,
    ContextBuilder,
    FunctionExtractor,
    InstructionModifier,
    Live,
    ReactorRule,
    State,
    Watcher,
    key,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import StateError


@pytest.mark.parametrize("kind", [str, dict, list, int, float, tuple, bool])
def test_a_mock_is_no_value_of_the_state(kind: type) -> None:
    with pytest.raises(StateError, match="app:x cannot be a Mock"):
        State().set("app:x", Mock(spec=kind))


def test_a_mock_is_no_name_of_a_key() -> None:
    with pytest.raises(StateError, match="A state key is a text"):
        State().set(Mock(spec=str), 1)


async def test_code_that_uses_a_mock_of_a_text_passes_the_plan() -> None:
    words: Any = Mock(spec=str)
    async with talk(agent().phase(*two_phases(lambda state: words.islower.called))) as t:
        await t.turn()
        assert (t.phases, t.failures()) == (["first"], [])


MOCK: Any = Mock(spec=str)
TELLING: dict[str, Live] = {
    "an instruction": agent().phase(*two_phases(True, lambda state: MOCK)),
    "a modifier": agent().in_every_phase(InstructionModifier.custom(lambda state: MOCK)),
    "an amendment": agent().on("instruction_amendment", lambda state: MOCK),
    "a template": agent().on("instruction_template", lambda state: MOCK),
}


@pytest.mark.parametrize("what", TELLING)
async def test_a_mock_in_place_of_an_instruction_is_reported(what: str) -> None:
    async with talk(TELLING[what]) as t:
        await t.turn()
        assert "Mock" in t.failures()[0].error
        assert t.state["session:turn_count"] == 1


class Proxy:
    """Proxy of an object that does not exist, as libraries have them."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise RuntimeError("Working outside of a request")


PROXY: Any = Proxy()
RETURNING: dict[str, Live] = {
    **{f"on_{name}": agent().on(name, lambda *args: PROXY) for name in ("turn_complete", "turn_boundary")},
    "an amendment": agent().on("instruction_amendment", lambda state: PROXY),
    "a template": agent().on("instruction_template", lambda state: PROXY),
    "an instruction": agent().phase(*two_phases(True, lambda state: PROXY)),
    "a guard": agent().phase(*two_phases(lambda state: PROXY)),
    "on_enter": agent().phase(*two_phases(True, on_enter=lambda: PROXY)),
    "on_enter_context": agent().phase(*two_phases(True, on_enter_context=lambda: PROXY)),
    "a watcher": agent().watch(Watcher(key("app:x").changed(), lambda: PROXY, blocking=True)),
    "a computed value": agent().computed(ComputedVar("n", lambda state: PROXY, "app:x")),
    "an extractor": agent().extract(FunctionExtractor(lambda window: PROXY)),
    "a rule": agent().rule(ReactorRule("r", lambda event, voice, state: PROXY)),
}


@pytest.mark.parametrize("what", RETURNING)
async def test_a_proxy_that_functions_return_ends_no_step(what: str) -> None:
    async with talk(RETURNING[what]) as t:
        await t.writes(x=1)
        await t.turn()
        assert [fault for fault in t.failures() if fault.where.startswith("step")] == []
        assert [notice for notice in t.all(ev.Notice) if notice.code == "internal"] == []
        assert t.state["session:turn_count"] == 1


async def test_a_proxy_as_a_tools_result_is_answered_as_an_error() -> None:
    @tool
    def find() -> Any:
        """Find."""
        return PROXY

    async with talk(agent().tools(find)) as t:
        await t.hears("find")
        await t.calls("find")
        ((_, _, answer),) = t.sent("answer")
        assert "error" in answer


async def test_a_mock_in_place_of_a_formatted_value_is_told_as_it_is_printed() -> None:
    shown = ContextBuilder().section("X").format("app:x", lambda value: MOCK)
    async with talk(agent().state(values={"app:x": 1}).in_every_phase(shown.as_modifier())) as t:
        await t.turn()
        assert t.failures() == []
