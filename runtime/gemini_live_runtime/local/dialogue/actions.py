"""Act on what was meant: reply, ask for what is missing, or call tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gemini_live_runtime.local.dialogue.clause_finder import Wish
from gemini_live_runtime.local.dialogue.confirmation import asks_back, check_of, question_of
from gemini_live_runtime.local.dialogue.dialogue_state import DialogueState, Pending, last_question
from gemini_live_runtime.local.dialogue.intents import IntentMatcher
from gemini_live_runtime.local.dialogue.open_calls import Outcome, arguments_of, lacks_facts
from gemini_live_runtime.local.dialogue.tools_by_name import TextQuestion, missing_text
from gemini_live_runtime.local.dialogue.unsaid_counts import UnsaidCount, unsaid_count
from gemini_live_runtime.local.dialogue.wording import Wording, tool_title
from gemini_live_runtime.local.parts import Reply, ToolRequest
from gemini_live_runtime.local.scripts.script_types import Intent, Script
from gemini_live_runtime.local.understanding.accounting import Accounting
from gemini_live_runtime.local.understanding.matching import SlotValue
from gemini_live_runtime.local.understanding.tentative import hesitates
from gemini_live_runtime.local.understanding.utterance_words import Words

_NOT_UNDERSTOOD = "I didn't catch that."
_MISSES_ALLOWED = 2
"""Misses in a row after which a question is let go."""


class Actions:
    """Replies and calls of a script in one state of its conversation."""

    def __init__(
        self, script: Script, matching: IntentMatcher, accounting: Accounting, wording: Wording, state: DialogueState
    ) -> None:
        self._script = script
        self._matching = matching
        self._accounting = accounting
        self._wording = wording
        self._state = state
        self._intents = {intent.name: intent for intent in script.intents}

    def call_by_name(self, tool: str, args: Mapping[str, Any]) -> Reply:
        """Call a tool, or ask for a text that it needs."""
        if parameter := missing_text(self._state.tools.get(tool, {}), args):
            self._state.text_question = TextQuestion(tool, parameter, args)
            return Reply(text=self._state.text_question.text)
        return self.call((ToolRequest(tool, args),), "", {})

    def not_understood(self) -> Reply:
        """Count a miss; ask again or say what can be said."""
        state = self._state
        ending = self._matching.ending(state.notes)
        if ending is not None:
            return Reply(text=self._wording.fill_sentences(ending.end) or _NOT_UNDERSTOOD)
        state.misses += 1
        if asked := state.text_question:
            is_last = asked.misses + 1 >= _MISSES_ALLOWED
            state.text_question = None if is_last else replace(asked, misses=asked.misses + 1)
            if not is_last:
                return Reply(text=f"{_NOT_UNDERSTOOD} {asked.text}")
        pending = state.pending
        again = self._fallback_again()
        fallback = again or self._wording.fill_sentences(self._script.fallback) or _NOT_UNDERSTOOD
        # A fallback that asks again keeps the question open.
        if pending is None or "{last_question" in self._script.fallback:
            return Reply(text=fallback)
        if pending.misses + 1 >= _MISSES_ALLOWED:
            state.pending = None
            return Reply(text=f"I'll leave that for now. {fallback}")
        state.pending = Pending(pending.intent, pending.slot, pending.slots, pending.misses + 1)
        return Reply(text=f"{_NOT_UNDERSTOOD} {self._script.slots[pending.slot].ask}")

    def _fallback_again(self) -> str:
        """Return what answers a second miss in a row, and further ones in other words."""
        lines = self._script.fallback_again
        again = self._state.misses - 2
        return self._wording.fill(lines[again % len(lines)]) if lines and again >= 0 else ""

    def act_on(self, wish: Wish) -> Reply:
        """Do what a wish asks for, as `act` does."""
        return self.act(wish.intent, wish.slots, wish.words)

    def act(self, intent: Intent, said: Mapping[str, SlotValue], words: Words) -> Reply:
        """Do what `words` ask for, or ask first when they say more than that."""
        state = self._state
        is_unsure = (
            intent.is_consent and bool(intent.calls) and hesitates(words.text) and not asks_back(state.last_reply)
        )
        is_unheard = not (intent.calls or self._matching.is_told(intent, state.heard, state))
        if is_unheard or self.says_more(intent, said, words) or (is_unsure and state.question):
            return self.ask_back(intent, said)
        if intent.again and state.last_call and state.last_call[0] in self._intents:
            last_intent = self._intents[state.last_call[0]]
            # What was put right, such as "make that two", is not wanted once more.
            if not any(value is True for call in last_intent.calls for value in call.args.values()):
                intent, said = last_intent, state.last_call[1]
        pending, state.pending = state.pending, None
        last = state.last_call[1] if intent.from_last_call and state.last_call else {}
        slots = {**last, **state.remembered, **said}
        if intent.remember:
            state.remembered = slots
        if intent.forget:
            state.text_question = None
        if not intent.calls:
            reply = Reply(text=self._wording.reply_of(intent, slots, {}))
            if pending and not intent.forget and last_question(reply.text) in ("", state.question):
                state.pending = pending  # a remark in between does not answer the question
            return reply
        unknown = next((call.tool for call in intent.calls if call.tool not in state.tools), None)
        if unknown is not None:
            return Reply(text=self._wording.fill(self._script.unavailable, {"tool": tool_title(unknown)}))
        missing = next((name for call in intent.calls for name in call.needs if name not in slots), None)
        if missing is not None:
            state.pending = Pending(intent.name, missing, slots)
            return Reply(text=self._script.slots[missing].ask)
        if unsaid := self._unsaid_count(Wish(intent, slots, words)):
            return self._ask_for(unsaid, intent, slots)
        facts = {"told": self._wording.told, "known": state.known}
        if any(lacks_facts(call, facts) for call in intent.calls):
            return Reply(text=self._wording.reply_of(intent, slots, {"result": {"error": "there is nothing to do"}}))
        requests = [ToolRequest(call.tool, arguments_of(call, slots, facts)) for call in intent.calls]
        return self.call(requests, intent.name, slots)

    def _unsaid_count(self, wish: Wish) -> UnsaidCount | None:
        return unsaid_count(wish.intent, wish.slots, wish.words.plain, self._script.slots)

    def _ask_for(self, unsaid: UnsaidCount, intent: Intent, slots: Mapping[str, SlotValue]) -> Reply:
        self._state.pending = Pending(intent.name, unsaid.slot, slots)
        return Reply(unsaid.question(self._script.slots))

    def says_more(self, intent: Intent, said: Mapping[str, SlotValue], words: Words) -> bool:
        """Return True when words are left over that nothing done by `intent` explains."""
        if not (intent.acts or intent.calls):
            return False
        return bool(self._accounting.unaccounted(intent, words, said, asked=self._state.question))

    def ask_back(self, intent: Intent, said: Mapping[str, SlotValue]) -> Reply:
        """Ask about `intent` before it is acted on."""
        question = self._state.question
        if intent.is_consent and question:
            check = check_of(question)
            return Reply(check) if check else self.not_understood()
        phrase = self._accounting.phrase_for(intent, said)
        if not phrase:
            return self.not_understood()
        missing = next((name for call in intent.calls for name in call.needs if name not in said), None)
        # Who goes on with what is missing has agreed: "book a table?" - "for five of us".
        asked = self._state.pending
        kept = asked if asked is not None and asked.intent == intent.name else None
        self._state.pending = Pending(intent.name, missing, said) if missing else kept
        return Reply(question_of(phrase))

    def call_all(self, wishes: Sequence[Wish]) -> Reply:
        """Make the calls of wishes that mean the same."""
        for wish in wishes:
            if unsaid := self._unsaid_count(wish):
                return self._ask_for(unsaid, wish.intent, wish.slots)
        self._state.pending = None
        last = wishes[-1]
        calls = [[ToolRequest(call.tool, arguments_of(call, w.slots)) for call in w.intent.calls] for w in wishes]
        if last.intent.each:
            return joined([self.call(made, last.intent.name, w.slots) for made, w in zip(calls, wishes, strict=True)])
        requests = [request for made in calls for request in made]
        reply = self.call(requests, last.intent.name, last.slots)
        if len(requests) > 1:
            # "The same again" could be any of them.
            self._state.last_call = None
        return reply

    def call_each(self, wishes: Sequence[Wish]) -> Reply:
        """Make the calls of wishes that mean different things."""
        self._state.pending = None
        replies = [self.act_on(wish) for wish in wishes]
        self._state.last_call = None
        return joined(replies)

    def call(self, requests: Sequence[ToolRequest], intent: str, slots: Mapping[str, SlotValue]) -> Reply:
        """Call tools and close the open question, which the call answers."""
        self._state.open.add(requests, intent, slots)
        self._state.last_call = (intent, slots)
        self._state.text_question = None
        self._state.question = ""
        return Reply(calls=tuple(requests))

    def told(self, outcome: Outcome) -> str:
        """Return what to say about the results of calls."""
        if outcome.given_up:
            return self._wording.fill(self._script.timeout, {"tool": tool_title(outcome.given_up)})
        for _, output in outcome.outputs:
            self._state.add_output(output)
        call = outcome.call
        intent = self._intents.get(call.intent) if call else None
        if intent is not None and call is not None:
            answers = {"result": outcome.result, "results": dict(outcome.outputs)}
            text = self._wording.reply_of(intent, call.slots, answers)
            if text:
                return text
        return " ".join(self._wording.output_of(name, output) for name, output in outcome.outputs)


def joined(replies: Sequence[Reply]) -> Reply:
    """Return one reply that says all texts and makes all calls."""
    text = " ".join(reply.text for reply in replies if reply.text)
    return Reply(text, tuple(call for reply in replies for call in reply.calls))
