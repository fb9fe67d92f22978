"""Each bundled agent reaches each of its terminal phases, typed and spoken, and the journal says why."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.agents.conversation import Happened, spoken, typed
from tests.agents.walkthroughs import WALKTHROUGHS
from tests.support.synthetic_speech import have_voices

from gemini_live_runtime.agents.loader import BUNDLED, bundled

WAYS = [pytest.param(agent, end, id=f"{agent}-{end}") for agent, ways in WALKTHROUGHS.items() for end in ways]


@pytest.mark.parametrize(("agent", "end"), WAYS)
def test_typed_it_gets_there_for_reasons_that_are_told(agent: str, end: str) -> None:
    check(typed(agent, *WALKTHROUGHS[agent][end]), end)


@pytest.mark.skipif(not have_voices(), reason="espeak-ng and flite are not installed")
@pytest.mark.skipif(
    importlib.util.find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)"
)
@pytest.mark.parametrize(("agent", "end"), WAYS)
def test_spoken_it_gets_there_for_reasons_that_are_told(agent: str, end: str, tmp_path: Path) -> None:
    said = WALKTHROUGHS[agent][end]
    happened = spoken(agent, tmp_path, *said)
    assert [text.lower() for text in happened.heard] == [text.lower() for text in said]
    check(happened, end)


def test_there_is_a_way_to_every_terminal_phase_of_every_bundled_agent() -> None:
    wanted = {(name, phase.name) for name in BUNDLED for phase in bundled(name).definition.phases if phase.terminal}
    assert {(agent, end) for agent, ways in WALKTHROUGHS.items() for end in ways} == wanted


@pytest.mark.parametrize("agent", BUNDLED)
def test_an_agent_fits_on_three_screens_and_imports_only_what_everybody_can(agent: str) -> None:
    source = resources.files("gemini_live_runtime.agents").joinpath(f"{agent}.py").read_text("utf-8")
    assert len(source.splitlines()) < 150
    ours = [line for line in source.splitlines() if line.startswith(("from gemini_live", "import gemini_live"))]
    assert ours
    assert all(line.startswith("from gemini_live_runtime import") or ".agents." in line for line in ours), ours


def check(happened: Happened, end: str) -> None:
    """The terminal phase was reached by a guard that read what somebody wrote, and nothing went wrong on the way."""
    last = happened.all("phase.entered")[-1]
    assert (last["phase"], last["terminal"], last["trigger"]) == (end, True, "guard"), happened.phases
    read = [item for item in reads(last["explanation"]) if item["present"]]
    assert read
    assert [item for item in read if not item["by"]] == []
    assert happened.all("code.failed") == []
    assert [notice for notice in happened.all("notice") if notice["level"] == "error"] == []
    called = [call["call_id"] for call in happened.all("tool.called")]
    assert len(set(called)) == len(called)
    assert sorted(called) == sorted(call["call_id"] for call in happened.all("tool.finished"))


def reads(explanation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a guard read, with all its parts."""
    yield from explanation.get("reads", ())
    for child in explanation.get("children", ()):
        yield from reads(child)
