"""The parts of a dialogue script, as `script.py` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gemini_live_runtime.local.template import Line
from gemini_live_runtime.local.words import MAX_SPOKEN

KINDS = ("choice", "number", "time", "text")
Kind = Literal["choice", "number", "time", "text"]
Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class SlotRef:
    """A place in a pattern that a slot fills."""

    slot: str


Pattern = tuple[str | SlotRef, ...]
"""Words and slots in order."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Something to fill in. `values` are spelled as tools get them; `spoken` are numbers to listen for.

    `maximum` is that of a number, of a text it is how many words it may have.
    """

    name: str
    kind: Kind
    ask: str
    answer: tuple[Pattern, ...]
    values: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = MAX_SPOKEN
    spoken: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call: texts in `args` are templates, `needs` are the slots without which it cannot be made."""

    tool: str
    args: Mapping[str, Scalar]
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing a person can want. `during` and `after` are folded (`words.folded`); `calls` are made together."""

    name: str
    say: tuple[Pattern, ...]
    typed: tuple[Pattern, ...]
    reply: tuple[Line, ...]
    calls: tuple[ScriptedCall, ...] = ()
    forget: bool = False
    during: tuple[str, ...] = ()
    remember: bool = False
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cue:
    """What the model says when it is prompted and was told one of `told` (folded text).

    With `end` the conversation is over then, and that is what is still said to anything.
    """

    told: tuple[str, ...]
    say: str
    end: str = ""


@dataclass(frozen=True, slots=True)
class ExtractRule:
    """Where an extracted field comes from: what fills `slot`, or `value` when one of the patterns `when` is said.

    With `after` (folded) only as an answer to one of these texts.
    """

    slot: str = ""
    when: tuple[Pattern, ...] = ()
    value: Scalar = ""
    after: tuple[str, ...] = ()

    def fits(self, asked: str) -> bool:
        """Whether it counts after the model has said `asked` (folded)."""
        return not self.after or any(text in asked for text in self.after)


@dataclass(frozen=True, slots=True)
class Script:
    """A whole dialogue."""

    name: str
    title: str
    greeting: str
    fallback: str
    unavailable: str
    timeout: str
    failed: str
    told: str
    prompted: str
    examples: tuple[str, ...]
    filler: tuple[tuple[str, ...], ...]
    slots: Mapping[str, Slot]
    intents: tuple[Intent, ...]
    pronunciations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cues: tuple[Cue, ...] = ()
    extract: Mapping[str, tuple[ExtractRule, ...]] = field(default_factory=dict)
