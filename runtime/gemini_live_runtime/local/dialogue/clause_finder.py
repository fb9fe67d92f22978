"""Find what the parts of a sentence ask for, when the whole is no phrase.

A wish often stands beside its reason, several wishes of one kind beside each other, and an answer beside a remark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from gemini_live_runtime.local.dialogue.dialogue_state import DialogueState
from gemini_live_runtime.local.dialogue.intents import IntentMatcher
from gemini_live_runtime.local.language.clauses import clauses_of, forbids, quotes
from gemini_live_runtime.local.language.vocabulary import NEGATIONS
from gemini_live_runtime.local.language.words import parse_number, split_words
from gemini_live_runtime.local.scripts.script_types import Intent, Pattern, Script, SlotRef
from gemini_live_runtime.local.understanding.accounting import Accounting
from gemini_live_runtime.local.understanding.matching import Match, Matcher, SlotValue
from gemini_live_runtime.local.understanding.mood import asks_besides, corrects, is_open_wish, takes_back
from gemini_live_runtime.local.understanding.tentative import leaves_open
from gemini_live_runtime.local.understanding.utterance_words import Words
from gemini_live_runtime.records import record

_JOINTS = re.compile(
    r"[,;&+]|\b(?:and(?! (?:(?:a )?(?:half|quarter)|three quarters)\b(?! (?:an?|of|past|to)\b))|plus|as well as)\b",
    re.IGNORECASE,
)
"""Words between parts of a sentence that may each ask for something; "two and a half" is one value."""

_JOINTS_AND_OR = re.compile(rf"{_JOINTS.pattern}|\bor\b|\bversus\b|\bvs\b", re.IGNORECASE)

_COUNTS = re.compile(
    rf"{_JOINTS.pattern}|(?<=\w)(?<!twenty)(?<!thirty)(?<!forty)(?<!fifty)(?<!and)(?<!or)(?<!for)(?<!at)(?<!past)"
    r"(?<!make it)(?<!make that)(?<!make them)(?<!change it to)\s+"
    r"(?=(?:one|two|three|four|five|six|seven|eight|nine|ten|[1-9]) [a-z])",
    re.IGNORECASE,
)
"""Joints, and the beginnings of further counts: "one fish two salads"."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

_PART_OF_AN_HOUR = re.compile(r"\b(?:half past|quarter (?:past|to))(?= *(?:please|then|instead|actually)*$)")

_MAX_PARTS = 6
_A_WISH = 0.3
"""Cost below which a part of a sentence stands for itself, beside parts that are not understood."""

_TAKES_BACK = frozenset(
    {
        ("no",),
        ("no", "wait"),
        ("wait", "no"),
        ("oh", "wait"),
        ("wait",),
        ("hold", "on"),
        ("no", "hold", "on"),
        ("no", "hang", "on"),
    }
)
"""Clauses after which stands what is meant instead."""

_BY_THE_WAY = frozenset({"hello", "thanks", "goodbye", "how_are_you", "wait", "there"})
"""Everyday intents that do not answer the rest of a sentence."""


@record
class Wish:
    """Intent and slots of a clause, with the words that have to explain it."""

    intent: Intent
    slots: Mapping[str, SlotValue]
    words: Words


class ClauseFinder:
    """Stateless finder of wishes in the parts of a sentence."""

    def __init__(self, script: Script, matcher: Matcher, matching: IntentMatcher, accounting: Accounting) -> None:
        self._script = script
        self._matcher = matcher
        self._matching = matching
        self._accounting = accounting
        self._intents = {intent.name: intent for intent in script.intents}

    def wish_to_act_on(self, text: str, now: DialogueState) -> Wish | None:
        """Return the wish of a text to do something, None for all else and for a yes."""
        words = Words(text)
        best = self._matching.best(words, now)
        return None if best is None or not best[0].acts or best[0].is_consent else Wish(best[0], best[1].slots, words)

    def wish_in_clause(self, text: str, now: DialogueState) -> Wish | None:
        """Return the wish of the clause that means something, or None.

        None too when two clauses ask for different calls, or when one of them forbids something.
        """
        whole = Words(text)
        texts = self._with_their_no(clauses_of(text), now)
        is_taken_back = takes_back(whole.plain, is_question=whole.is_question) or corrects(whole.plain)
        is_remark = is_taken_back or self._matching.is_remark(whole)
        found = [
            wish
            for part in texts
            # "Sorry" begs no pardon before a request.
            if (words := Words(part)).plain != ["sorry"]
            and (wish := self._wish_of(words, whole, now, is_remark=is_remark, is_quoted=quotes(text))) is not None
        ]
        withdrawn = _withdrawn(texts)
        calling = [wish for wish in found if wish.intent.calls]
        if any(list(wish.words.plain) in withdrawn for wish in calling):
            return None
        if len({wish.intent.name for wish in calling}) > 1:
            return None
        if calling:
            *_, best = sorted(calling, key=lambda wish: len(wish.slots))
            is_free = any(self._script.slots[name].kind == "text" for name in best.slots)
            is_torn = best.intent.acts and self._matching.names_others(best.slots, whole)
            if is_free or is_torn or any(map(forbids, texts)):
                return None
            return self._with_its_place(self._put_right(best, whole, now), whole)
        found = [wish for wish in found if list(wish.words.plain) not in withdrawn]
        own = [wish for wish in found if wish.intent.during or wish.intent.after]
        own = own or [wish for wish in found if wish.intent.name not in _BY_THE_WAY]
        if not own:
            return None
        told = {name: value for wish in own for name, value in wish.slots.items()}
        return Wish(own[0].intent, {**told, **own[0].slots}, own[0].words)

    def _put_right(self, wish: Wish, whole: Words, now: DialogueState) -> Wish:
        """Return the wish of "no, I said one pasta": its number is meant instead."""
        if whole.plain[:1] != ["no"] or parse_number(wish.words.plain, 0) is None:
            return wish
        best = self._matching.best(words := Words(f"no {wish.words.text}"), now)
        return Wish(best[0], best[1].slots, words) if best is not None and best[1].cost == 0 and best[0].calls else wish

    def _with_its_place(self, wish: Wish, whole: Words) -> Wish:
        """Return the wish of "she is in Oslo, is it cold there" with its place."""
        needed = {name for call in wish.intent.calls for name in call.needs if name not in wish.slots}
        if wish.intent.acts or len(needed) != 1 or "there" not in wish.words.plain:
            return wish
        (name,) = needed
        found = self._matcher.find((SlotRef(name),), whole) if self._script.slots[name].kind == "choice" else None
        return wish if found is None else Wish(wish.intent, {**wish.slots, **found.slots}, wish.words)

    def _with_their_no(self, texts: Sequence[str], now: DialogueState) -> list[str]:
        """Return the clauses, a "no" with the next one where both are one phrase."""
        joined: list[str] = []
        for text in texts:
            if joined and Words(joined[-1]).plain == ["no"]:
                best = self._matching.best(Words(both := f"{joined[-1]}, {text}"), now)
                if best is not None and best[1].cost == 0:
                    joined[-1] = both
                    continue
            joined.append(text)
        return joined

    def _wish_of(
        self, words: Words, whole: Words, now: DialogueState, *, is_remark: bool, is_quoted: bool
    ) -> Wish | None:
        """Return the wish of one clause of the sentence `whole`, or None."""
        is_spoken_of = asks_besides(whole.plain) and not is_open_wish(words.plain)
        best = self._matching.best(words, now)
        if best is not None and best[0].calls and is_remark:
            best = None
        if best is not None and best[0].acts:
            spoken_of = is_spoken_of or (best[0].is_consent and self._matching.only_speaks(whole))
            best = None if spoken_of else best
        is_open = self.is_text_pending(now) or leaves_open(whole.text)
        answer = None if is_open else self.pending_answer(words, now)
        if now.pending is not None and answer is not None and (best is None or answer.cost < best[1].cost):
            return Wish(self._intents[now.pending.intent], {**now.pending.slots, **answer.slots}, words)
        if best is not None:
            # What is agreed to is told by the question: the rest of the sentence may be about anything.
            return Wish(best[0], best[1].slots, whole if is_quoted or best[0].is_consent else words)
        changed = self.changed_call(words, now)
        is_unsure = asks_besides(whole.plain) or is_remark
        return None if changed is None or (changed.intent.acts and is_unsure) else changed

    def wishes_beside(self, text: str, now: DialogueState, *, to_ask: bool = False) -> list[Wish]:
        """Return the wishes of a sentence such as "two soups and a coffee".

        Each part has to be whole, and all have to mean the same; [] otherwise. With `to_ask` a single part counts
        beside others that mean nothing: it can be asked about.
        """
        if several := self._wishes_for_each(text, now):
            return several
        parts = self._parts(text, _JOINTS)
        if denied := self._denied_wishes(text, parts, now):
            return denied
        found = self._wishes_of(text, parts, now, to_ask=to_ask)
        if len(found) > 1:
            return found
        counts = self._parts(text, _COUNTS)
        counted = self._wishes_of(text, counts, now, to_ask=False)
        # Each part has to be one of them: "take out one soup" is no order.
        return counted if 1 < len(counted) == len(counts) else found

    def _denied_wishes(self, text: str, parts: Sequence[Words], now: DialogueState) -> list[Wish]:
        """Return the wishes of "no, one salad and one soup", whose "no" belongs to all.

        Return [] for other texts, and where the script has no phrases for that.
        """
        if len(parts) < 3 or parts[0].plain != ["no"]:
            return []
        found = self._wishes_of(text, [Words(f"no {part.text}") for part in parts[1:]], now, to_ask=False)
        whole = [self._matching.best(wish.words, now) for wish in found]
        return found if all(best is not None for best in whole) else []

    def _wishes_for_each(self, text: str, now: DialogueState) -> list[Wish]:
        """Return the wishes of "the weather in Rome and Oslo", [] for other texts."""
        parts = self._parts(text, _JOINTS_AND_OR)
        whole = Words(text)
        if not 1 < len(parts) <= _MAX_PARTS or forbids(text) or takes_back(whole.plain):
            return []
        if not NEGATIONS.isdisjoint(whole.plain):
            return []  # "Rome, not Oslo"
        best = [self._matching.best(part, now) for part in parts]
        wishes = [one for one in best if one is not None and one[0].each and one[1].cost < _A_WISH]
        last = self._intents.get(now.last_call[0]) if now.last_call is not None else None
        intent = wishes[0][0] if wishes else last
        if intent is None or not intent.each or any(wish[0] is not intent for wish in wishes):
            return []
        first = wishes[0][1].slots if wishes or now.last_call is None else now.last_call[1]
        needed = {name for call in intent.calls for name in call.needs}
        found: list[Wish] = []
        for part, one in zip(parts, best, strict=True):
            slots = one[1].slots if one in wishes else self._matching.slots_only(tuple(needed), part)
            if needed <= slots.keys():
                found.append(Wish(intent, slots if one in wishes else {**first, **slots}, part))
            elif one not in wishes:
                return []
        if len(found) < 2:
            return []
        values = (wish.slots for wish in found)
        if intent.acts and (self._matching.only_speaks(whole) or self._accounting.unaccounted(intent, whole, *values)):
            return []
        return found

    def wishes_in_a_sentence(self, text: str, now: DialogueState) -> list[Wish]:
        """Return the wishes of "there are six of us. Two fish and a soup".

        Several are in one of its sentences, the others ask for nothing; [] for other texts.
        """
        whole = Words(text)
        sentences = _SENTENCE_END.split(text.strip())
        if not 1 < len(sentences) <= _MAX_PARTS or takes_back(whole.plain) or corrects(whole.plain) or quotes(text):
            return []
        if forbids(text) or not NEGATIONS.isdisjoint(whole.plain):
            return []
        found = [wishes for sentence in sentences if (wishes := self.wishes_beside(sentence, now))]
        acting = [sentence for sentence in sentences if self.wish_to_act_on(sentence, now) is not None]
        return found[0] if len(found) == 1 and not acting else []

    def _parts(self, text: str, joints: re.Pattern[str]) -> list[Words]:
        parts = [Words(part) for part in joints.split(text.rstrip(" ?"))]
        return [words for words in parts if len(words) and not self._matcher.is_filler(words)]

    def _wishes_of(self, text: str, parts: Sequence[Words], now: DialogueState, *, to_ask: bool) -> list[Wish]:
        if not 1 < len(parts) <= _MAX_PARTS or any(tuple(part.plain) in _TAKES_BACK for part in parts[1:]):
            return []  # What stands before is not meant.
        found = [self._matching.best(part, now) for part in parts]
        if not all(best is not None and best[0].calls for best in found) and not forbids(text):
            found = [best for best in found if best is not None and self._names_a_choice(best[0], best[1])]
        intents = {"" if best is None else best[0].name for best in found}
        intent = self._intents.get(next(iter(intents))) if len(intents) == 1 else None
        if intent is None or not intent.calls or any(call.tool not in now.tools for call in intent.calls):
            return []
        if intent.acts and self._matching.only_speaks(Words(text)):
            return []
        parts_of_phrases = (part for phrase in intent.typed for part in phrase if isinstance(part, SlotRef))
        if any(self._script.slots[part.slot].kind == "text" for part in parts_of_phrases):
            return []  # A text may have commas of its own.
        slots = [best[1].slots for best in found if best is not None]
        if any(self._script.slots[name].kind == "name" for said in slots for name in said):
            return []  # "Dave, or Anna" are two answers to one question.
        if any(name not in said for said in slots for call in intent.calls for name in call.needs):
            return []
        if intent.acts and (self._accounting.unaccounted(intent, Words(text), *slots) or _chooses_all(slots, now)):
            return [Wish(intent, slots[0], Words(text))] if to_ask and len(slots) == 1 else []
        # "All right, go ahead" is one yes.
        return [Wish(intent, said, Words(text)) for said in (slots if any(slots) else slots[:1])]

    def different_wishes(self, text: str, now: DialogueState) -> list[Wish]:
        """Return the wishes of "the weather in Rome, and a timer for five minutes".

        Each part has to be whole, lack nothing, and mean another thing, and one has to call a tool; [] otherwise.
        """
        whole = Words(text)
        if takes_back(whole.plain) or corrects(whole.plain) or forbids(text) or quotes(text):
            return []
        wishes: list[Wish] = []
        clauses = [Words(clause).plain for clause in clauses_of(text)]
        for part in self._parts(text, _JOINTS):
            best = self._matching.best(part, now)
            if wishes and (another := self._another_value(wishes[-1], part, best)) is not None:
                wishes.append(another)
                continue
            if best is None or not self._is_whole(*best, part, now):
                return []
            # What no call does has to be extracted, which reads clauses.
            if not (best[0].calls or any(part.plain[-len(clause) :] == clause for clause in clauses)):
                return []
            wishes.append(Wish(best[0], best[1].slots, part))
        names = [name for name, _ in groupby(wish.intent.name for wish in wishes)]
        if not any(wish.intent.calls for wish in wishes):
            return []
        if not 1 < len(names) == len(set(names)) or len(wishes) > _MAX_PARTS:
            return []
        if any(value is True for call in wishes[0].intent.calls for value in call.args.values()):
            # "Make it three pasta and one fish" sets both numbers.
            return [wishes[0], *(self._put_right(wish, Words("no"), now) for wish in wishes[1:])]
        return wishes

    def _another_value(self, before: Wish, part: Words, best: tuple[Intent, Match] | None) -> Wish | None:
        """Return the wish of "Oslo" after "the weather in Rome", None for others."""
        if not before.intent.each or (best is not None and best[1].cost < _A_WISH):
            return None
        needed = {name for call in before.intent.calls for name in call.needs}
        slots = self._matching.slots_only(tuple(needed), part)
        return Wish(before.intent, {**before.slots, **slots}, part) if needed and needed <= slots.keys() else None

    def _is_whole(self, intent: Intent, match: Match, words: Words, now: DialogueState) -> bool:
        """Return True for a wish that can be done as it stands, without another word."""
        if not (intent.calls or intent.acts) or intent.is_consent or match.cost >= _A_WISH:
            return False
        if intent.acts and self._matching.only_speaks(words):
            return False
        if any(self._script.slots[name].kind == "text" for name in match.slots):
            return False
        needed = {name for call in intent.calls for name in call.needs}
        known = all(call.tool in now.tools for call in intent.calls)
        return known and needed <= match.slots.keys() and not self._accounting.unaccounted(intent, words, match.slots)

    def _names_a_choice(self, intent: Intent, match: Match) -> bool:
        """Return True when a part names a value of a choice that a call needs."""
        needed = (name for call in intent.calls for name in call.needs)
        return match.cost < _A_WISH and any(
            name in match.slots and self._script.slots[name].kind == "choice" for name in needed
        )

    def changed_call(self, words: Words, now: DialogueState) -> Wish | None:
        """Return the last call with what the words change, as in "and in Rome?".

        None when they say anything else.
        """
        if now.last_call is None or now.last_call[0] not in self._intents:
            return None
        intent, said = self._intents[now.last_call[0]], now.last_call[1]
        words = self._with_hour(words, said)
        slots = self._matching.changed(intent, words, now, said)
        return Wish(intent, {**said, **slots}, words) if slots else None

    def _with_hour(self, words: Words, said: Mapping[str, SlotValue]) -> Words:
        """Return "make it half past" with the hour of the time that was said before."""
        times = [str(value) for name, value in said.items() if self._script.slots[name].kind == "time"]
        part = _PART_OF_AN_HOUR.search(" ".join(words.plain)) if len(times) == 1 else None
        if part is None:
            return words
        return Words(f"{part.string[: part.end()]} {(int(times[0].partition(':')[0]) - 1) % 12 + 1}")

    def pending_answer(self, words: Words, now: DialogueState) -> Match | None:
        """Return the slots that answer the open question, or None."""
        if now.pending is None or (not self.is_text_pending(now) and leaves_open(words.text)):
            return None
        slot = now.pending.slot
        patterns: tuple[Pattern, ...] = (*self._script.slots[slot].answer, (SlotRef(slot),))
        matches = [match for pattern in patterns if (match := self._matcher.match(pattern, words)) is not None]
        needed = [name for call in self._intents[now.pending.intent].calls for name in call.needs]
        names = tuple(dict.fromkeys((slot, *needed)))
        missing = [name for name in names if name not in now.pending.slots]
        if matches:
            return min(matches, key=lambda match: match.cost)
        # "There will be four of us" sets the guests right, and does not tell the time that was asked for.
        said = self._matching.slots_told(names, words)
        if said.keys() <= set(missing):
            said = self._matching.slots_only(missing, words)
        return Match(0.0, said) if said else None

    def is_an_answer(self, words: Words, now: DialogueState) -> bool:
        """Return True for words that the open question's slot lists as an answer."""
        if now.pending is None:
            return False
        found = (self._matcher.match(pattern, words) for pattern in self._script.slots[now.pending.slot].answer)
        return any(match is not None and match.cost == 0 for match in found)

    def is_text_pending(self, now: DialogueState) -> bool:
        """Return True when the open question takes any words."""
        return now.pending is not None and self._script.slots[now.pending.slot].kind == "text"


def _withdrawn(texts: Sequence[str]) -> list[list[str]]:
    """Return the clauses before one that only takes them back.

    Such as the first one of "that's it, no wait, how much".
    """
    clauses = [list(Words(text).plain) for text in texts]
    backs = [at for at, clause in enumerate(clauses) if tuple(clause) in _TAKES_BACK - {("no",)}]
    return clauses[: backs[-1]] if backs else []


def _chooses_all(slots: Sequence[Mapping[str, SlotValue]], now: DialogueState) -> bool:
    """Return True for "cash and card" after "by card or in cash?"."""
    words = split_words(now.question)
    named = {str(value) for said in slots for value in said.values() if str(value) in words}
    return "or" in words and len(named) > 1
