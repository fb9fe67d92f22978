"""Test that each bundled agent and its dialogue fit together."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, TypeVar

import pytest
from tests.agents.conversation import talk_to
from tests.agents.walkthroughs import TAKEN_BACK

from gemini_live_runtime import Phase
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.loader import BUNDLED, bundled
from gemini_live_runtime.local.dialogue.scripted import ScriptedDialogue
from gemini_live_runtime.local.language.words import folded
from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.scripts.script import bundled_script

T = TypeVar("T")

PLANS = {name: bundled(name) for name in BUNDLED}
PHASED = [name for name, plan in PLANS.items() if plan.definition.phases]
GUIDED = [name for name in PHASED if any(phase.terminal for phase in PLANS[name].definition.phases)]
"""Agents that lead through a conversation to its end; the concierge does what it is asked for, in any order."""

STATES: dict[str, list[dict[str, Any]]] = {
    "restaurant": [{}, {"app:items": {"soup": 1}}, {"app:items": {"soup": 1}, "app:paid_by": "card"}],
    "debt_collection": [{"derived:left": 100, "app:monthly": 20}],
    "clinic": [{"app:offer": f"tomorrow at {hour}"} for hour in ("nine", "eleven", "two", "four")],
}
"""States with which instructions that depend on state give each of their texts."""


class Sample(dict[str, Any]):
    """As much of a state as an instruction reads."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(getattr(key, "key", key), default)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(getattr(key, "key", key))

    def read_only(self) -> Sample:
        return self


def instructions(name: str, phase: str = "") -> list[str]:
    """Return all instructions of an agent's model, of one phase or of all."""
    definition = PLANS[name].definition
    texts = []
    for item in definition.phases:
        if phase and item.name != phase:
            continue
        modifiers = [modifier.text for modifier in (*definition.phase_defaults, *item.modifiers) if modifier.text]
        for state in STATES.get(name, [{}]):
            told = item.instruction.resolve(Sample(state))  # type: ignore[arg-type]
            texts += [f"{definition.instruction}\n{told}", *(f"{told}\n{text}" for text in modifiers)]
    return texts


def dialogue_of(name: str, instruction: str = "") -> ScriptedDialogue:
    """Return the dialogue of an agent, with its tools declared."""
    dialogue = ScriptedDialogue(bundled_script(name))
    dialogue.declare({declared.name: declared.parameters for declared in PLANS[name].declared})
    dialogue.instruct(instruction)
    return dialogue


def understood(name: str, text: str, instruction: str = "", before: str = "") -> bool:
    """Return True when `text` is understood after the model has said `before`."""
    dialogue = dialogue_of(name, instruction)
    dialogue.restore({**dialogue.snapshot(), "last_reply": before})
    return answers(name, dialogue.respond(text, typed=True))


def answers(name: str, reply: Reply) -> bool:
    """Return False when the reply says that nothing was understood."""
    return bool(reply.calls) or not reply.text.startswith(bundled_script(name).fallback.partition(". ")[0])


def is_an_end(name: str, phase: Phase) -> bool:
    """Return True for a phase that says goodbye."""
    return phase.terminal or (name, phase.name) in TAKEN_BACK


def move_to_front(scenes: list[T], fitting: T) -> None:
    """Try the scene that fitted first: the next phrase is mostly for the same."""
    scenes.remove(fitting)
    scenes.insert(0, fitting)


def all_texts(name: str) -> str:
    """Everything a dialogue may say, folded."""
    script = bundled_script(name)
    lines = [line.say for intent in script.intents for line in intent.reply]
    asked = [slot.ask for slot in script.slots.values()]
    return folded(" ".join([script.greeting, *lines, *asked, *(cue.say for cue in script.cues)]))


@pytest.mark.parametrize("name", PHASED)
def test_what_a_dialogue_waits_for_is_told_in_some_phase(name: str) -> None:
    script = bundled_script(name)
    # What is remembered of a user is told beside the instruction: a fact has the words before it.
    told = folded("\n".join([*instructions(name), *(before for before, _ in script.facts.values())]))
    wanted = {text for intent in script.intents for text in intent.during} | {
        text for cue in script.cues for text in cue.told
    }
    assert {text for text in wanted if text not in told} == set()


@pytest.mark.parametrize("name", PHASED)
def test_what_an_answer_follows_is_said_by_the_dialogue(name: str) -> None:
    script, said = bundled_script(name), all_texts(name)
    rules = [rule for rules in script.extract.values() for rule in rules]
    wanted = {text for intent in script.intents for text in intent.after} | {
        text for rule in rules for text in rule.after
    }
    assert {text for text in wanted if text not in said} == set()


@pytest.mark.parametrize("name", [*BUNDLED, "neutral"])
def test_every_intent_has_something_to_say_whatever_is_known(name: str) -> None:
    conditional = [intent.name for intent in bundled_script(name).intents if intent.reply[-1].when]
    assert conditional == []


@pytest.mark.parametrize("name", BUNDLED)
def test_every_example_and_phrase_is_understood_in_some_phase(name: str) -> None:
    phrases, told = (*bundled_script(name).examples, *PLANS[name].definition.phrases), instructions(name) or [""]
    for phrase in phrases:
        fitting = next((text for text in told if understood(name, phrase, text)), None)
        assert fitting is not None, phrase
        move_to_front(told, fitting)


@pytest.mark.parametrize("name", GUIDED)
def test_the_phrases_can_be_said_one_after_the_other_from_the_start(name: str) -> None:
    phrases = PLANS[name].definition.phrases
    assert 4 <= len(phrases) <= 6
    happened = talk_to(getattr(import_module(f"gemini_live_runtime.agents.{name}"), name)(), *phrases)
    said = [e.payload.text for e in happened.events if isinstance(e.payload, ev.TranscriptDelta)]
    lost = bundled_script(name).fallback.partition(". ")[0]
    assert lost not in "".join(said)


@pytest.mark.parametrize("name", PHASED)
def test_what_is_extracted_by_a_phrase_is_understood_by_the_dialogue(name: str) -> None:
    rules, instructed = [rule for rules in bundled_script(name).extract.values() for rule in rules], instructions(name)
    for rule in rules:
        scenes = [(told, asked) for told in instructed for asked in rule.after or ("",)]
        for pattern in rule.when:
            text = f"well {' '.join(str(part) for part in pattern)} I would say"
            fitting = next((scene for scene in scenes if understood(name, text, *scene)), None)
            assert fitting is not None, text
            move_to_front(scenes, fitting)


@pytest.mark.parametrize("name", PHASED)
def test_whoever_speaks_after_the_end_gets_a_kind_word_and_no_tool(name: str) -> None:
    plan = PLANS[name]
    phrases = (*bundled_script(name).examples, *plan.definition.phrases, "open the pod bay doors")
    for phase in plan.definition.phases:
        for instruction in instructions(name, phase.name) if phase.terminal else ():
            for phrase in phrases:
                reply = dialogue_of(name, instruction).respond(phrase, typed=True)
                assert not reply.calls, (phase.name, phrase)
                assert reply.text, (phase.name, phrase)
                assert answers(name, reply), (phase.name, phrase, reply.text)
                assert "?" not in reply.text, (phase.name, phrase, reply.text)


@pytest.mark.parametrize("name", GUIDED)
def test_what_is_not_understood_leaves_the_question_open_and_offers_what_works_now(name: str) -> None:
    definition = PLANS[name].definition
    for phase in definition.phases:
        for instruction in instructions(name, phase.name) if not is_an_end(name, phase) else ():
            dialogue = dialogue_of(name, instruction)
            question = re.split(r"(?<=[.!?]) ", dialogue.prompt().text)[-1]
            assert question.endswith("?"), phase.name
            reply = dialogue.respond("open the pod bay doors", typed=True)
            if reply.calls:  # the caller's own words are what is asked for
                continue
            assert question in reply.text, phase.name
            offered = reply.text.partition("for example: ")[2].rstrip(".").replace(", or ", ", ").split(", ")
            assert offered != [""]
            assert all(understood(name, text, instruction, question) for text in offered), (phase.name, offered)
