"""Find the intent of an utterance, and examples of usable phrases."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from gemini_live_runtime.local.dialogue.dialogue_state import DialogueState
from gemini_live_runtime.local.dialogue.instruction_notes import InstructionNotes
from gemini_live_runtime.local.dialogue.slot_extractor import SlotExtractor
from gemini_live_runtime.local.language.vocabulary import PAST
from gemini_live_runtime.local.language.words import folded, name_words, split_words
from gemini_live_runtime.local.scripts.script_types import Cue, Intent, Scalar, Script, SlotRef
from gemini_live_runtime.local.understanding.matching import Match, Matcher, SlotValue
from gemini_live_runtime.local.understanding.meaning import MeaningMatcher
from gemini_live_runtime.local.understanding.mood import calls_off, is_of_others, is_open_wish, is_remark, only_speaks
from gemini_live_runtime.local.understanding.utterance_words import Words

_MAX_TOOLS = 6
"""Most tools offered by name."""

_UNEXPLAINED = 0.3
"""Cost above which words are left that nothing explains."""

_CLOSE = 0.05
"""Difference in cost below which two intents are meant as much."""

_OVER = PAST | {"yesterday", "ago"}
"""Words of what has been."""

_Meant = list[tuple[str, tuple[Intent, ...]]]
"""Examples of a script, each with the intents that it matches best in any phase."""

_EXAMPLES: deque[tuple[Script, _Meant]] = deque(maxlen=8)
"""Those of the newest scripts: matching all examples takes milliseconds, and each conversation needs them."""

_Found = tuple[tuple[float, int, float], int, Intent, Match]
"""Rank, place in the script, intent and match."""


class IntentMatcher:
    """Stateless matcher of utterances to a script's intents."""

    def __init__(self, script: Script, matcher: Matcher) -> None:
        self._script = script
        self._matcher = matcher
        self._meanings = MeaningMatcher(script)
        self._scripted = {call.tool for intent in script.intents for call in intent.calls}

    def best(self, words: Words, now: DialogueState) -> tuple[Intent, Match] | None:
        """Return the best intent and its match, or None.

        Among equal costs an intent with `after` wins, then the one whose `during` is newest, then the first.
        """
        speaks = self.only_speaks(words)
        ages = [(intent, self.age(intent, now)) for intent in self._script.intents]
        applying = [(place, intent, age) for place, (intent, age) in enumerate(ages) if age is not None]
        matches = [
            self._to_act_on(self._phrase_in(intent, words), words, speaks)
            if intent.acts
            else self._phrase_in(intent, words)
            for _, intent, _ in applying
        ]
        # A phrase that was said word for word is what was meant.
        if not any(match is not None and match.cost == 0 for match in matches):
            matches = [
                match
                if intent.acts and speaks
                else min(filter(None, (match, *self._meant_by(intent, words))), key=_cost, default=None)
                for match, (_, intent, _) in zip(matches, applying, strict=True)
            ]
        found: list[_Found] = [
            ((match.cost, 0 if intent.after else 1, age), place, intent, match)
            for match, (place, intent, age) in zip(matches, applying, strict=True)
            if match is not None and _is_known(intent, match, now)
        ]
        found.sort(key=lambda item: item[:2])
        if not found or (len(found) > 1 and _is_unsure(found[0], found[1])):
            return None
        return found[0][2], found[0][3]

    def _phrase_in(self, intent: Intent, words: Words) -> Match | None:
        """Return the cheapest match of a phrase of `intent`, or None.

        Of two that cost the same the one with the shorter text: "note that {note}" leaves less than "note {note}".
        """
        found = (self._matcher.match(pattern, words) for pattern in (*intent.say, *intent.typed))
        return min(filter(None, found), key=self._matcher.cost_and_text, default=None)

    def _to_act_on(self, found: Match | None, words: Words, speaks: bool) -> Match | None:
        """Return the match of a phrase, None when the sentence only speaks.

        A phrase that is said word for word counts. Of one with a text, such as "note that {note}", the words around
        the text count: those within may tell and ask anything.
        """
        texts = [name for name in found.slots if self._script.slots[name].kind == "text"] if found is not None else []
        if found is None or not texts:
            is_phrase = found is not None and found.cost == 0 and not words.is_question
            return None if speaks and not is_phrase else found
        around = " ".join(words.plain)
        for name in texts:
            around = around.replace(" ".join(Words(str(found.slots[name])).plain), " ", 1)
        spoken_of = around.split() and only_speaks(around.split(), is_question=words.is_question)
        return None if spoken_of or calls_off(words.plain) else found

    def _meant_by(self, intent: Intent, words: Words) -> Iterator[Match]:
        """Yield what the meanings of `intent` find, where it is sure enough to act on."""
        for meaning in intent.means:
            meant = self._meanings.match(meaning, words)
            if meant is None or (intent.acts and meant.is_told_of):
                continue
            if intent.calls and not intent.acts and (meant.is_of_others or is_of_others(words.plain)):
                continue  # What another person has forgotten is no question for the weather.
            if meant.may_be_acted_on if intent.calls else meant.is_sure:
                yield Match(meant.cost, meant.slots)

    def changed(
        self, intent: Intent, words: Words, now: DialogueState, said: Mapping[str, SlotValue]
    ) -> Mapping[str, SlotValue]:
        """Return the slots of `intent` that are given anew, as in "and in Rome?".

        `said` are the earlier ones. Return {} when the words say anything else.
        """
        if not intent.change or self.age(intent, now) is None:
            return {}
        if intent.acts and (words.is_question or self.only_speaks(words)) and not is_open_wish(words.plain):
            return {}
        if intent.acts and not _OVER.isdisjoint(words.plain):
            return {}
        needed = {name for meaning in intent.means for name in meaning.slots}
        names = dict.fromkeys(name for meaning in intent.means for name in (*meaning.slots, *meaning.optional))
        slots = self._meanings.fill_only(tuple(names), words, said)
        return {} if needed and needed.isdisjoint(slots) else slots

    def only_speaks(self, words: Words) -> bool:
        """Return True for words that ask for nothing to be done."""
        return only_speaks(words.plain, is_question=words.is_question) or self.is_remark(words)

    def is_remark(self, words: Words) -> bool:
        """Return True for "great, it's raining", where `raining` is no word of the script."""
        return is_remark(words.plain, self._meanings.known)

    def names_others(self, slots: Mapping[str, SlotValue], words: Words) -> bool:
        """Return True for words that name another value: "coffee? no, water"."""
        return self._meanings.names_others(slots, words)

    def slots_only(self, names: Sequence[str], words: Words) -> Mapping[str, SlotValue]:
        """Return the slots that a sentence names when it says nothing else, else {}."""
        return self._meanings.fill_only(names, words)

    def slots_told(self, names: Sequence[str], words: Words) -> Mapping[str, SlotValue]:
        """Return the slots that a sentence names as what they are, else {}: "four of us"."""
        return self._meanings.fill_only(names, words, bare=False)

    def find_within(self, words: Words, now: DialogueState) -> Intent | None:
        """Return the intent without calls whose phrase is within `words`.

        None unless extraction finds a phrase there too: words that change the state should not be answered as not
        understood.
        """
        asked = folded(now.last_reply)
        rules = [rule for rules in self._script.extract.values() for rule in rules if rule.fits(asked)]
        if not any(self._matcher.find(pattern, words) for rule in rules for pattern in rule.when):
            return None
        best: Intent | None = None
        best_rank = (math.inf, math.inf, math.inf)
        for intent in self._script.intents:
            age = None if intent.calls else self.age(intent, now)
            if age is None:
                continue
            for pattern in (*intent.say, *intent.typed):
                if any(isinstance(part, SlotRef) for part in pattern):
                    continue
                match = self._matcher.find(pattern, words)
                if match is None:
                    continue
                # Prefer the longest phrase.
                rank = (match.cost, -len(pattern), age)
                if best is None or rank < best_rank:
                    best, best_rank = intent, rank
        return best

    def told(self, text: str, now: DialogueState) -> tuple[Intent, Mapping[str, Scalar]] | None:
        """Return the intent that answers facts that only extraction finds, and these.

        None without one: words that change the state should not be answered as not understood.
        """
        telling = [intent for intent in self._script.intents if intent.tells and self.age(intent, now) is not None]
        facts = self.facts(text, now) if telling else {}
        intent = next((intent for intent in telling if not facts.keys().isdisjoint(intent.tells)), None)
        return None if intent is None else (intent, facts)

    def facts(self, text: str, now: DialogueState) -> Mapping[str, Scalar]:
        """Return the fields of `[extract]` that the utterance `text` tells now."""
        return self._extractor.facts(text, now.last_reply)

    def is_told(self, intent: Intent, text: str, now: DialogueState) -> bool:
        """Return False for an intent that acts by a field which `text` does not tell.

        Its answer would speak of something as done that is not.
        """
        fields = {
            name for name, rules in self._script.extract.items() if any(rule.intent == intent.name for rule in rules)
        }
        return not intent.acts or not fields or not fields.isdisjoint(self.facts(text, now))

    def tells(self, words: Words, now: DialogueState) -> bool:
        """Return True when extraction finds a fact in the words."""
        asked = folded(now.last_reply)
        rules = [rule for rules in self._script.extract.values() for rule in rules if rule.fits(asked)]
        if any(self._matcher.find(pattern, words) for rule in rules for pattern in rule.when):
            return True
        meant = (self._meanings.match(meaning, words) for rule in rules for meaning in rule.means)
        return any(found is not None and found.is_sure and not found.is_denied for found in meant)

    def age(self, intent: Intent, now: DialogueState) -> float | None:
        """Return the age of the text that the intent's `during` needs.

        Counted in newer texts, infinite without `during`; None when the intent does not apply now.
        """
        found = now.notes.age(intent.during) if intent.during else None
        age = math.inf if found is None else found
        if intent.during and found is None:
            return None
        ended = self._ended(now.notes)
        if ended is not None and (intent.during or intent.calls) and age > ended[0]:
            return None
        if intent.after and not any(text in folded(now.last_reply) for text in intent.after):
            return None
        return age

    def ending(self, notes: InstructionNotes) -> Cue | None:
        """Return the cue that ended the conversation, or None."""
        ended = self._ended(notes)
        return None if ended is None else ended[1]

    def examples(self, tools: Collection[str]) -> list[str]:
        """Return phrases usable with these tools: names of unscripted ones, examples."""
        by_name = tools if self._script.call_by_name else ()
        own = [" ".join(name_words(name)) for name in by_name if name not in self._scripted]
        return [*filter(None, own[:_MAX_TOOLS]), *(text for text, meant in self._meant if _usable(meant, tools))]

    def examples_now(self, now: DialogueState) -> tuple[list[str], list[str]]:
        """Return the examples of the newest phase, and the others that apply now."""
        ages: dict[str, tuple[float, int]] = {}
        for text, meant in self._meant:
            usable = [intent for intent in meant if _usable((intent,), now.tools)]
            fitting = [(age, len(intent.during)) for intent in usable if (age := self.age(intent, now)) is not None]
            if fitting:
                ages[text] = min(fitting)
        newest = min(ages.values(), default=(math.inf, 0))
        special = [text for text, age in ages.items() if age == newest]
        return special, [text for text, age in ages.items() if newest < age and age[0] in (newest[0], math.inf)]

    @cached_property
    def _extractor(self) -> SlotExtractor:
        return SlotExtractor(self._script)

    @cached_property
    def _meant(self) -> _Meant:
        """Examples with their intents, found once for all conversations."""
        found = next((meant for script, meant in _EXAMPLES if script is self._script), None)
        if found is None:
            found = [(text, self._intents_of(Words(text))) for text in self._script.examples]
            _EXAMPLES.append((self._script, found))
        return found

    def _intents_of(self, words: Words) -> tuple[Intent, ...]:
        # Spoken phrases define an intent; a `typed` one may belong to an intent that only says it is too early.
        for spoken in (True, False):
            costs: dict[str, float] = {}
            for intent in self._script.intents:
                matches = (self._matcher.match(pattern, words) for pattern in (intent.say if spoken else intent.typed))
                cost = min((match.cost for match in matches if match is not None), default=math.inf)
                if cost < math.inf:
                    costs[intent.name] = cost
            if costs:
                least = min(costs.values())
                return tuple(intent for intent in self._script.intents if costs.get(intent.name) == least)
        return ()

    def _ended(self, notes: InstructionNotes) -> tuple[int, Cue] | None:
        ages = [(age, cue) for cue in self._script.cues if cue.end and (age := notes.age(cue.told)) is not None]
        return min(ages, key=lambda found: found[0], default=None)


def _cost(match: Match) -> float:
    return match.cost


def _is_unsure(one: _Found, other: _Found) -> bool:
    """Return True when two intents that call other tools are meant as much.

    Both leave words that they do not explain.
    """
    differ = {call.tool for call in one[2].calls} != {call.tool for call in other[2].calls}
    is_close = one[0][1:] == other[0][1:] and other[3].cost - one[3].cost < _CLOSE
    return differ and is_close and one[3].cost > _UNEXPLAINED


def _is_known(intent: Intent, match: Match, now: DialogueState) -> bool:
    """Return True when the results that `intent` depends on name its values."""
    return all(
        any(word.startswith(str(match.slots.get(slot))) for word in split_words(str(now.known.get(name, ""))))
        for name, slot in intent.known.items()
    )


def _usable(meant: tuple[Intent, ...], tools: Collection[str]) -> bool:
    """Return True when an intent calls only `tools`, or without any intent."""
    return not meant or any(all(call.tool in tools for call in intent.calls) for intent in meant)
