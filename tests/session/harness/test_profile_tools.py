"""The tools that a profile enables are there for any agent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.session.harness.test_inline_tasks import begins_task, finishes, paying
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.source import AgentSource
from gemini_live_runtime.engine.assemble import make_session
from gemini_live_runtime.engine.in_process import in_process
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import AgentError, ConfigError
from gemini_live_runtime.harness.memory import MemoryWrite
from gemini_live_runtime.harness.profile import TOOL_SETS, Profile, ProfileTools
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.definition.harness_tools import _ENABLE, DEFAULT_SCOPE

NAMES = {
    "tasks": ["task_list", "task_get", "task_cancel"],
    "memory": ["memory_put", "memory_get", "memory_list", "memory_delete", "memory_search"],
    "timer": ["timer", "list_timers", "cancel_timer"],
    "notify": ["notify"],
    "workspace": ["list_files", "read_file"],
}


@tool
def greet() -> str:
    """Greet."""
    return "hello"


def names(of: Live, **tools: Any) -> list[str]:
    return [one.name for one in of.plan().with_profile(ProfileTools(**tools)).declared]


def test_every_set_that_a_profile_may_name_is_known() -> None:
    assert set(TOOL_SETS) == set(NAMES) == set(_ENABLE)


@pytest.mark.parametrize("enabled", TOOL_SETS)
def test_an_enabled_set_comes_behind_the_agents_own_tools(enabled: str) -> None:
    more = {"folders": {"notes": "/notes"}} if enabled == "workspace" else {}
    assert names(agent().tools(greet), enabled=(enabled,), **more) == ["greet", *NAMES[enabled]]


def test_nothing_is_enabled_by_folders_and_programs_alone() -> None:
    assert names(agent(), folders={"notes": "/notes"}, programs={"ls": ("ls",)}) == []


def test_a_set_that_the_agent_has_is_not_added_twice() -> None:
    of = agent().timer_tools().memory("hotel")
    assert names(of, enabled=("timer", "memory")) == [*NAMES["memory"], *NAMES["timer"]]


def test_it_is_the_same_when_it_is_applied_again() -> None:
    tools = ProfileTools(enabled=TOOL_SETS, folders={"notes": "/notes"}, programs={"ls": ("ls",)})
    once = agent().tools(greet).plan().with_profile(tools)
    twice = once.with_profile(tools)
    assert [one.name for one in once.declared] == [one.name for one in twice.declared]
    assert once.definition == twice.definition


def test_an_agent_without_memory_gets_one_scope_and_one_with_memory_keeps_its_own() -> None:
    tools = ProfileTools(enabled=("memory",))
    assert agent().plan().with_profile(tools).definition.memory_scopes == (DEFAULT_SCOPE,)
    assert agent().memory("hotel").plan().with_profile(tools).definition.memory_scopes == ("hotel",)


def test_a_set_with_a_name_of_the_agents_own_is_left_out_with_a_warning() -> None:
    @tool
    def list_timers() -> str:
        """List."""
        return ""

    plan = agent().tools(list_timers).plan().with_profile(ProfileTools(enabled=("timer", "notify")))
    assert [one.name for one in plan.declared] == ["list_timers", "notify"]
    (warning,) = plan.warnings()
    assert "'timer' are left out: the agent has its own list_timers" in warning


def test_a_workspace_without_folders_is_left_out_with_a_warning() -> None:
    plan = agent().plan().with_profile(ProfileTools(enabled=("workspace",)))
    assert plan.declared == ()
    assert "tools.folders is empty" in plan.warnings()[0]


def test_folders_of_the_profile_go_before_those_of_the_agent_of_the_same_name() -> None:
    of = agent().workspace({"notes": "/agents", "more": "/more"})
    plan = of.plan().with_profile(ProfileTools(enabled=("workspace",), folders={"notes": "/mine"}))
    assert dict(plan.definition.workspace.folders) == {"notes": "/mine", "more": "/more"}


def test_a_folder_with_a_path_without_end_is_refused() -> None:
    with pytest.raises(AgentError, match="no path"):
        agent().workspace({"notes": "/" + "a" * 4096}).plan()


def test_a_program_that_cannot_be_is_a_sentence() -> None:
    tools = ProfileTools(enabled=("workspace",), folders={"a": "/a"}, programs={"x": ("{args}",)})
    with pytest.raises(ConfigError, match="tools of the profile: The program 'x' has to begin with a program"):
        agent().plan().with_profile(tools)


AGENTS = '''
from gemini_live_runtime import Live, tool
from gemini_live_runtime import events as ev

second = Live.builder("second").instruction("Be second.")

@tool
def hand_over():
    """Hand over."""
    return second

agent = Live.builder("first").instruction("Be first.").tools(hand_over)
'''


async def test_an_agent_that_takes_over_gets_them_too(tmp_path: Path) -> None:
    (tmp_path / "two_agents.py").write_text(AGENTS)
    of = AgentSource(f"{tmp_path / 'two_agents.py'}:agent", tools=ProfileTools(enabled=("notify",)))
    async with talk(of) as t:
        declared = [one["name"] for part in t.setup["tools"] for one in part["functionDeclarations"]]
        assert declared == ["hand_over", "notify"]
        await t.calls("hand_over")
        await t.connects_again()
        plan = t.stage.session.orchestrator.agent.plan
        assert (plan.name, [one.name for one in plan.declared]) == ("second", ["notify"])


def declared(t: Talk) -> list[str]:
    return [one.name for one in t.stage.session.orchestrator.agent.plan.declared]


async def test_tools_that_the_profile_enables_in_a_session_are_declared_with_another_connection() -> None:
    async with talk(agent().tools(greet)) as t:
        assert await t.commands(cmd.SetProfileTools(enabled=("notify", "tasks"))) == ""
        setup = await t.connects_again()
        names = [one["name"] for part in setup["tools"] for one in part["functionDeclarations"]]
        assert names == ["greet", "task_list", "task_get", "task_cancel", "notify"]
        await t.calls("notify", title="call Ada")
        assert "queued" in t.sent("answer")[0][2]


async def test_tools_that_the_profile_no_longer_enables_are_gone_and_the_agents_own_stay() -> None:
    async with talk(agent().tools(greet).timer_tools()) as t:
        await t.commands(cmd.SetProfileTools(enabled=("notify", "timer")))
        await t.connects_again()
        await t.commands(cmd.SetProfileTools())
        await t.connects_again()
        assert declared(t) == ["greet", "timer", "list_timers", "cancel_timer"]


async def test_tools_of_the_profile_stay_when_the_agents_own_are_replaced() -> None:
    async with talk(agent().tools(greet)) as t:
        await t.commands(cmd.SetProfileTools(enabled=("notify",)))
        await t.connects_again()
        t.stage.session.agent_session.update_tools([])
        await t.connects_again()
        assert declared(t) == ["notify"]
        await t.commands(cmd.SetProfileTools())
        await t.connects_again()
        assert declared(t) == []


async def test_memory_that_the_profile_enables_in_a_session_is_read(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        harness.memory.put(MemoryWrite(scope="user", key="name", value="Ada"))
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        await t.commands(cmd.SetProfileTools(enabled=("memory",)))
        await t.connects_again()
        await t.passes(1.0)
        assert t.state.get_raw("session:memory:user")[0]["value"] == "Ada"


async def test_an_agent_that_takes_over_later_gets_what_the_profile_enables_now(tmp_path: Path) -> None:
    (tmp_path / "two_agents.py").write_text(AGENTS)
    async with talk(AgentSource(f"{tmp_path / 'two_agents.py'}:agent")) as t:
        await t.commands(cmd.SetProfileTools(enabled=("notify",)))
        await t.connects_again()
        await t.calls("hand_over")
        await t.connects_again()
        assert declared(t) == ["notify"]


async def test_an_agent_that_waited_for_a_task_gets_what_the_profile_enables_now() -> None:
    async with talk(paying()) as t:
        await begins_task(t)
        await t.commands(cmd.SetProfileTools(enabled=("notify",)))
        await t.connects_again()
        assert "notify" in declared(t)
        await finishes(t, "give_card", number="1")
        assert t.stage.session.orchestrator.agent.plan.name == "test"
        assert "notify" in declared(t)


@pytest.mark.parametrize(
    ("order", "fault"),
    [
        (cmd.SetProfileTools(enabled=("shell",)), "which is no set of tools"),
        (cmd.SetProfileTools(enabled=("workspace",), folders={"a": "notes"}), "must begin with /"),
        (cmd.SetProfileTools(programs={"x": ()}), "must have the program"),
    ],
)
async def test_tools_of_a_profile_that_cannot_be_are_refused(order: cmd.SetProfileTools, fault: str) -> None:
    async with talk(agent().tools(greet)) as t:
        assert fault in await t.commands(order)
        assert declared(t) == ["greet"]


def test_programs_of_the_profile_run_in_its_first_folder(tmp_path: Path) -> None:
    tools = ProfileTools(
        enabled=("workspace",), folders={"work": str(tmp_path)}, programs={"python": (sys.executable, "--version")}
    )
    (run_program,) = [one for one in agent().plan().with_profile(tools).declared if one.name == "run_program"]
    assert run_program.always_asks
    assert run_program.explain is not None
    assert f"in {tmp_path}: {sys.executable} --version" in run_program.explain({"program": "python"})


@pytest.mark.parametrize("bundled", [True, False])
async def test_the_profile_of_an_engine_adds_its_tools(tmp_path: Path, bundled: bool) -> None:
    file = tmp_path / "plain_agent.py"
    file.write_text(AGENTS)
    spec = EngineSpec(
        session_id="s1",
        agent="clinic" if bundled else f"{file}:agent",
        backend="local",
        record="off",
        audio="none",
        fast=True,
        profile=Profile(tools=ProfileTools(enabled=("notify",))),
    )
    engine = in_process(spec, make_session)
    while True:
        message = await engine.link.receive()
        if isinstance(message, ev.Event) and isinstance(message.payload, ev.SessionStarted):
            break
    assert message.payload.tools[-1] == "notify"
    assert await engine.hang_up("done") == 0
