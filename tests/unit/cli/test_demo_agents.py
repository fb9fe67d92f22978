"""`demo` lists the bundled agents."""

from __future__ import annotations

import pytest
from tests.support.command_line import run

from gemini_live_runtime.agents.loader import BUNDLED
from gemini_live_tui.cli.start import demo


def test_the_help_lists_every_bundled_agent_with_its_sentence() -> None:
    shown = " ".join(run("demo", "--help").out.split())
    for name, sentence in BUNDLED.items():
        assert f"{name} {sentence}" in shown


@pytest.mark.parametrize("begun", ["", "cli", "tech_"])
def test_a_name_that_was_begun_is_completed(begun: str) -> None:
    (argument,) = [parameter for parameter in demo.params if parameter.name == "agent"]
    found = [item.value for item in argument.shell_complete(demo.make_context("demo", []), begun)]
    assert found == [name for name in BUNDLED if name.startswith(begun)]
