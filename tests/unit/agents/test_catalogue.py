"""Test that the catalogue agrees with the agents."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gemini_live_runtime.agents.catalogue import CATALOGUE, BundledAgent
from gemini_live_runtime.agents.loader import bundled


@pytest.mark.parametrize("agent", CATALOGUE, ids=lambda agent: agent.name)
def test_the_counts_are_those_of_the_agents_code(agent: BundledAgent) -> None:
    plan = bundled(agent.name)
    definition = plan.definition
    found = (len(definition.phases), len(plan.declared), len(definition.watchers))
    assert found == (agent.phases, agent.tools, agent.watchers)


def test_looking_at_the_list_imports_no_agent() -> None:
    program = (
        "import sys; import gemini_live_runtime.agents.catalogue\n"
        "print([name for name in sys.modules if name.startswith('gemini_live_runtime.session')])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
