"""Fill the lines of a script with what a dialogue knows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gemini_live_runtime.local.dialogue.dialogue_state import DialogueState, last_question
from gemini_live_runtime.local.dialogue.intents import IntentMatcher
from gemini_live_runtime.local.language.words import name_words
from gemini_live_runtime.local.scripts.script_types import Intent, Script
from gemini_live_runtime.local.scripts.template import describe, fill
from gemini_live_runtime.local.understanding.matching import SlotValue

_RECALLED = 3
_FEW = 3
_FEW_NOW = 2


class Wording:
    """Lines of a script in one conversation."""

    def __init__(self, script: Script, matching: IntentMatcher, state: DialogueState) -> None:
        self._script = script
        self._matching = matching
        self._state = state

    def fill(self, template: str, facts: Mapping[str, Any] | None = None) -> str:
        """Return a filled line, "" when something in it is not known."""
        return fill(template, {**self._facts(), **(facts or {})}) or ""

    def fill_sentences(self, template: str) -> str:
        """Return the sentences of `template` whose placeholders can be filled."""
        facts = self._facts()
        filled = (fill(sentence, facts) for sentence in re.split(r"(?<=[.!?}])\s+(?=[A-Z{])", template))
        return " ".join(sentence for sentence in filled if sentence)

    def reply_of(self, intent: Intent, slots: Mapping[str, SlotValue], answers: Mapping[str, Any]) -> str:
        """Return the line of `intent` that fits its slots and the results of its calls."""
        facts = {**self._facts(), **slots, "result": {}, **answers}
        if any("heard." in line.when for line in intent.reply):
            facts["heard"] = self._matching.facts(self._state.heard, self._state)
        unconditional = []
        for line in intent.reply:
            text = line.fits(facts)
            if text is None:
                continue
            if line.when or intent.calls:
                return text
            unconditional.append(text)
        # Unconditional answers take turns.
        return unconditional[self._state.turns % len(unconditional)] if unconditional else ""

    def output_of(self, name: str, output: Any) -> str:
        """Return the words for the output of a tool that has no line of its own."""
        facts = {"tool": tool_title(name), "result": output}
        if isinstance(output, Mapping) and output.get("error"):
            return self.fill(self._script.failed, facts)
        return self.fill(self._script.told, {**facts, "result": describe(output) or "nothing"})

    @property
    def told(self) -> dict[str, str]:
        """Facts that the instruction and its notes tell."""
        facts = {name: self._state.notes.fact(*around) for name, around in self._script.facts.items()}
        return {name: value for name, value in facts.items() if value}

    def _facts(self) -> dict[str, Any]:
        state = self._state
        examples = self._matching.examples(state.tools)
        special, general = self._matching.examples_now(state)
        special = self._some(special, _FEW_NOW)
        scripted = (call.tool for intent in self._script.intents for call in intent.calls)
        return {
            "examples": _listed(examples),
            "some_examples": _listed(self._some(examples, _FEW)),
            "examples_now": _listed([*special, *self._some(general, _FEW_NOW - len(special))]),
            "said": "; and ".join(state.said[-_RECALLED:]),
            "last_reply": state.last_reply,
            "last_question": state.question,
            "known": state.known,
            "tools": _listed([tool_title(name) for name in state.tools]),
            **state.labels,
            "told": self.told,
            "title": self._script.title,
            "about": self._script.about,
            "abilities": self._script.abilities if all(tool in state.tools for tool in scripted) else "",
            **state.remembered,
        }

    def _some(self, examples: Sequence[str], few: int) -> list[str]:
        """Return a few examples, others each turn: all of them would be long to hear."""
        count = min(few, len(examples))
        return [examples[(self._state.turns * count + offset) % len(examples)] for offset in range(count)]


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])}, or {texts[-1]}" if len(texts) > 1 else "".join(texts)


def tool_title(name: str) -> str:
    """Return the words of a tool's name."""
    return " ".join(name_words(name)) or name


def asking_once(parts: Sequence[str]) -> str:
    """Return the parts as one text that asks only at its end."""
    said = [part for part in parts if part]
    if not said or not said[-1].endswith("?"):
        return " ".join(said)
    earlier = [part.removesuffix(last_question(part)).strip() if part.endswith("?") else part for part in said[:-1]]
    return " ".join([*filter(None, earlier), said[-1]])
