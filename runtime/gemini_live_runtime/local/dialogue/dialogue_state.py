"""Keep the state of a dialogue in one conversation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from gemini_live_runtime.local.dialogue.broken_answer import BrokenAnswer
from gemini_live_runtime.local.dialogue.confirmation import phrase_asked
from gemini_live_runtime.local.dialogue.consent_question import ConsentQuestion
from gemini_live_runtime.local.dialogue.instruction_notes import InstructionNotes
from gemini_live_runtime.local.dialogue.lost_words import LostWords
from gemini_live_runtime.local.dialogue.open_calls import OpenCalls
from gemini_live_runtime.local.dialogue.told_results import ToldResults
from gemini_live_runtime.local.dialogue.tools_by_name import TextQuestion
from gemini_live_runtime.local.parts import Reply
from gemini_live_runtime.local.scripts.script_types import Script
from gemini_live_runtime.local.understanding.matching import SlotValue
from gemini_live_runtime.records import mutable_record, record

MAX_SAID = 50
"""Utterances kept; the oldest are dropped."""

MAX_KNOWN_CHARS = 300
"""Longest value of a result that is kept."""

_MAX_KNOWN = 40

MAX_UNSAID = 32
"""Replies kept of which nothing was said; the oldest are dropped. A client keeps as many texts over an outage."""


@record
class Pending:
    """Open question: the intent that asks, the missing slot and the filled ones."""

    intent: str
    slot: str
    slots: Mapping[str, SlotValue]
    misses: int = 0


@mutable_record
class DialogueState:
    """State of one conversation.

    All but `tools` and `labels`, which each connection declares, is in a `snapshot`.
    """

    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Declared tools: name to JSON schema of the parameters."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Words of the client's setup, such as the agent's name."""
    pending: Pending | None = None
    text_question: TextQuestion | None = None
    heard: str = ""
    """The utterance that is answered now."""
    said: list[str] = field(default_factory=list)
    last_reply: str = ""
    question: str = ""
    """Last question asked, "" once it is answered."""
    known: dict[str, str | int | float] = field(default_factory=dict)
    """Values of results."""
    turns: int = 0
    misses: int = 0
    """Utterances in a row that were not understood."""
    open: OpenCalls = field(default_factory=OpenCalls)
    notes: InstructionNotes = field(default_factory=InstructionNotes)
    announcement: str = ""
    """Words about a notification, until the next prompt."""
    consent: ConsentQuestion = field(default_factory=ConsentQuestion)
    broken: BrokenAnswer = field(default_factory=BrokenAnswer)
    lost: LostWords = field(default_factory=LostWords)
    told: ToldResults = field(default_factory=ToldResults)
    owed: tuple[Reply, ...] = ()
    """Replies still to be said when nothing of the last reply was."""
    unsaid: tuple[Reply, ...] = ()
    """Replies of which nothing was said, until the next one."""
    remembered: Mapping[str, SlotValue] = field(default_factory=dict)
    last_call: tuple[str, Mapping[str, SlotValue]] | None = None

    @property
    def readers(self) -> tuple[ConsentQuestion | BrokenAnswer | LostWords | ToldResults, ...]:
        """Readers of notes that are no instructions; each takes those that are its own."""
        return self.consent, self.broken, self.lost, self.told

    def for_trial(self) -> DialogueState:
        """Return a copy whose calls and misses are its own."""
        return replace(self, open=OpenCalls(), misses=0)

    def pop_unsaid(self) -> tuple[Reply, ...]:
        """Return the replies of which nothing was said, and forget them."""
        unsaid, self.unsaid = self.unsaid, ()
        return unsaid

    def add_utterance(self, text: str) -> None:
        """Keep an utterance, unless it is empty."""
        if text.strip():
            self.said = [*self.said, text.strip()][-MAX_SAID:]

    def add_reply(self, reply: Reply) -> Reply:
        """Keep the words of a reply, and the question that it ends with; return it."""
        if reply.text:
            self.last_reply = reply.text
            # "Do you mean: order a taxi?" is about the answer to a question that stays open.
            asked = "" if phrase_asked(reply.text) else last_question(reply.text)
            self.question = asked or self.question
        return reply

    def add_output(self, output: Any) -> None:
        """Keep the values of a tool's output."""
        if not isinstance(output, Mapping) or output.get("error"):
            return
        for name, value in output.items():
            if name == "result":  # of a non-blocking call
                self.add_output(value)
            elif isinstance(value, str | int | float) and len(str(value)) <= MAX_KNOWN_CHARS:
                self.known.pop(name, None)
                self.known[name] = value
        self.known = dict(list(self.known.items())[-_MAX_KNOWN:])

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON for `restore`."""
        pending, asked = self.pending, self.text_question
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
            "said": list(self.said),
            "last_reply": self.last_reply,
            "question": self.question,
            "known": dict(self.known),
            "turns": self.turns,
            "misses": self.misses,
            "open": self.open.snapshot(),
            "told": self.notes.snapshot(),
            "announcement": self.announcement,
            "consent": self.consent.snapshot(),
            "remembered": dict(self.remembered),
            "last_call": None if self.last_call is None else [self.last_call[0], dict(self.last_call[1])],
        }

    def restore(self, state: Mapping[str, Any], script: Script) -> None:
        """Continue from a `snapshot`; drop what `script` lacks."""
        pending = state.get("pending")
        self.pending = None
        if pending and pending["intent"] in {intent.name for intent in script.intents}:
            self.pending = Pending(**pending) if pending["slot"] in script.slots else None
        asked = state.get("text_question")
        self.text_question = TextQuestion(**asked) if asked else None
        self.said = [str(item) for item in state.get("said", [])][-MAX_SAID:]
        self.last_reply = str(state.get("last_reply", ""))
        self.question = str(state.get("question", ""))
        self.known = dict(state.get("known", {}))
        self.turns = int(state.get("turns", 0))
        self.misses = int(state.get("misses", 0))
        self.open.restore(state.get("open", []))
        self.notes.restore(state.get("told", {}))
        self.announcement = str(state.get("announcement", ""))
        self.consent.restore(state.get("consent", {}))
        remembered = state.get("remembered", {})
        self.remembered = {name: value for name, value in remembered.items() if name in script.slots}
        last_call = state.get("last_call")
        self.last_call = (last_call[0], last_call[1]) if last_call else None


def last_question(text: str) -> str:
    """Return the last question of a text, "" for none."""
    questions = [sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if sentence.endswith("?")]
    return questions[-1] if questions else ""
