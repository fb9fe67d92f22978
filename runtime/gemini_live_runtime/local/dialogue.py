"""Play a script: answer utterances by replies or tool calls, results by words."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gemini_live_runtime.local.announcement import announcement_of
from gemini_live_runtime.local.broken_answer import BrokenAnswer
from gemini_live_runtime.local.clauses import clauses_of, forbids
from gemini_live_runtime.local.consent_question import ConsentQuestion
from gemini_live_runtime.local.grammar import Grammar, build_grammar
from gemini_live_runtime.local.instruction_notes import InstructionNotes
from gemini_live_runtime.local.intents import DialogueState, IntentMatcher
from gemini_live_runtime.local.matching import Match, Matcher, SlotValue, Words
from gemini_live_runtime.local.open_calls import OpenCalls, Outcome, arguments_of
from gemini_live_runtime.local.parts import Reply, ToolRequest
from gemini_live_runtime.local.sample_sentences import SampleSentences, sample_sentences
from gemini_live_runtime.local.script_types import Intent, Pattern, Script, SlotRef
from gemini_live_runtime.local.template import describe, fill
from gemini_live_runtime.local.tools_by_name import (
    TextQuestion,
    arguments_for,
    missing_text,
    named_tools,
    spoken_choices,
)
from gemini_live_runtime.local.words import name_words
from gemini_live_runtime.records import record

MAX_SAID = 50
"""Utterances kept; the oldest are dropped."""

_JOINTS = re.compile(r"[,;&+]|\b(?:and|plus|as well as)\b", re.IGNORECASE)
"""Words between parts of a sentence that may each ask for something."""

_CORRECTIONS = (("make", "that"), ("make", "it"), ("i", "meant"), ("and",))
_MAX_PARTS = 6
_A_WISH = 0.3
"""Cost below which a part of a sentence stands for itself, beside parts that are not understood."""

_BY_THE_WAY = frozenset({"hello", "thanks", "goodbye", "how_are_you", "wait", "there"})
"""Everyday intents that do not answer the rest of a sentence."""

_NOT_UNDERSTOOD = "I didn't catch that."
_ASK_AGAIN = "I lost my thread. Please ask me again."
_RECALLED = 3
_FEW = 3
_FEW_NOW = 2
_MISSES_ALLOWED = 2
_MAX_KNOWN = 40
MAX_KNOWN_CHARS = 300


@record
class Pending:
    """Open question: the intent that asks, the missing slot and the filled ones."""

    intent: str
    slot: str
    slots: Mapping[str, SlotValue]
    misses: int = 0


class ScriptedDialogue:
    """Dialogue of one conversation that plays a `Script`.

    `snapshot` and `restore` move it to another connection.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._matcher = Matcher(script.slots, script.filler)
        self._matching = IntentMatcher(script, self._matcher)
        self._intents = {intent.name: intent for intent in script.intents}
        # Tools used in phases cannot be called by name: the script defines when they are called.
        self._phased = {call.tool for intent in script.intents if intent.during for call in intent.calls}
        self._samples = sample_sentences(script)
        self._tools: dict[str, Mapping[str, Any]] = {}
        self._labels: dict[str, str] = {}
        self._pending: Pending | None = None
        self._text_question: TextQuestion | None = None
        self._said: list[str] = []
        self._last_reply = ""
        self._question = ""
        self._known: dict[str, str | int | float] = {}
        self._turns = 0
        self._misses = 0
        """Utterances in a row that were not understood."""
        self._open = OpenCalls()
        self._notes = InstructionNotes()
        self._announcement = ""
        """Words about a notification, until the next prompt."""
        self._consent = ConsentQuestion()
        self._broken = BrokenAnswer()
        self._remembered: dict[str, SlotValue] = {}
        self._last_call: tuple[str, Mapping[str, SlotValue]] | None = None

    @property
    def grammar(self) -> Grammar:
        """Grammar of spoken phrases, tool names and answers to the open question.

        It includes phrases of other phases, so that they are transcribed correctly though not understood.
        """
        patterns = [pattern for intent in self._script.intents for pattern in intent.say]
        if self._pending is not None:
            patterns += self._script.slots[self._pending.slot].answer
        patterns += self._consent.patterns
        patterns += self._corrections
        scripted = {call.tool for intent in self._script.intents for call in intent.calls}
        own = {name: schema for name, schema in self._tools.items() if name not in scripted}
        choices = {name: spoken_choices(schema) for name, schema in own.items() if self._script.call_by_name}
        return build_grammar(patterns, self._script.slots, choices)

    @property
    def _corrections(self) -> list[Pattern]:
        """Phrases that give slots of the last call anew, as in "make that eight"."""
        intent = self._intents.get(self._last_call[0]) if self._last_call else None
        if intent is None or not intent.change:
            return []
        names = dict.fromkeys(name for meaning in intent.means for name in (*meaning.slots, *meaning.optional))
        answers = [pattern for name in names for pattern in self._script.slots[name].answer]
        return [*answers, *((*lead, *answer) for lead in _CORRECTIONS for answer in answers)]

    @property
    def samples(self) -> SampleSentences:
        """Sentences like those that it understands."""
        return self._samples

    @property
    def pronunciations(self) -> Mapping[str, tuple[str, ...]]:
        """ARPAbet pronunciations that the script defines."""
        return self._script.pronunciations

    def declare(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        """Set the client's tools: name to JSON schema of the parameters."""
        self._tools = dict(tools)

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the labels of the client's setup, such as the agent's name."""
        names = (" ".join(name_words(name)) for name in labels.get("phases", "").split(","))
        self._labels = {
            "agent": " ".join(name_words(labels.get("agent", ""))),
            "phases": ", ".join(filter(None, names)),
        }

    def instruct(self, text: str) -> None:
        """Set the instruction; drop an open question that belongs to another one."""
        self._notes.instruct(text)
        self._drop_unfit_question()

    def note(self, text: str) -> None:
        """Add a note to the instruction.

        What a notification says is no instruction, nor is a question of consent: they wait for the next prompt.
        """
        if self._consent.take(text) or self._broken.take(text):
            return
        if announcement := announcement_of(text):
            self._announcement = announcement
            return
        self._notes.note(text)
        self._drop_unfit_question()

    def prompt(self) -> Reply:
        """Return what to say unasked.

        That is the rest of an answer, a question of consent, a notification, a cue, the greeting, the open question or
        a line.
        """
        goes_on = self._broken.is_wanted
        if rest := self._rest():
            return Reply(rest)
        if question := self._consent.ask():
            return self._remember_reply(Reply(question))
        announcement, self._announcement = self._announcement, ""
        if announcement:
            # An open question stays open.
            return Reply(announcement)
        for text in self._notes.newest_first():
            for cue in self._script.cues:
                said = self._fill(cue.say, {}) if any(part in text for part in cue.told) else ""
                if said:
                    self._question = ""  # the cue replaces an open question
                    return self._remember_reply(Reply(said))
        if not (self._turns or self._last_reply or goes_on):
            return self._remember_reply(Reply(self._fill_sentences(self._script.greeting)))
        if self._pending is not None:
            return self._remember_reply(Reply(self._script.slots[self._pending.slot].ask))
        line = _ASK_AGAIN if goes_on else self._fill(self._script.prompted, {})
        return self._remember_reply(Reply(self._question or line))

    def _rest(self) -> str:
        """Return the rest of an answer that broke off; "" where it is not known."""
        if not self._broken.is_wanted:
            return ""
        self._broken.forget()
        if self._broken.said and (rest := self._broken.rest_of((self._last_reply,))):
            return rest
        # The handle of this connection may be older than that answer, and the words are the same.
        again = self.preview(self._broken.asked)
        rest = "" if again is None or again.calls else self._broken.rest_of((again.text,))
        if rest:
            self.respond(self._broken.asked, typed=True)
        elif not (self._turns or self._broken.asked):
            rest = self._broken.rest_of((self._fill_sentences(self._script.greeting),))
        return rest

    def respond(self, text: str, *, typed: bool) -> Reply:
        """Answer an utterance; "" was not understood. Typed and spoken mean the same."""
        self._broken.forget()
        self._turns += 1
        misses = self._misses
        agreed = self._consent.reply_to(text)
        reply = Reply(agreed) if agreed else self._answer(text)
        if self._misses == misses:
            self._misses = 0
        self.remember(text)
        return self._remember_reply(reply)

    def preview(self, text: str) -> Reply | None:
        """Return what a dictated `text` would be answered; nothing changes.

        None when it has no meaning now, or when a tool would get words of free text: dictation is not that exact.
        """
        if not text or self._matching.ending(self._notes) is not None:
            return None
        if agreed := copy.copy(self._consent).reply_to(text):
            return Reply(agreed)
        probe = copy.copy(self)
        probe._open, probe._misses = OpenCalls(), 0
        reply = probe._answer(text)
        if probe._misses:
            return reply if self._matching.tells(Words(text), self._now) else None
        if self._free_text_pending() and reply.calls:
            return None
        slots = probe._last_call[1] if reply.calls and probe._last_call is not None else {}
        return None if any(self._script.slots[name].kind == "text" for name in slots) else reply

    def results(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> Reply:
        """Answer the results of calls; with `more` further results follow.

        A response with a true `timeout` is a call that was given up.
        """
        parts = [self._outcome(outcome) for outcome in self._open.take(results, more=more)]
        return self._remember_reply(Reply(text=" ".join(part for part in parts if part)))

    def learn(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> None:
        """Take results of calls that get no answer; with `more` further results follow."""
        for outcome in self._open.take(results, more=more):
            for _, output in outcome.outputs:
                self._learn(output)

    def remember(self, text: str) -> None:
        """Add an utterance that gets no answer."""
        if text.strip():
            self._said = [*self._said, text.strip()][-MAX_SAID:]

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON for `restore`."""
        pending, asked = self._pending, self._text_question
        return {
            "pending": None
            if pending is None
            else {
                "intent": pending.intent,
                "slot": pending.slot,
                "slots": dict(pending.slots),
                "misses": pending.misses,
            },
            "text_question": None
            if asked is None
            else {"tool": asked.tool, "parameter": asked.parameter, "args": dict(asked.args), "misses": asked.misses},
            "said": list(self._said),
            "last_reply": self._last_reply,
            "question": self._question,
            "known": dict(self._known),
            "turns": self._turns,
            "misses": self._misses,
            "open": self._open.snapshot(),
            "told": self._notes.snapshot(),
            "announcement": self._announcement,
            "consent": self._consent.snapshot(),
            "remembered": dict(self._remembered),
            "last_call": None if self._last_call is None else [self._last_call[0], dict(self._last_call[1])],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `snapshot`; drop a question that the script lacks."""
        pending = state.get("pending")
        self._pending = None
        if pending and pending["intent"] in self._intents and pending["slot"] in self._script.slots:
            self._pending = Pending(**pending)
        asked = state.get("text_question")
        self._text_question = TextQuestion(**asked) if asked else None
        self._said = [str(item) for item in state.get("said", [])][-MAX_SAID:]
        self._last_reply = str(state.get("last_reply", ""))
        self._question = str(state.get("question", ""))
        self._known = dict(state.get("known", {}))
        self._turns = int(state.get("turns", 0))
        self._misses = int(state.get("misses", 0))
        self._open.restore(state.get("open", []))
        self._notes.restore(state.get("told", {}))
        self._announcement = str(state.get("announcement", ""))
        self._consent.restore(state.get("consent", {}))
        remembered = state.get("remembered", {})
        self._remembered = {name: value for name, value in remembered.items() if name in self._script.slots}
        last_call = state.get("last_call")
        self._last_call = (last_call[0], last_call[1]) if last_call else None

    # --- from words to intents ------------------------------------------------------------------------------------

    def _answer(self, text: str) -> Reply:
        words = Words(text)
        best = self._matching.best(words, self._now)
        if best is None or best[1].cost > 0:
            several = self._several(text)
            if several is not None:
                return several
        if self._pending is not None and (best is None or best[1].cost > 0):
            answer = self._pending_answer(words)
            if answer is not None and (best is None or answer.cost <= best[1].cost or self._free_text_pending()):
                return self._filled(self._pending, answer)
        ended = self._matching.ending(self._notes) is not None
        by_name = named_tools(words, [] if ended or not self._script.call_by_name else self._callable_by_name)
        asked = self._text_question
        if asked is not None and not by_name and (best is None or best[1].cost > 0) and (args := asked.answered(words)):
            return self._call_by_name(asked.tool, args)
        if best is not None:
            intent, match = best
            tools = {call.tool for call in intent.calls}
            # A tool called by name takes precedence, unless the script defines how to call it or what the words
            # mean in this phase.
            known = tools and tools <= set(self._tools) and match.cost == 0
            if not by_name or intent.during or tools & {tool.name for tool in by_name} or known:
                pending = self._pending if self._pending and self._pending.intent == intent.name else None
                return self._act(intent, {**(pending.slots if pending else {}), **match.slots})
        if by_name:
            self._pending = None
            tool = by_name[0]
            return self._call_by_name(tool.name, arguments_for(self._tools[tool.name], tool.rest))
        within = self._matching.find_within(words, self._now)
        if within is not None:
            return self._act(within, {})
        return self._changed_call(words) or self._answer_clause(text) or self._not_understood()

    def _answer_clause(self, text: str) -> Reply | None:
        """Answer the clause that means something, when the whole sentence does not.

        Nothing is called when two clauses ask for different calls, or when one of them forbids something.
        """
        found: list[tuple[Intent, Mapping[str, SlotValue]]] = []
        texts = clauses_of(text)
        for part in texts:
            words = Words(part)
            best = self._matching.best(words, self._now)
            answer = (
                self._pending_answer(words) if self._pending is not None and not self._free_text_pending() else None
            )
            if self._pending is not None and answer is not None and (best is None or answer.cost < best[1].cost):
                found.append((self._intents[self._pending.intent], {**self._pending.slots, **answer.slots}))
            elif best is not None:
                found.append((best[0], best[1].slots))
            elif self._last_call is not None and (changed := self._changed_slots(words)):
                intent, said = self._intents[self._last_call[0]], self._last_call[1]
                found.append((intent, {**said, **changed}))
        calling = [(intent, slots) for intent, slots in found if intent.calls]
        if len({intent.name for intent, _ in calling}) > 1:
            return None
        if calling:
            intent, slots = calling[-1]
            is_free = any(self._script.slots[name].kind == "text" for name in slots)
            return None if is_free or any(forbids(part) for part in texts) else self._act(intent, slots)
        own = [(intent, slots) for intent, slots in found if intent.during or intent.after]
        own = own or [(intent, slots) for intent, slots in found if intent.name not in _BY_THE_WAY]
        if not own:
            return None
        told = {name: value for _, slots in own for name, value in slots.items()}
        return self._act(own[0][0], {**told, **own[0][1]})

    def _call_by_name(self, tool: str, args: Mapping[str, Any]) -> Reply:
        """Call a tool, or ask for a text that it needs."""
        if parameter := missing_text(self._tools.get(tool, {}), args):
            self._text_question = TextQuestion(tool, parameter, args)
            return Reply(text=self._text_question.text)
        return self._call((ToolRequest(tool, args),), "", {})

    def _several(self, text: str) -> Reply | None:
        """Make the calls of a sentence such as "two soups and a coffee".

        Each part has to be whole, and all have to mean the same; None otherwise.
        """
        parts = [
            words for part in _JOINTS.split(text) if len(words := Words(part)) and not self._matcher.is_filler(words)
        ]
        if not 1 < len(parts) <= _MAX_PARTS:
            return None
        found = [self._matching.best(part, self._now) for part in parts]
        if not all(best is not None and best[0].calls for best in found) and not forbids(text):
            found = [best for best in found if best is not None and self._names_a_choice(best[0], best[1])]
        intents = {"" if best is None else best[0].name for best in found}
        intent = self._intents.get(next(iter(intents))) if len(intents) == 1 else None
        if intent is None or not intent.calls or any(call.tool not in self._tools for call in intent.calls):
            return None
        parts_of_phrases = (part for phrase in intent.typed for part in phrase if isinstance(part, SlotRef))
        if any(self._script.slots[part.slot].kind == "text" for part in parts_of_phrases):
            return None  # A text may have commas of its own.
        slots = [best[1].slots for best in found if best is not None]
        if any(name not in said for said in slots for call in intent.calls for name in call.needs):
            return None
        self._pending = None
        requests = [ToolRequest(call.tool, arguments_of(call, said)) for said in slots for call in intent.calls]
        return self._call(requests, intent.name, slots[-1])

    def _names_a_choice(self, intent: Intent, match: Match) -> bool:
        """Return True when a part names a value of a choice that a call needs."""
        needed = (name for call in intent.calls for name in call.needs)
        return match.cost < _A_WISH and any(
            name in match.slots and self._script.slots[name].kind == "choice" for name in needed
        )

    def _changed_call(self, words: Words) -> Reply | None:
        """Make the last call again with what the words change, as in "and in Rome?".

        Return None when they say anything else.
        """
        if self._last_call is None or self._last_call[0] not in self._intents:
            return None
        intent, said = self._intents[self._last_call[0]], self._last_call[1]
        slots = self._changed_slots(words)
        return self._act(intent, {**said, **slots}) if slots else None

    def _changed_slots(self, words: Words) -> Mapping[str, SlotValue]:
        """Return the slots of the last call that `words` give anew, {} for none."""
        if self._last_call is None or self._last_call[0] not in self._intents:
            return {}
        return self._matching.changed(self._intents[self._last_call[0]], words, self._now, self._last_call[1])

    @property
    def _callable_by_name(self) -> list[str]:
        return [name for name in self._tools if name not in self._phased]

    @property
    def _now(self) -> DialogueState:
        return DialogueState(self._notes, self._last_reply, self._tools)

    @property
    def _told(self) -> dict[str, str]:
        """Facts that the instruction and its notes tell."""
        facts = {name: self._notes.fact(*around) for name, around in self._script.facts.items()}
        return {name: value for name, value in facts.items() if value}

    @property
    def _has_all_tools(self) -> bool:
        return all(call.tool in self._tools for intent in self._script.intents for call in intent.calls)

    def _drop_unfit_question(self) -> None:
        if self._pending is None:
            return
        during = self._intents[self._pending.intent].during
        if (during and self._notes.age(during) is None) or self._matching.ending(self._notes) is not None:
            self._pending = None

    def _pending_answer(self, words: Words) -> Match | None:
        assert self._pending is not None
        slot = self._pending.slot
        patterns: tuple[Pattern, ...] = (*self._script.slots[slot].answer, (SlotRef(slot),))
        matches = [match for pattern in patterns if (match := self._matcher.match(pattern, words)) is not None]
        missing = [name for call in self._intents[self._pending.intent].calls for name in call.needs]
        missing = [name for name in (slot, *missing) if name not in self._pending.slots]
        if not matches and (said := self._matching.slots_only(missing, words)):
            return Match(0.0, said)
        return min(matches, key=lambda match: match.cost, default=None)

    def _free_text_pending(self) -> bool:
        return self._pending is not None and self._script.slots[self._pending.slot].kind == "text"

    def _filled(self, pending: Pending, answer: Match) -> Reply:
        return self._act(self._intents[pending.intent], {**pending.slots, **answer.slots})

    def _not_understood(self) -> Reply:
        ending = self._matching.ending(self._notes)
        if ending is not None:
            return Reply(text=self._fill_sentences(ending.end) or _NOT_UNDERSTOOD)
        self._misses += 1
        if asked := self._text_question:
            is_last = asked.misses + 1 >= _MISSES_ALLOWED
            self._text_question = None if is_last else replace(asked, misses=asked.misses + 1)
            if not is_last:
                return Reply(text=f"{_NOT_UNDERSTOOD} {asked.text}")
        pending = self._pending
        again = self._misses > 1 and self._fill(self._script.fallback_again, {})
        fallback = again or self._fill_sentences(self._script.fallback) or _NOT_UNDERSTOOD
        # A fallback that asks again keeps the question open.
        if pending is None or "{last_question" in self._script.fallback:
            return Reply(text=fallback)
        if pending.misses + 1 >= _MISSES_ALLOWED:
            self._pending = None
            return Reply(text=fallback)
        self._pending = Pending(pending.intent, pending.slot, pending.slots, pending.misses + 1)
        return Reply(text=f"{_NOT_UNDERSTOOD} {self._script.slots[pending.slot].ask}")

    # --- from intents to replies and calls ------------------------------------------------------------------------

    def _act(self, intent: Intent, said: Mapping[str, SlotValue]) -> Reply:
        if intent.again and self._last_call and self._last_call[0] in self._intents:
            intent, said = self._intents[self._last_call[0]], self._last_call[1]
        pending, self._pending = self._pending, None
        last = self._last_call[1] if intent.from_last_call and self._last_call else {}
        slots = {**last, **self._remembered, **said}
        if intent.remember:
            self._remembered = slots
        if intent.forget:
            self._text_question = None
        if not intent.calls:
            reply = Reply(text=self._reply_of(intent, slots, {}))
            if pending and not intent.forget and _last_question(reply.text) in ("", self._question):
                self._pending = pending  # a remark in between does not answer the question
            return reply
        unknown = next((call.tool for call in intent.calls if call.tool not in self._tools), None)
        if unknown is not None:
            return Reply(text=self._fill(self._script.unavailable, {"tool": _tool_title(unknown)}))
        missing = next((name for call in intent.calls for name in call.needs if name not in slots), None)
        if missing is not None:
            self._pending = Pending(intent.name, missing, slots)
            return Reply(text=self._script.slots[missing].ask)
        requests = [ToolRequest(c.tool, arguments_of(c, slots, {"told": self._told})) for c in intent.calls]
        return self._call(requests, intent.name, slots)

    def _call(self, requests: Sequence[ToolRequest], intent: str, slots: Mapping[str, SlotValue]) -> Reply:
        self._open.add(requests, intent, slots)
        self._last_call = (intent, slots)
        self._text_question = None
        self._question = ""  # the call answers it
        return Reply(calls=tuple(requests))

    def _outcome(self, outcome: Outcome) -> str:
        if outcome.given_up:
            return self._fill(self._script.timeout, {"tool": _tool_title(outcome.given_up)})
        for _, output in outcome.outputs:
            self._learn(output)
        call = outcome.call
        intent = self._intents.get(call.intent) if call else None
        if intent is not None and call is not None:
            answers = {"result": outcome.result, "results": dict(outcome.outputs)}
            text = self._reply_of(intent, call.slots, answers)
            if text:
                return text
        return " ".join(self._plain_outcome(name, output) for name, output in outcome.outputs)

    def _learn(self, output: Any) -> None:
        if not isinstance(output, Mapping) or output.get("error"):
            return
        for name, value in output.items():
            if name == "result":  # of a non-blocking call
                self._learn(value)
            elif isinstance(value, str | int | float) and len(str(value)) <= MAX_KNOWN_CHARS:
                self._known.pop(name, None)
                self._known[name] = value
        self._known = dict(list(self._known.items())[-_MAX_KNOWN:])

    def _plain_outcome(self, name: str, output: Any) -> str:
        facts = {"tool": _tool_title(name), "result": output}
        if isinstance(output, Mapping) and output.get("error"):
            return self._fill(self._script.failed, facts)
        return self._fill(self._script.told, {**facts, "result": describe(output) or "nothing"})

    def _reply_of(self, intent: Intent, slots: Mapping[str, SlotValue], answers: Mapping[str, Any]) -> str:
        facts = {**self._facts(), **slots, "result": {}, **answers}
        unconditional = []
        for line in intent.reply:
            text = line.fits(facts)
            if text is None:
                continue
            if line.when or intent.calls:
                return text
            unconditional.append(text)
        # Unconditional answers take turns.
        return unconditional[self._turns % len(unconditional)] if unconditional else ""

    def _facts(self) -> dict[str, Any]:
        examples = self._matching.examples(self._tools)
        special, general = self._matching.examples_now(self._now)
        special = self._some(special, _FEW_NOW)
        return {
            "examples": _listed(examples),
            "some_examples": _listed(self._some(examples, _FEW)),
            "examples_now": _listed([*special, *self._some(general, _FEW_NOW - len(special))]),
            "said": "; and ".join(self._said[-_RECALLED:]),
            "last_reply": self._last_reply,
            "last_question": self._question,
            "known": self._known,
            "tools": _listed([_tool_title(name) for name in self._tools]),
            **self._labels,
            "told": self._told,
            "title": self._script.title,
            "about": self._script.about,
            "abilities": self._script.abilities if self._has_all_tools else "",
            **self._remembered,
        }

    def _some(self, examples: Sequence[str], few: int) -> list[str]:
        """Return a few examples, others each turn: all of them would be long to hear."""
        count = min(few, len(examples))
        return [examples[(self._turns * count + offset) % len(examples)] for offset in range(count)]

    def _fill(self, template: str, facts: Mapping[str, Any]) -> str:
        return fill(template, {**self._facts(), **facts}) or ""

    def _fill_sentences(self, template: str) -> str:
        """Return the sentences of `template` whose placeholders can be filled."""
        facts = self._facts()
        filled = (fill(sentence, facts) for sentence in re.split(r"(?<=[.!?}])\s+(?=[A-Z{])", template))
        return " ".join(sentence for sentence in filled if sentence)

    def _remember_reply(self, reply: Reply) -> Reply:
        if reply.text:
            self._last_reply = reply.text
            self._question = _last_question(reply.text) or self._question
        return reply


def _last_question(text: str) -> str:
    questions = [sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if sentence.endswith("?")]
    return questions[-1] if questions else ""


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])}, or {texts[-1]}" if len(texts) > 1 else "".join(texts)


def _tool_title(name: str) -> str:
    return " ".join(name_words(name)) or name
