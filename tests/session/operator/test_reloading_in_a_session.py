"""Hot reload of an agent's file: changes, kept state, and broken edits."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.source import AgentSource
from gemini_live_runtime.errors import StateError
from gemini_live_runtime.session.control.hot_reload import LOOK_S

HEAD = """
from gemini_live_runtime import *
seen = []
def note(state, change):
    seen.append(change.new)
"""

PLAIN = (
    HEAD
    + """
agent = Live.builder("mine").instruction("Be brief.").state(values={"app:n": 1})
"""
)


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Writes files of an agent, each newer than the one before."""
    paths = list(sys.path)
    moment = [time.time_ns()]

    def put(text: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        moment[0] += 1_000_000
        os.utime(path, ns=(moment[0], moment[0]))
        return path

    yield put
    sys.path[:] = paths
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def source(path: Path, *, auto_reload: bool = False) -> AgentSource:
    return AgentSource(f"{path}:agent", auto_reload=auto_reload)


async def reload(t: Talk) -> str:
    """Order it; why it was refused or could not be used, "" when it was."""
    seen = len(t.stage.sink.events)
    await t.stage.session.command(cmd.Command("r", cmd.ReloadAgent()))
    await t.passes(0.1)
    told = [event.payload for event in t.stage.sink.events[seen:]]
    refused = [event.reason for event in told if isinstance(event, ev.CommandRefused)]
    problems = [event.problem for event in told if isinstance(event, ev.AgentReloaded)]
    return "".join(refused or problems)


def changed(t: Talk) -> tuple[str, ...]:
    return t.all(ev.AgentReloaded)[-1].changed


# -- what changes ----------------------------------------------------------------------------------------------------


async def test_an_edited_instruction_reaches_the_model_and_state_is_kept(write: Callable[..., Path]) -> None:
    async with talk(source(write(PLAIN))) as t:
        await t.writes(n=5)
        write(PLAIN.replace("Be brief.", "Be long."))
        assert await reload(t) == ""
        assert changed(t) == ("instruction",)
        assert t.sent("instruction") == [("instruction", "Be long.")]
        assert t.state["app:n"] == 5
        assert t.all(ev.AgentDescribed)[-1].instruction == "Be long."


PHASED = (
    HEAD
    + """
def book():
    '''Book a table.'''
    return "one"
agent = (
    Live.builder("mine")
    .phase(
        Phase("first", "One.", transitions=Transition("second", key("app:n") > 5)),
        Phase("second", "Two.", terminal=True),
    )
    .watch(Watcher(key("app:n").crossed_above(3), note, name="many"))
    .computed(ComputedVar("double", lambda s: 2 * s.get("app:n", 0), "app:n"))
    .computed(ComputedVar("old", key("app:n") > 0))
    .tools(book)
    .state(values={"app:n": 1})
)
"""
)


async def test_guards_watchers_computed_values_and_tools_are_those_of_the_edited_file(
    write: Callable[..., Path],
) -> None:
    async with talk(source(write(PHASED))) as t:
        edited = (
            PHASED.replace('key("app:n") > 5', 'key("app:n") > 50')
            .replace("crossed_above(3)", "crossed_above(2)")
            .replace("2 * s.get", "3 * s.get")
            .replace('    .computed(ComputedVar("old", key("app:n") > 0))\n', "")
            .replace('return "one"', 'return "two"')
            .replace('"app:n": 1}', '"app:n": 9, "app:new": True}')
        )
        write(edited)
        assert await reload(t) == ""
        assert changed(t) == (
            "phase first",
            "watcher many",
            "computed double",
            "computed old removed",
            "tool book",
            "initial value of app:n",
            "initial value of app:new added",
        )
        assert t.state.snapshot(["app:n", "app:new", "derived:double", "derived:old"]) == {
            "app:n": 1,
            "app:new": True,
            "derived:double": 3,
        }
        assert t.all(ev.GuardsRead)[-1].ways[0]["guard"]["text"] == "app:n > 50"
        await t.writes(n=7)
        assert t.phases == ["first"]
        assert [event.watcher for event in t.all(ev.WatcherFired)] == ["many"]
        assert sys.modules["gemini_live_agent_mine"].seen == [7]
        await t.calls("book")
        assert t.sent("answer")[-1][2] == {"output": "two"}
        await t.writes(n=70)
        assert t.phases == ["first", "second"]
        assert t.failures() == []


async def test_what_holds_already_fires_nothing_and_counts_and_mutes_are_kept(write: Callable[..., Path]) -> None:
    async with talk(source(write(PHASED))) as t:
        await t.writes(n=4)
        t.handle.mute_watcher("many")
        write(PHASED.replace("crossed_above(3), note", "crossed_above(2), note").replace("Two.", "Zwei."))
        assert await reload(t) == ""
        (status,) = t.stage.session.orchestrator.settle.watchers.status
        assert (status.fired, status.muted) == (1, True)
        assert len(t.all(ev.WatcherFired)) == 1
        assert t.all(ev.GuardsRead)[-1].phase == "first"


async def test_another_tool_is_told_to_the_model_by_a_new_connection(write: Callable[..., Path]) -> None:
    async with talk(source(write(PHASED))) as t:
        write(PHASED.replace(".tools(book)", ".tools(book, cancel)").replace("agent = (", CANCEL + "agent = ("))
        assert await reload(t) == ""
        assert changed(t) == ("tool cancel added",)
        setup = await t.connects_again()
        declared = [item["name"] for item in setup["tools"][0]["functionDeclarations"]]
        assert declared == ["book", "cancel"]
        await t.calls("cancel")
        assert t.sent("answer")[-1][2] == {"output": "cancelled"}


CANCEL = """
def cancel():
    '''Cancel it.'''
    return "cancelled"
"""

OTHERS = (
    HEAD
    + """
def rule(event, voice, state):
    return None
def facts(window):
    return {"found": 1}
def on_turn(number):
    seen.append(number)
agent = (
    Live.builder("mine")
    .instruction("Be brief.")
    .on("turn_complete", on_turn)
    .rule(ReactorRule("watchful", rule))
    .extract(FunctionExtractor(facts))
    .pattern(TemporalPattern("long", TurnCountDetector(key("app:x").is_missing(), 3), lambda: None))
)
"""
)


async def test_extractors_rules_callbacks_and_patterns_are_those_of_the_edited_file(write: Callable[..., Path]) -> None:
    async with talk(source(write(OTHERS))) as t:
        await t.turn()
        await t.turn()
        write(
            OTHERS.replace('"found": 1', '"found": 2')
            .replace("seen.append(number)", "seen.append(-number)")
            .replace("    return None", "    seen.append('rule')")
            .replace("lambda: None", "lambda: seen.append('pattern')")
        )
        assert await reload(t) == ""
        assert set(changed(t)) == {"extractor facts", "rule watchful", "on_turn_complete", "pattern long"}
        await t.turn()
        assert t.state["app:found"] == 2
        seen = sys.modules["gemini_live_agent_mine"].seen
        assert -3 in seen
        assert "rule" in seen
        # The pattern goes on from the two turns it has seen.
        assert "pattern" in seen


async def test_what_the_edited_file_is_the_first_to_have_works_at_once(write: Callable[..., Path]) -> None:
    more = """
def rule(event, voice, state):
    if type(event).__name__ == "TimerTick":
        seen.append("tick")
    return None
agent = (
    agent.rule(ReactorRule("watchful", rule))
    .watch(Watcher(key("session:is_user_speaking").became_true(), note))
    .state(StateKey("app:n", int))
    .pattern(TemporalPattern("long", SustainedDetector(key("app:x").is_missing(), 3), lambda: seen.append("long")))
)
"""

    async with talk(source(write(PLAIN))) as t:
        write(PLAIN + more)
        assert await reload(t) == ""
        seen = sys.modules["gemini_live_agent_mine"].seen
        await t.voice(True)
        assert seen == [True]
        await t.passes(1)
        assert "tick" in seen
        with pytest.raises(StateError, match="app:n cannot be 'x'"):
            t.state.set("app:n", "x")
        # It has been shown the state when that changed last.
        await t.writes(y=1)
        await t.passes(4)
        assert "long" in seen
        write(PLAIN)
        assert await reload(t) == ""
        t.state.set("app:n", "x")


async def test_a_module_beside_the_agent_is_read_again_with_it(write: Callable[..., Path]) -> None:
    write("WORDS = 'One.'\n", "words_beside.py")
    main = write(HEAD + "from words_beside import WORDS\nagent = Live.builder('mine').instruction(WORDS)\n")

    async with talk(source(main)) as t:
        write("WORDS = 'Two.'\n", "words_beside.py")
        assert await reload(t) == ""
        assert t.sent("instruction") == [("instruction", "Two.")]


async def test_a_module_that_a_function_has_imported_later_is_read_again_too(write: Callable[..., Path]) -> None:
    write("WORDS = 'one'\n", "words_later.py")
    main = (
        HEAD
        + """
def say():
    '''Say it.'''
    from words_later import WORDS
    return WORDS
agent = Live.builder("mine").instruction("Be brief.").tools(say)
"""
    )

    async with talk(source(write(main))) as t:
        await t.calls("say")
        write("WORDS = 'two'\n", "words_later.py")
        write(main + "# edited\n")
        await t.ends()
        assert await reload(t) == ""
        await t.calls("say")
        assert [answer[2]["output"] for answer in t.sent("answer")] == ["one", "two"]


async def test_an_agent_in_a_package_is_read_again_by_its_name(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("", "shop_of_test/__init__.py")
    write("TEXT = 'One.'\n", "shop_of_test/texts.py")
    body = (
        "from gemini_live_runtime import Live\nfrom .texts import TEXT\nagent = Live.builder('x').instruction(TEXT)\n"
    )
    main = write(body, "shop_of_test/main.py")
    monkeypatch.syspath_prepend(main.parent.parent)

    async with talk(AgentSource("shop_of_test.main:agent")) as t:
        write("TEXT = 'Two.'\n", "shop_of_test/texts.py")
        assert await reload(t) == ""
        assert t.sent("instruction") == [("instruction", "Two.")]


async def test_what_cannot_change_in_mid_session_is_named_and_stays(write: Callable[..., Path]) -> None:
    async with talk(source(write(PLAIN))) as t:
        write(PLAIN.replace('"Be brief.")', '"Be brief.").model("other").greeting("Say hello.")'))
        assert await reload(t) == ""
        assert changed(t) == ("model (from the next session)", "greeting (from the next session)")
        assert t.stage.session.orchestrator.agent.plan.definition.greeting == ""


async def test_the_operators_instruction_stays_unless_the_files_was_edited(write: Callable[..., Path]) -> None:
    async with talk(source(write(PLAIN))) as t:
        await t.stage.session.command(cmd.Command("i", cmd.SetInstruction(text="Be kind.")))
        await t.rests()
        write(PLAIN + "# edited\n")
        assert await reload(t) == ""
        assert changed(t) == ()
        assert t.stage.session.orchestrator.agent.plan.definition.instruction == "Be kind."
        write(PLAIN.replace("Be brief.", "Be bold."))
        assert await reload(t) == ""
        assert t.sent("instruction")[-1] == ("instruction", "Be bold.")


# -- what is broken --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def (:\n", "mine.py"),
        (HEAD + "agent = 1 / 0\n", "(mine.py:6): ZeroDivisionError"),
        (HEAD + "raise SystemExit(3)\n", "(mine.py:6): SystemExit"),
        (HEAD, "has no 'agent'"),
        (HEAD + "agent = 3\n", "is a int, not an Agent"),
        (HEAD + "import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found'"),
        (HEAD + "agent = Live.builder('x')\n", "has no instruction"),
        (PHASED.replace('Transition("second"', 'Transition("third"'), "third"),
        (PHASED.replace('"first"', '"begin"'), "is in phase first, which this agent does not have"),
        (PLAIN, "has no phases any more"),
    ],
    ids=[
        "syntax",
        "raises",
        "exits",
        "no-agent",
        "not-an-agent",
        "no-module",
        "unusable",
        "no-such-phase",
        "phase-gone",
        "no-phases",
    ],
)
async def test_a_broken_file_is_told_and_the_agent_goes_on_as_it_was(
    write: Callable[..., Path], text: str, said: str
) -> None:
    async with talk(source(write(PHASED))) as t:
        module = sys.modules["gemini_live_agent_mine"]
        plan = t.stage.session.orchestrator.agent.plan
        described = len(t.all(ev.AgentDescribed))
        write(text)
        assert said in await reload(t)
        assert len(t.all(ev.AgentReloaded)) == 1
        assert t.all(ev.AgentReloaded)[0].path.endswith("mine.py")
        assert t.stage.session.orchestrator.agent.plan is plan
        assert sys.modules["gemini_live_agent_mine"] is module
        assert len(t.all(ev.AgentDescribed)) == described
        await t.writes(n=4)
        assert module.seen == [4]
        # Mended, it is taken.
        write(PHASED.replace("One.", "Uno."))
        assert await reload(t) == ""
        assert changed(t) == ("phase first",)


async def test_what_a_broken_file_has_imported_is_forgotten(write: Callable[..., Path]) -> None:
    write("X = 1\n", "beside_one.py")
    main = write(HEAD + "import beside_one\nagent = Live.builder('x').instruction('One.')\n")

    async with talk(source(main)) as t:
        kept = sys.modules["beside_one"]
        write("X = 2\n", "beside_one.py")
        write("Y = 1\n", "beside_two.py")
        write(HEAD + "import beside_one, beside_two\n1 / 0\n")
        assert "ZeroDivisionError" in await reload(t)
        assert sys.modules["beside_one"] is kept
        assert "beside_two" not in sys.modules


async def test_an_agent_that_was_not_read_from_a_file_cannot_be_read_again() -> None:
    async with talk(agent()) as t:
        assert await reload(t) == "Agent test was not read from a file. Talk to your own: run FILE.py:ATTR."


# -- when ------------------------------------------------------------------------------------------------------------


async def test_an_order_in_a_turn_waits_for_its_end(write: Callable[..., Path]) -> None:
    async with talk(source(write(PLAIN))) as t:
        write(PLAIN.replace("Be brief.", "Be long."))
        await t.hears("hello")
        module = sys.modules["gemini_live_agent_mine"]
        assert await reload(t) == ""
        assert t.all(ev.AgentReloaded) == []
        # Importing takes the time of those who speak.
        assert sys.modules["gemini_live_agent_mine"] is module
        await t.says("fine")
        await t.ends()
        await t.passes(0.1)
        assert changed(t) == ("instruction",)


async def test_a_watched_file_is_looked_at_when_a_turn_ends_and_while_nobody_talks(write: Callable[..., Path]) -> None:
    async with talk(source(write(PLAIN), auto_reload=True)) as t:
        await t.passes(5 * LOOK_S)
        assert t.all(ev.AgentReloaded) == []
        await t.hears("hello")
        write(PLAIN.replace("Be brief.", "Be long."))
        module = sys.modules["gemini_live_agent_mine"]
        await t.passes(5 * LOOK_S)
        assert t.all(ev.AgentReloaded) == []
        assert sys.modules["gemini_live_agent_mine"] is module
        await t.says("fine")
        await t.ends()
        await t.passes(0.1)
        assert len(t.all(ev.AgentReloaded)) == 1
        write(PLAIN.replace("Be brief.", "1 / 0"))
        write("1 / 0\n")
        await t.passes(3 * LOOK_S)
        # A broken file is told once, not again and again.
        assert [bool(event.problem) for event in t.all(ev.AgentReloaded)] == [False, True]
        write(PLAIN)
        await t.passes(2 * LOOK_S)
        assert changed(t) == ("instruction",)


async def test_a_file_that_is_not_watched_is_left_alone(write: Callable[..., Path]) -> None:
    async with talk(source(write(PLAIN))) as t:
        write(PLAIN.replace("Be brief.", "Be long."))
        await t.turn()
        await t.passes(5 * LOOK_S)
        assert t.all(ev.AgentReloaded) == []


async def test_a_call_under_way_ends_with_the_code_it_began_with(write: Callable[..., Path]) -> None:
    slow = (
        HEAD
        + """
import asyncio
async def wait():
    '''Wait.'''
    await asyncio.sleep(5)
    return "old"
agent = Live.builder("mine").instruction("Be brief.").tools(tool(blocking=False)(wait))
"""
    )

    async with talk(source(write(slow))) as t:
        await t.calls("wait")
        write(slow.replace('"old"', '"new"'))
        await t.ends()
        assert await reload(t) == ""
        await t.passes(10)
        assert [answer[2]["output"] for answer in t.sent("answer")] == ["old"]
        await t.calls("wait")
        await t.passes(10)
        assert [answer[2]["output"] for answer in t.sent("answer")] == ["old", "new"]


async def test_a_file_is_not_reloaded_over_another_agent_that_has_taken_over(write: Callable[..., Path]) -> None:
    path = write(PLAIN)
    async with talk(source(path)) as t:
        t.stage.session.agent_session.update_agent(agent())
        await t.rests()
        write(PLAIN.replace("Be brief.", "Be long."))
        await t.commands(cmd.ReloadAgent())
        (reloaded,) = t.all(ev.AgentReloaded)
        assert reloaded.problem.startswith("Agent test speaks now")
        assert t.stage.orchestrator.agent.plan.name == "test"
