"""Define the parts of a dialogue script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from gemini_live_runtime.local.language.words import MAX_SPOKEN
from gemini_live_runtime.records import record

if TYPE_CHECKING:
    # Agents read words by the same types, and need nothing of what is said about tools' results.
    from gemini_live_runtime.local.scripts.template import Line

KINDS = ("choice", "name", "number", "duration", "time", "year", "text")
Kind = Literal["choice", "name", "number", "duration", "time", "year", "text"]
Scalar = str | int | float | bool


@record
class SlotRef:
    """Place in a pattern that a slot fills."""

    slot: str


Pattern = tuple[str | SlotRef, ...]
"""Words and slots in order."""


@record
class Slot:
    """Slot to fill.

    `values` are spelled as tools get them, `spoken` are the numbers to recognise. `maximum`
    is the largest number, or the most words of a text.
    """

    name: str
    kind: Kind
    ask: str
    answer: tuple[Pattern, ...]
    values: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = MAX_SPOKEN
    spoken: tuple[int, ...] = ()
    synonyms: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """Further phrases for a value."""
    before: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()
    """Phrases around a number that tell what it counts."""
    is_told: bool = False
    """True when a bare number is never this slot, except as an answer."""
    spelled: bool = False
    """True when a number may be said digit by digit."""
    party: bool = False
    """True for a number of people, which groups of them add up to: "two adults and a child"."""
    others: bool = False
    """True when a typed proper name after one of `before` is a value, too."""


@record
class Meaning:
    """Parts of a typed sentence, in any order: words with alternatives, and slots.

    `also` are phrases that it may have, `without` are those that it may not. With `among_others` it may have many words
    besides, as in a story of which one word counts.
    """

    needs: tuple[tuple[tuple[str, ...], ...], ...]
    slots: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    also: tuple[tuple[str, ...], ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    among_others: bool = False


@record
class ScriptedCall:
    """Tool call: texts in `args` are templates, `needs` are the required slots."""

    tool: str
    args: Mapping[str, Scalar]
    needs: tuple[str, ...]


@record
class Intent:
    """Intent of a user. `during` and `after` are folded; `calls` are made together."""

    name: str
    say: tuple[Pattern, ...]
    typed: tuple[Pattern, ...]
    reply: tuple[Line, ...]
    calls: tuple[ScriptedCall, ...] = ()
    forget: bool = False
    during: tuple[str, ...] = ()
    remember: bool = False
    after: tuple[str, ...] = ()
    means: tuple[Meaning, ...] = ()
    again: bool = False
    """True when it makes the last call once more."""
    from_last_call: bool = False
    """True when slots that are missing are those of the last call."""
    acts: bool = False
    """True when it does something, as any call may: a sentence that only speaks of that does not lead to it.

    False for calls that the script declares to change nothing.
    """
    change: bool = False
    """True when words such as "and in Rome?" make its calls anew with other slots."""
    each: bool = False
    """True when "Rome and Oslo" makes its calls for both, and each is answered."""
    known: Mapping[str, str] = field(default_factory=dict)
    """Fields of results, with slots: it is matched only while each field names the value of its slot."""
    tells: tuple[str, ...] = ()
    """Fields: it answers words in which only extraction finds one of them."""
    counted: bool = False
    """True when the number of what is said in the plural is asked for."""

    @property
    def is_consent(self) -> bool:
        """True when a bare yes is enough."""
        return self.acts and ("yes",) in (*self.say, *self.typed)


@record
class Cue:
    """Text to say when prompted, while `told` applies.

    `told` (folded) applies when instruction or notes contain one of its texts. With `end` the conversation is
    over then, and `end` answers everything else.
    """

    told: tuple[str, ...]
    say: str
    end: str = ""


@record
class ExtractRule:
    """Source of an extracted field.

    The field is the value of `slot`, or `value` when a pattern of `when` is said, one of `phrases` is the whole
    utterance, or one of `means` is meant; with `slot`, `means` are a condition. With `after` (folded) only in answer to
    one of these texts.
    """

    slot: str = ""
    when: tuple[Pattern, ...] = ()
    value: Scalar = ""
    after: tuple[str, ...] = ()
    means: tuple[Meaning, ...] = ()
    acts: bool = False
    """True when a sentence that only speaks of it does not lead to it."""
    now: bool = False
    """True when a sentence that tells only of the past does not lead to it."""
    intent: str = ""
    """Intent whose meanings are among `means`, and whose phrases are `phrases`."""
    phrases: tuple[Pattern, ...] = ()

    def fits(self, asked: str) -> bool:
        """Return True when the rule applies after the model has said `asked` (folded)."""
        return not self.after or any(text in asked for text in self.after)


@record
class Script:
    """Dialogue script."""

    name: str
    title: str
    greeting: str
    fallback: str
    unavailable: str
    timeout: str
    failed: str
    told: str
    prompted: str
    call_by_name: bool
    """True when a tool that no intent calls is called by the words of its name."""
    about: str
    abilities: str
    fallback_again: tuple[str, ...]
    """Templates that answer a second utterance in a row that is not understood, a third one and so on, in turn."""
    examples: tuple[str, ...]
    filler: tuple[tuple[str, ...], ...]
    slots: Mapping[str, Slot]
    intents: tuple[Intent, ...]
    pronunciations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cues: tuple[Cue, ...] = ()
    extract: Mapping[str, tuple[ExtractRule, ...]] = field(default_factory=dict)
    facts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Words before and after a value (folded) in an instruction, by the fact's name."""
    listen_for: tuple[Pattern, ...] = ()
    """Patterns that a recogniser listens for besides; they are read like typed sentences."""
