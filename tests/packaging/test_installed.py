"""Run the product as a user would, from a wheel and from a plain checkout."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec

import pytest
from tests.packaging.environments import Environment
from tests.packaging.tree import ROOT

from gemini_live_runtime import __version__
from gemini_live_runtime.vocabulary import json_schema
from gemini_live_tui.theming import theme_names

WHERE = "import gemini_live_runtime as r, gemini_live_tui as t; print(r.__file__); print(t.__file__)"
THEMES = "from gemini_live_tui.theming import theme_names; print(*theme_names())"
DEAF = """
import asyncio
from gemini_live_runtime.engine.local_server import LocalServerProcess

async def main():
    server = await LocalServerProcess.start()
    print(repr(server.deaf))
    await server.stop()

asyncio.run(main())
"""
EXTRA = re.compile(r"pip install \S+\[local\]")
SPOKEN = str(ROOT / "tests/data/speech/please_stop_talking.wav")
ASKED = ("talk", "--fast", "--text", "what is the weather in Paris", "--until-idle", "--plain")


@pytest.fixture(params=["wheel", "checkout"])
def place(request: pytest.FixtureRequest) -> Environment:
    environment: Environment = request.getfixturevalue(f"from_{request.param}")
    return environment


def run(place: Environment, *arguments: str, **variables: str) -> str:
    finished = place.run("-m", "gemini_live_tui", *arguments, **variables)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_wheel_runs_from_where_it_was_installed(from_wheel: Environment) -> None:
    for file in from_wheel.run("-c", WHERE).stdout.split():
        assert file.startswith(str(from_wheel.python.parents[1]))


def test_the_checkout_runs_without_being_installed(from_checkout: Environment) -> None:
    tui, runtime = (str(ROOT / name) for name in ("tui", "runtime"))
    first, second = from_checkout.run("-c", WHERE).stdout.split()
    assert (first.startswith(runtime), second.startswith(tui)) == (True, True)
    assert from_checkout.run("-c", "import importlib.metadata as m; m.version('gemini-live-tui')").returncode != 0


def test_the_wheel_brings_the_program(from_wheel: Environment) -> None:
    assert from_wheel.console("--version").stdout.split() == ["gemini-live-tui", __version__]


def test_it_tells_its_version(place: Environment) -> None:
    assert __version__ in run(place, "--version")


def test_it_prints_the_schema(place: Environment) -> None:
    assert json.loads(run(place, "schema")) == json_schema()


def test_it_finds_the_bundled_themes(place: Environment) -> None:
    assert place.run("-c", THEMES).stdout.split() == list(theme_names())


def test_a_text_conversation_with_the_bundled_agent(place: Environment) -> None:
    said = run(place, *ASKED)
    assert "user: what is the weather in Paris" in said
    assert "model: In " in said


def test_a_text_conversation_with_the_bundled_agent_needs_no_extra(from_wheel_alone: Environment) -> None:
    assert "model: In " in run(from_wheel_alone, *ASKED)


def test_speaking_without_the_extra_names_the_extra(from_wheel_alone: Environment) -> None:
    said = run(from_wheel_alone, "talk", "--fast", "--mic", SPOKEN, "--until-idle")
    assert EXTRA.search(said)


def test_the_server_announces_beforehand_that_it_has_no_recogniser(from_wheel_alone: Environment) -> None:
    assert EXTRA.search(from_wheel_alone.run("-c", DEAF).stdout)


@pytest.mark.skipif(find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)")
def test_the_server_of_a_console_hears_with_the_extra(from_wheel: Environment) -> None:
    assert from_wheel.run("-c", DEAF).stdout.strip() == "''"
