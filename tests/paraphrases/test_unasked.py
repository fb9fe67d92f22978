"""Sentences that only speak of what an agent can do lead to no call.

CI types every fifth sentence, `make soak` all of them. They are answered by the dialogue alone, without a session.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from tests.paraphrases.measuring import FOLDER, fits

from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.scripts.script import bundled_script

STRIDE = 1 if os.environ.get("SOAK") else 5
GROUPS = [
    group
    for name in ("unasked", "unasked-2", "unasked-3")
    for group in tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))["group"]
]


def dialogue_of(group: Mapping[str, Any]) -> ScriptedDialogue:
    """Return the dialogue of an agent in a phase, after what is said before."""
    script = bundled_script(group["agent"])
    dialogue = ScriptedDialogue(script)
    dialogue.declare({call.tool: {} for intent in script.intents for call in intent.calls})
    dialogue.instruct(group["during"])
    dialogue.prompt()
    for text in group.get("before", ()):
        if calls := dialogue.respond(text, typed=True).calls:
            dialogue.results([(call, {"order": "2 soup, 1 coffee", "total": "15 dollars"}) for call in calls])
    return dialogue


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group['agent']}: {group['during'][:20]}")
def test_a_sentence_that_asks_for_nothing_leads_to_no_call(group: Mapping[str, Any]) -> None:
    said = group["say"][::STRIDE]
    assert [text for text in said if dialogue_of(group).respond(text, typed=True).calls] == []


@pytest.mark.parametrize(
    "group",
    [group for group in GROUPS if "meant" in group],
    ids=lambda group: f"{group['agent']}: {group['during'][:20]}",
)
def test_a_correction_leads_to_what_was_meant_or_to_no_call(group: Mapping[str, Any]) -> None:
    wrong = [
        one["say"]
        for one in group["meant"]
        for call in dialogue_of(group).respond(one["say"], typed=True).calls
        if call.name != one["tool"] or not fits(one["args"], call.args)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "group", [group for group in GROUPS if group.get("before")], ids=lambda group: group["before"][0]
)
def test_what_is_said_before_leads_to_a_call(group: Mapping[str, Any]) -> None:
    before = dict(group)
    *rest, last = before.pop("before")
    assert dialogue_of({**before, "before": rest}).respond(last, typed=True).calls
