"""Test loading agents, and the errors for missing ones."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import sys
from pathlib import Path

import pytest

from gemini_live_runtime.agents.loader import MAX_SOURCE_BYTES, load_agent
from gemini_live_runtime.errors import AgentError, GeminiLiveError

AGENT = """
from gemini_live_runtime import Agent, tool

@tool
def add(a: int, b: int) -> int:
    "Add."
    return a + b

agent = Agent(name="adder", instruction="Add numbers.", tools=[add])

def make():
    return Agent(name="made", instruction="x")

number = 3
"""


@pytest.fixture
def agent_file(tmp_path: Path) -> Path:
    path = tmp_path / "my_agent.py"
    path.write_text(AGENT)
    return path


def test_a_bundled_agent_is_found_by_name() -> None:
    assert load_agent("concierge").name == "concierge"


@pytest.mark.parametrize("spelled", ["debt-collection", "Debt_Collection", "DEBTCOLLECTION", "debt collection"])
def test_a_bundled_agent_is_found_however_its_name_is_spelled(spelled: str) -> None:
    assert load_agent(spelled).name == "debt_collection"


def test_an_agent_in_a_file_is_found(agent_file: Path) -> None:
    agent = load_agent(f"{agent_file}:agent")
    assert [declared.name for declared in agent.declared] == ["add"]


def test_a_function_that_makes_an_agent_is_called(agent_file: Path) -> None:
    assert load_agent(f"{agent_file}:make").name == "made"


@pytest.mark.skipif(os.name != "posix", reason="named pipes are POSIX")
def test_a_pipe_or_a_folder_is_no_agents_file_and_is_called_so(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    for name in ("pipe.py", "folder.py"):
        with pytest.raises(AgentError, match="is no regular file"):
            load_agent(f"{tmp_path / name}:agent")


def test_a_file_too_large_to_be_an_agent_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big.py").open("wb") as file:
        file.truncate(MAX_SOURCE_BYTES + 1)
    with pytest.raises(AgentError, match="is above 16 MiB"):
        load_agent(f"{tmp_path / 'big.py'}:agent")


def test_an_agent_in_a_module_is_found(agent_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(agent_file.parent))
    assert load_agent("my_agent:agent").name == "adder"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("concirge", ["Did you mean concierge"]),
        ("nowhere.py:agent", ["There is no file nowhere.py"]),
        ("no_such_module:agent", ["There is no module no_such_module"]),
        ("{file}:missing", ["missing", "agent"]),
        ("{file}:number", ["int", "not an Agent"]),
    ],
)
def test_what_cannot_be_found_is_said_with_a_remedy(agent_file: Path, reference: str, words: list[str]) -> None:
    with pytest.raises(AgentError) as caught:
        load_agent(reference.replace("{file}", str(agent_file)))
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1/0", ["broken.py:1)", "ZeroDivisionError"]),
        ("x = (", ["SyntaxError"]),
        ("import not_installed_anywhere", ["not_installed_anywhere"]),
        ("raise SystemExit(3)", ["SystemExit"]),
        ("from gemini_live_runtime import Agent\nagent = Agent(name='', instruction='x')", ["has no name"]),
        ("from gemini_live_runtime import StateKey\nbook = StateKey('', str)", ["broken.py:2: "]),
        ("from gemini_live_runtime import key\n\nboth = (key('a') == 1) and (key('b') == 2)", ["broken.py:3"]),
        ("import json\njson.loads('{')", ["broken.py:2)", "JSONDecodeError"]),
    ],
)
def test_a_file_that_fails_is_said_in_one_sentence(tmp_path: Path, source: str, words: list[str]) -> None:
    path = tmp_path / "broken.py"
    path.write_text(source)
    with pytest.raises(GeminiLiveError) as caught:
        load_agent(f"{path}:agent")
    assert all(word in str(caught.value) for word in words)
    assert "\n" not in str(caught.value)


def test_an_agent_with_something_that_is_no_tool_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("from gemini_live_runtime import Agent\nagent = Agent(name='a', instruction='x', tools=[3])")
    with pytest.raises(AgentError, match="not a tool"):
        load_agent(f"{path}:agent")


@pytest.mark.skipif(os.name != "posix", reason="the sticky bit is POSIX")
def test_no_module_is_imported_from_a_folder_where_every_user_may_put_files(
    agent_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = agent_file.parent
    (folder / "planted_helper.py").write_text("raise SystemExit('taken in')")
    (folder / "needs_helper.py").write_text("import planted_helper")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.chdir(folder)
    folder.chmod(0o1777)
    assert load_agent(f"{agent_file}:agent").name == "adder"
    for reference in (f"{folder}/needs_helper.py:agent", "planted_helper:agent"):
        with pytest.raises(AgentError, match=r"No module named|There is no module") as refused:
            load_agent(reference)
        assert "move the agent to one of your own" in refused.value.remedy
    folder.chmod(0o700)
    with pytest.raises(AgentError, match="taken in"):
        load_agent(f"{folder}/needs_helper.py:agent")


def test_an_agents_file_is_read_and_not_what_was_compiled_of_another(agent_file: Path) -> None:
    planted = agent_file.parent / "planted.py"
    planted.write_text("raise SystemExit('taken in')")
    cache = importlib.util.cache_from_source(str(agent_file))
    py_compile.compile(str(planted), cfile=cache, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    assert load_agent(f"{agent_file}:agent").name == "adder"
