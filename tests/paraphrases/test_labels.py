"""The sentences' labels name calls and state keys that their agents have.

A failure tells the numbers of lines: it shows no sentence that is held back.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from tests.paraphrases.measuring import FOLDER, NAMES, read

from gemini_live_runtime.agents.catalogue import CATALOGUE
from gemini_live_runtime.agents.loader import bundled

FIELDS = {"agent", "before", "say", "speakable"}
OUTCOMES = {"call", "state", "asks", "answers", "refuses"}


NAMED = pytest.mark.parametrize("name", NAMES)


def test_every_file_is_measured() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == set(NAMES)


@NAMED
def test_a_file_has_as_many_sentences_for_each_agent(name: str) -> None:
    special = {"-6": 25, "-7": 15, "-8": 10, "-9": 15, "-10": 8, "-11": 10, "-12": 15, "-13": 10}
    each = special.get(name[name.find("-") :], 20)
    assert Counter(line["agent"] for line in read(name)) == {agent.name: each for agent in CATALOGUE}


@NAMED
def test_every_sentence_has_an_outcome(name: str) -> None:
    assert [at for at, line in enumerate(read(name), 1) if not all(map(_is_outcome, _outcomes(line)))] == []


@NAMED
def test_a_label_has_only_calls_that_its_agent_can_make(name: str) -> None:
    assert [at for at, agent, outcome in _labels(name) if not _can_be_called(agent, outcome.get("call"))] == []


@NAMED
def test_a_label_has_only_state_keys_that_its_agent_fills(name: str) -> None:
    assert [at for at, agent, outcome in _labels(name) if not outcome.get("state", {}).keys() <= _keys(agent)] == []


def _outcomes(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the outcomes of a line, one or those of `any`."""
    return [{key: line[key] for key in line.keys() - FIELDS}] if "any" not in line else line["any"]


def _labels(name: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for at, line in enumerate(read(name), 1):
        for outcome in _outcomes(line):
            yield at, line["agent"], outcome


def _is_outcome(outcome: Mapping[str, Any]) -> bool:
    return bool(outcome) and outcome.keys() <= OUTCOMES


def _can_be_called(agent: str, call: Mapping[str, Any] | None) -> bool:
    if call is None:
        return True
    parameters = _tools(agent).get(call["tool"])
    return parameters is not None and call["args"].keys() <= parameters.keys()


@cache
def _tools(agent: str) -> dict[str, Mapping[str, Any]]:
    """Return the parameters of an agent's tools by name."""
    return {tool.name: tool.parameters["properties"] for tool in bundled(agent).declared}


@cache
def _keys(agent: str) -> set[str]:
    """Return the state keys that an agent's extractors or its module name."""
    promoted = {one.key for extractor in bundled(agent).definition.extractors for one in extractor.promotions}
    source = inspect.getsource(importlib.import_module(f"gemini_live_runtime.agents.{agent}"))
    parts = re.findall(r"^from (gemini_live_runtime\.agents\.\w+) import", source, re.MULTILINE)
    source += "".join(inspect.getsource(importlib.import_module(part)) for part in parts)
    return {"session:phase"} | promoted | set(re.findall(r'"((?:app|user|turn):\w+)"', source))
