"""Play a script: answer utterances by replies or tool calls, results by words."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence, Set
from typing import Any

from gemini_live_runtime.local.dialogue.actions import Actions, joined
from gemini_live_runtime.local.dialogue.announcement import announcement_of
from gemini_live_runtime.local.dialogue.clause_finder import ClauseFinder, Wish
from gemini_live_runtime.local.dialogue.confirmation import is_no, meant, phrase_asked, question_of
from gemini_live_runtime.local.dialogue.dialogue_state import MAX_UNSAID, DialogueState, Pending
from gemini_live_runtime.local.dialogue.intents import IntentMatcher
from gemini_live_runtime.local.dialogue.spoken_grammar import spoken_grammar
from gemini_live_runtime.local.dialogue.tools_by_name import arguments_for, named_tools
from gemini_live_runtime.local.dialogue.unsure_wishes import unsure_wish
from gemini_live_runtime.local.dialogue.withdrawn_words import meant_instead
from gemini_live_runtime.local.dialogue.wording import Wording, asking_once
from gemini_live_runtime.local.language.idioms import asking_for_another
from gemini_live_runtime.local.language.party import is_for_a_party, with_people_counted
from gemini_live_runtime.local.language.shares import with_shares_counted
from gemini_live_runtime.local.language.transcript import numbers_said
from gemini_live_runtime.local.language.typed_signs import in_words_of_signs
from gemini_live_runtime.local.language.words import name_words
from gemini_live_runtime.local.parts import Reply, ToolRequest
from gemini_live_runtime.local.scripts.grammar import Grammar
from gemini_live_runtime.local.scripts.sample_sentences import SampleSentences, sample_sentences
from gemini_live_runtime.local.scripts.script_types import Intent, Script
from gemini_live_runtime.local.scripts.tool_output import output_of
from gemini_live_runtime.local.understanding.accounting import Accounting
from gemini_live_runtime.local.understanding.matching import Match, Matcher, words_for_things
from gemini_live_runtime.local.understanding.mood import is_call_off
from gemini_live_runtime.local.understanding.self_repair import SelfRepair
from gemini_live_runtime.local.understanding.tentative import proposes
from gemini_live_runtime.local.understanding.utterance_words import Words

_SOUNDS_LIKE = {"can": "can't", "can't": "can"}
_ONE_OF_TWO = "Please say one of the two."
_ASK_AGAIN = "I lost my thread. Please ask me again."
_LONG_ENOUGH = 6
"""Words of a dictated text from which on a share of them has to belong to its meaning."""
_LEAST_SHARE = 0.35
_LEAST_SHARE_OF_WISH = 0.75
"""Share for a wish of which something is missing: the dialogue would ask for it."""


class ScriptedDialogue:
    """Dialogue of one conversation that plays a `Script`.

    `snapshot` and `restore` move it to another connection.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._matcher = Matcher(script.slots, script.filler, words_for_things(script))
        self._matching = IntentMatcher(script, self._matcher)
        self._repair = SelfRepair(script.slots)
        self._intents = {intent.name: intent for intent in script.intents}
        # Tools used in phases cannot be called by name: the script defines when they are called.
        self._phased = {call.tool for intent in script.intents if intent.during for call in intent.calls}
        self._samples = sample_sentences(script)
        self._accounting = Accounting(script)
        self._clauses = ClauseFinder(script, self._matcher, self._matching, self._accounting)
        self._state = DialogueState()
        self._wording, self._actions = self._parts_for(self._state)

    @property
    def grammar(self) -> Grammar:
        """Grammar of what may be said now."""
        return spoken_grammar(self._script, self._state)

    @property
    def samples(self) -> SampleSentences:
        """Sentences like those that it understands."""
        return self._samples

    @property
    def pronunciations(self) -> Mapping[str, tuple[str, ...]]:
        """ARPAbet pronunciations that the script defines."""
        return self._script.pronunciations

    @property
    def is_asking(self) -> bool:
        """True while a question is open."""
        return bool(self._state.question or phrase_asked(self._state.last_reply) or self._state.text_question)

    def declare(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        """Set the client's tools: name to JSON schema of the parameters."""
        self._state.tools = dict(tools)

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the labels of the client's setup, such as the agent's name."""
        names = (" ".join(name_words(name)) for name in labels.get("phases", "").split(","))
        self._state.labels = {
            "agent": " ".join(name_words(labels.get("agent", ""))),
            "phases": ", ".join(filter(None, names)),
        }

    def instruct(self, text: str) -> None:
        """Set the instruction; drop an open question that belongs to another one."""
        self._state.notes.instruct(text)
        self._drop_unfit_question()

    def note(self, text: str) -> None:
        """Add a note to the instruction.

        What a notification says is no instruction, nor is a question of consent: they wait for the next prompt.
        """
        if any(part.take(text) for part in self._state.readers):
            return
        if announcement := announcement_of(text):
            self._state.announcement = announcement
            return
        self._state.notes.note(text)
        self._drop_unfit_question()

    def prompt(self) -> Reply:
        """Return what to say unasked.

        That is what an earlier connection owed (results from a client's notes, the answer to words that were lost, the
        rest of an answer), a question of consent, a notification, a cue, the greeting, the open question or a line.
        """
        state = self._state
        owed = self._owed()
        if owed:
            return state.add_reply(joined(owed))
        goes_on = state.broken.is_wanted
        if rest := self._rest():
            return Reply(rest)
        if question := state.consent.ask():
            return state.add_reply(Reply(question))
        announcement, state.announcement = state.announcement, ""
        if announcement:
            # An open question stays open.
            return Reply(announcement)
        for text in state.notes.newest_first():
            for cue in self._script.cues:
                said = self._wording.fill(cue.say) if any(part in text for part in cue.told) else ""
                if said:
                    state.question = ""  # the cue replaces an open question
                    return state.add_reply(Reply(said))
        if not (state.turns or state.last_reply or goes_on):
            return state.add_reply(Reply(self._wording.fill_sentences(self._script.greeting)))
        if state.pending is not None:
            return state.add_reply(Reply(self._script.slots[state.pending.slot].ask))
        line = _ASK_AGAIN if goes_on else self._wording.fill(self._script.prompted)
        return state.add_reply(Reply(state.question or line))

    def _rest(self) -> str:
        """Return the rest of an answer that broke off; "" where it is not known."""
        state = self._state
        if not state.broken.is_wanted:
            return ""
        state.broken.forget()
        if state.broken.said and (rest := state.broken.rest_of((state.last_reply,))):
            return rest
        # The handle of this connection may be older than that answer, and the words are the same.
        again = self.preview(state.broken.asked)
        rest = "" if again is None or again.calls else state.broken.rest_of((again.text,))
        if rest:
            self.respond(state.broken.asked, typed=False)  # Of a typed one the whole answer would be owed.
        elif not (state.turns or state.broken.asked):
            rest = state.broken.rest_of((self._wording.fill_sentences(self._script.greeting),))
        return rest

    def respond(self, text: str, *, typed: bool, is_doubtful: bool = False) -> Reply:
        """Answer an utterance; "" was not understood. Typed and spoken mean the same.

        A doubtful one is asked about: after a yes it is acted on.
        """
        state = self._state
        owed = self._owed(but=text)
        if is_call_off(Words(text).plain):
            owed = self._without_calls(owed)
        sure = question_of(text) if is_doubtful else "" if typed else self._question_of_can(text)
        whole = (*owed, Reply(sure) if sure else self._reply_to(text))
        if typed:
            state.owed = whole
        return state.add_reply(joined(whole))

    def _question_of_can(self, text: str) -> str:
        """Return a question about "it can wait" where "it can't wait" means another thing.

        The two sound alike: one is easily heard for the other. Return "" for other words.
        """
        heard = text.lower().split()
        other = [_SOUNDS_LIKE.get(word, word) for word in heard]
        if other == heard:
            return ""
        best, opposite = (self._matching.best(Words(" ".join(words)), self._state) for words in (heard, other))
        if best is None or opposite is None or best[0].name == opposite[0].name or not best[0].acts:
            return ""
        return question_of(" ".join(heard).rstrip(".,!?").replace("can't", "cannot"))

    def _without_calls(self, owed: Sequence[Reply]) -> tuple[Reply, ...]:
        """Return the replies that call no tool; the calls of others are given up."""
        for reply in owed:
            if reply.calls:
                self._state.open.drop(reply.calls)
                self._state.last_call = None
        return tuple(reply for reply in owed if not reply.calls)

    def on_unsaid(self) -> None:
        """Keep what the last reply owed, of which nothing was said, for the next one.

        That is the answer to what was typed, and what an earlier connection has left. Those who speak on go on with
        what they have said, and get one answer to it.
        """
        self._state.unsaid = self._state.owed[-MAX_UNSAID:]

    def _owed(self, *, but: str = "") -> tuple[Reply, ...]:
        """Return the replies to what has no answer yet.

        Words of an earlier connection that are `but` get none.
        """
        state = self._state
        unsaid, results, lost = state.pop_unsaid(), state.told.pop(), state.lost.pop()
        told = " ".join(self._wording.output_of(name, output_of(response)) for name, response in results)
        replies = [self._reply_to(text) for text in lost if text != but.strip()]
        state.owed = tuple(reply for reply in (*unsaid, Reply(told), *replies) if reply.text or reply.calls)
        return state.owed

    def _reply_to(self, text: str) -> Reply:
        state = self._state
        state.broken.forget()
        state.turns += 1
        state.heard = text
        misses = state.misses
        agreed = state.consent.reply_to(text)
        state.heard = meant(text, state.last_reply)
        reply = Reply(agreed) if agreed else self._answer(state.heard)
        if state.misses == misses:
            state.misses = 0
        self.remember(text)
        return reply

    def preview(self, text: str, *, is_exact: bool = False) -> Reply | None:
        """Return what a dictated `text` would be answered; nothing changes.

        None when it has no meaning now. Unless the words are exact, None as well when a tool would get free text, and
        when few of them belong to the meaning.
        """
        if not text or self._matching.ending(self._state.notes) is not None:
            return None
        if agreed := copy.copy(self._state.consent).reply_to(text):
            return Reply(agreed)
        trial, reply = self._try(text)
        if trial._state.misses:
            return reply if self._matching.tells(Words(text), self._state) else None
        if is_exact:
            return reply
        if self._clauses.is_text_pending(self._state) and reply.calls:
            return None
        if not reply.calls and self._is_by_chance(Words(text)):
            return None
        slots = trial._state.last_call[1] if reply.calls and trial._state.last_call is not None else {}
        return None if any(self._script.slots[name].kind == "text" for name in slots) else reply

    def keeps_numbers(self, text: str) -> bool:
        """Return True when a call, a question or a field would have its numbers."""
        trial, reply = self._try(text)
        if reply.calls or self._state.pending is not None or trial._state.pending is not None:
            return True
        told = self._matching.facts(meant(text, self._state.last_reply), self._state).values()
        return any(numbers_said(str(value)) for value in told)

    def _try(self, text: str) -> tuple[ScriptedDialogue, Reply]:
        """Answer `text` in a copy, and return both."""
        trial = copy.copy(self)
        trial._state = self._state.for_trial()
        trial._state.heard = text
        trial._wording, trial._actions = self._parts_for(trial._state)
        return trial, trial._answer(meant(text, self._state.last_reply))

    def _is_by_chance(self, words: Words) -> bool:
        """Return True when few words of a dictated text belong to its meaning.

        Of other speech, dictation makes common words, among which one or two may mean something.
        """
        best = self._matching.best(words, self._state)
        if best is None or best[1].cost == 0 or len(words) < _LONG_ENOUGH:
            return False
        # In a phase people tell stories; at any time, one word among many is hardly theirs.
        if best[0].during and any(meaning.among_others for meaning in best[0].means):
            return False
        least = _LEAST_SHARE_OF_WISH if best[0].calls else _LEAST_SHARE
        return self._accounting.share(best[0], words, best[1].slots) < least

    def results(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> Reply:
        """Answer the results of calls; with `more` further results follow.

        A response with a true `timeout` is a call that was given up.
        """
        parts = [self._actions.told(outcome) for outcome in self._state.open.take(results, more=more)]
        return self._state.add_reply(Reply(text=asking_once(parts)))

    def learn(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> None:
        """Take results of calls that get no answer; with `more` further results follow."""
        for outcome in self._state.open.take(results, more=more):
            for _, output in outcome.outputs:
                self._state.add_output(output)

    def remember(self, text: str) -> None:
        """Add an utterance that gets no answer."""
        self._state.add_utterance(text)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON for `restore`."""
        return self._state.snapshot()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `snapshot`; drop what the script lacks."""
        self._state.restore(state, self._script)

    def _parts_for(self, state: DialogueState) -> tuple[Wording, Actions]:
        wording = Wording(self._script, self._matching, state)
        return wording, Actions(self._script, self._matching, self._accounting, wording, state)

    # --- from words to intents ------------------------------------------------------------------------------------

    def _answer(self, text: str) -> Reply:
        is_dictated = self._clauses.is_text_pending(self._state)
        if not is_dictated:
            text = in_words_of_signs(text)
            text = self._with_party(self._swap_in(text) or self._repair.resolve(text))
        reply = self._declined(text) or (None if is_dictated else self._withdrawn(text) or self._unsure_reply(text))
        if reply is not None:
            return reply
        words = Words(text)
        best = self._matching.best(words, self._state)
        if best is None or best[1].cost > 0:
            reply = self._several(text) or self._answer_to_question(words, best)
        elif self._state.pending is not None and (
            self._asks_again(self._state.pending, *best)
            or not (is_dictated or best[0].calls or best[0].acts or not self._clauses.is_an_answer(words, self._state))
        ):
            reply = self._answer_to_question(words, best)
        return reply or self._meant_or_named(words, best) or self._meant_in_part(words)

    def _declined(self, text: str) -> Reply | None:
        """Return the reply to a no after "Do you mean ...?"."""
        state = self._state
        if not (phrase_asked(state.last_reply) and is_no(text)):
            return None
        if state.pending is not None and self._script.slots[state.pending.slot].ask != state.question:
            state.pending = None  # What was asked back was another wish.
        return Reply(self._wording.fill("All right. {last_question}") or "All right.")

    def _withdrawn(self, text: str) -> Reply | None:
        """Return the reply to words that take others back, or leave two open."""
        instead = meant_instead(text, self._repair, self._matching, self._state)
        if instead is None:
            return None
        if not instead and self._repair.leaves_open(text):
            best = self._matching.best(Words(text), self._state)
            if best is not None and not best[0].acts and (best[0].during or best[0].after):
                return None  # The script has an answer of its own.
            return Reply(self._wording.fill(f"{_ONE_OF_TWO} {{last_question}}") or _ONE_OF_TWO)
        return self._answer(instead) if instead else self._actions.not_understood()

    def _several(self, text: str) -> Reply | None:
        """Return the reply to more than one wish."""
        several = self._clauses.wishes_beside(text, self._state)
        different = self._clauses.different_wishes(text, self._state) if len(several) < 2 else []
        if several and not different:
            return self._actions.call_all(several)
        return self._actions.call_each(different) if different else None

    def _answer_to_question(self, words: Words, best: tuple[Intent, Match] | None) -> Reply | None:
        """Return the reply to an answer to the open question.

        None where `best` is a better meaning.
        """
        pending, state = self._state.pending, self._state
        answer = self._clauses.pending_answer(words, state) if pending is not None else None
        if pending is not None and best is not None and answer is None and self._asks_again(pending, *best):
            # "My number? It ends with 42" answers the question, and asks for no name again.
            told = {name: value for name, value in best[1].slots.items() if name == pending.slot}
            answer = Match(best[1].cost, told) if told else None
        if pending is None or answer is None:
            return None
        is_other = best is not None and (
            answer.cost > best[1].cost or self._answers_more(pending, answer, best[0], words)
        )
        return None if is_other and not self._clauses.is_text_pending(state) else self._filled(pending, answer, words)

    def _meant_or_named(self, words: Words, best: tuple[Intent, Match] | None) -> Reply | None:
        """Return the reply to the best meaning, or to a tool called by its name."""
        state = self._state
        ended = self._matching.ending(state.notes) is not None
        by_name = named_tools(words, [] if ended or not self._script.call_by_name else self._callable_by_name)
        asked = state.text_question
        if asked is not None and not by_name and (best is None or best[1].cost > 0) and (args := asked.answered(words)):
            return self._actions.call_by_name(asked.tool, args)
        if best is not None and not (by_name and self._is_rather_named(best, {tool.name for tool in by_name})):
            intent, match = best
            pending = state.pending if state.pending and state.pending.intent == intent.name else None
            slots = {**(pending.slots if pending else {}), **match.slots}
            says_more = self._actions.says_more(intent, slots, words)
            part = self._clauses.wish_in_clause(words.text, state) if says_more else None
            return self._actions.act_on(part or Wish(intent, slots, words))
        if not by_name:
            return None
        state.pending = None
        tool = by_name[0]
        return self._actions.call_by_name(tool.name, arguments_for(state.tools[tool.name], tool.rest))

    def _is_rather_named(self, best: tuple[Intent, Match], named: Set[str]) -> bool:
        """Return True when a tool called by name takes precedence over a meaning.

        Unless the script defines how to call it, or what the words mean in this phase.
        """
        intent, match = best
        tools = {call.tool for call in intent.calls}
        is_known = bool(tools) and tools <= set(self._state.tools) and match.cost == 0
        return not (intent.during or tools & named or is_known)

    def _meant_in_part(self, words: Words) -> Reply:
        """Return the reply to a part of the words that has a meaning."""
        state, text = self._state, words.text
        within = self._matching.find_within(words, state)
        if within is not None:
            return self._actions.act(within, {}, words)
        changed = self._clauses.changed_call(words, state)
        if changed is not None and changed.intent.acts and proposes(text):
            return self._actions.ask_back(changed.intent, changed.slots)
        if changed is None and (several := self._clauses.wishes_in_a_sentence(text, state)):
            return self._actions.call_all(several)
        wish = changed or self._clauses.wish_in_clause(text, state)
        if wish is None and (told := self._matching.told(text, state)):
            wish = Wish(*told, words)
        wish = wish or next(iter(self._clauses.wishes_beside(text, state, to_ask=True)), None)
        if wish is None and (change := asking_for_another(text)):
            return self._answer(change)
        return self._actions.not_understood() if wish is None else self._actions.act_on(wish)

    def _with_party(self, text: str) -> str:
        """Return `text` with the number of guests, or of shares, that it lists."""
        text = with_shares_counted(text)
        slots = [slot for slot in self._script.slots.values() if slot.party]
        is_asked = self._state.pending is not None or any(slot.ask == self._state.question for slot in slots)
        return with_people_counted(text) if slots and (is_asked or is_for_a_party(text)) else text

    def _swap_in(self, text: str) -> str:
        """Return "not the fish but the pasta" where the script has a phrase for both.

        Return "" for other words.
        """
        denial = self._repair.denial(text)
        best = self._matching.best(Words(denial), self._state) if denial else None
        return denial if best is not None and best[1].cost == 0 and len(best[1].slots) > 1 else ""

    def _unsure_reply(self, text: str) -> Reply | None:
        """Return the reply to a wish that is put off or hedged, None for other words."""
        unsure = unsure_wish(text, self._clauses, self._state, is_asking=self.is_asking)
        if unsure is None:
            return None
        if unsure.in_turn:
            return self._actions.call_each(unsure.in_turn)
        if unsure.to_ask is not None:
            return self._actions.ask_back(unsure.to_ask.intent, unsure.to_ask.slots)
        return self._answer(unsure.instead)

    def _answers_more(self, pending: Pending, answer: Match, other: Intent, words: Words) -> bool:
        """Return True when `other` replies to more than the answer.

        Such as to the day of "tomorrow at eight".
        """
        is_reply = bool(other.after) and not other.calls and other.name != pending.intent
        return is_reply and self._actions.says_more(
            self._intents[pending.intent], {**pending.slots, **answer.slots}, words
        )

    def _asks_again(self, pending: Pending, intent: Intent, match: Match) -> bool:
        """Return True when another intent than the one that asked lacks a slot."""
        needed = {name for call in intent.calls for name in call.needs}
        return intent.name != pending.intent and not needed <= {*match.slots, *self._state.remembered}

    @property
    def _callable_by_name(self) -> list[str]:
        return [name for name in self._state.tools if name not in self._phased]

    def _drop_unfit_question(self) -> None:
        state = self._state
        if state.pending is None:
            return
        during = self._intents[state.pending.intent].during
        if (during and state.notes.age(during) is None) or self._matching.ending(state.notes) is not None:
            state.pending = None

    def _filled(self, pending: Pending, answer: Match, words: Words) -> Reply:
        return self._actions.act(self._intents[pending.intent], {**pending.slots, **answer.slots}, words)
