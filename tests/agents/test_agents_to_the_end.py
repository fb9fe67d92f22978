"""Each bundled agent reaches each terminal phase, by text and by voice.

CI speaks the shortest way through each agent, `make soak` all of them.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.agents.conversation import ConversationJournal, talk_by_text, talk_by_voice
from tests.agents.walkthroughs import TAKEN_BACK, WALKTHROUGHS
from tests.support.synthetic_speech import have_voices

from gemini_live_runtime.agents.loader import BUNDLED, bundled
from gemini_live_runtime.local.language.words import split_words

ENDS = [pytest.param(agent, end, id=f"{agent}-{end}") for agent, ends in WALKTHROUGHS.items() for end in ends]
SHORTEST = {agent: min(ends, key=lambda end: len(ends[end])) for agent, ends in WALKTHROUGHS.items()}
SPOKEN = ENDS if os.environ.get("SOAK") else [pytest.param(*way, id="-".join(way)) for way in SHORTEST.items()]


@pytest.mark.parametrize(("agent", "end"), ENDS)
def test_typed_texts_reach_the_end_for_explained_reasons(agent: str, end: str) -> None:
    check(talk_by_text(agent, *WALKTHROUGHS[agent][end]), agent, end)


@pytest.mark.skipif(not have_voices(), reason="espeak-ng and flite are not installed")
@pytest.mark.skipif(
    importlib.util.find_spec("pocketsphinx") is None, reason="the recogniser is not installed (extra: local)"
)
@pytest.mark.parametrize(("agent", "end"), SPOKEN)
def test_spoken_texts_reach_the_end_for_explained_reasons(agent: str, end: str, tmp_path: Path) -> None:
    texts = WALKTHROUGHS[agent][end]
    journal = talk_by_voice(agent, tmp_path, *texts)
    assert [split_words(text) for text in journal.user_texts] == [split_words(text) for text in texts]
    check(journal, agent, end)


def test_every_end_of_every_bundled_agent_has_a_walkthrough() -> None:
    wanted = {(name, phase.name) for name in BUNDLED for phase in bundled(name).definition.phases if phase.terminal}
    assert {(agent, end) for agent, ends in WALKTHROUGHS.items() for end in ends} == wanted | TAKEN_BACK


@pytest.mark.parametrize("agent", BUNDLED)
def test_an_agent_fits_on_three_screens_and_imports_only_public_names(agent: str) -> None:
    source = resources.files("gemini_live_runtime.agents").joinpath(f"{agent}.py").read_text("utf-8")
    assert len(source.splitlines()) < 150
    ours = [line for line in source.splitlines() if line.startswith(("from gemini_live", "import gemini_live"))]
    assert ours
    assert all(line.startswith("from gemini_live_runtime import") or ".agents." in line for line in ours), ours


def check(journal: ConversationJournal, agent: str, end: str) -> None:
    """Assert that a guard with written values led to the phase `end`, without errors."""
    last = journal.all("phase.entered")[-1]
    is_last = (agent, end) not in TAKEN_BACK
    assert (last["phase"], last["terminal"], last["trigger"]) == (end, is_last, "guard"), journal.phases
    read = [item for item in reads(last["explanation"]) if item["present"]]
    assert read
    assert [item for item in read if not item["by"]] == []
    assert journal.all("code.failed") == []
    assert [notice for notice in journal.all("notice") if notice["level"] == "error"] == []
    called = [call["call_id"] for call in journal.all("tool.called")]
    assert len(set(called)) == len(called)
    assert sorted(called) == sorted(call["call_id"] for call in journal.all("tool.finished"))


def reads(explanation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the values that a guard and its parts read."""
    yield from explanation.get("reads", ())
    for child in explanation.get("children", ()):
        yield from reads(child)
