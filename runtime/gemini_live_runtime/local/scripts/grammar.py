"""Build the recogniser's JSGF grammar from patterns and word lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gemini_live_runtime.local.language.contractions import contract, spelled
from gemini_live_runtime.local.language.words import name_words, split_words, spoken_number, spoken_times
from gemini_live_runtime.local.scripts.script_types import Pattern, Slot, SlotRef
from gemini_live_runtime.records import record

MAX_TOOL_CHOICES = 60
"""Most enum values of a tool in the grammar."""


@record
class Grammar:
    """Alternatives of one utterance; hashable, as recognisers cache compiled grammars.

    `rules` maps a name to word sequences; an alternative is a sequence of words, `[optional]` words and `<rule>`
    references.
    """

    alternatives: tuple[tuple[str, ...], ...]
    rules: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def jsgf(self) -> str:
        """Return the grammar in JSpeech Grammar Format, public rule `utterance`."""
        lines = ["#JSGF V1.0;", "grammar dialogue;"]
        lines.append(f"public <utterance> = {' | '.join(' '.join(alternative) for alternative in self.alternatives)};")
        lines += [f"<{name}> = {' | '.join(values)};" for name, values in self.rules]
        return "\n".join(lines)

    def accepts(self, words: Sequence[str]) -> bool:
        """Return True when `words` are one complete utterance."""
        rules = {name: tuple(tuple(value.split()) for value in values) for name, values in self.rules}
        return any(_accepts(alternative, 0, tuple(words), 0, rules) for alternative in self.alternatives)

    def words(self) -> set[str]:
        """Return all words of the grammar."""
        parts = (part.strip("[]") for alternative in self.alternatives for part in alternative)
        found = {part for part in parts if not part.startswith("<")}
        return found | {word for _, values in self.rules for value in values for word in value.split()}


def _accepts(
    alternative: tuple[str, ...],
    at: int,
    words: tuple[str, ...],
    start: int,
    rules: Mapping[str, tuple[tuple[str, ...], ...]],
) -> bool:
    if at == len(alternative):
        return start == len(words)
    part = alternative[at]
    if part.startswith("<"):
        options: tuple[tuple[str, ...], ...] = rules[part.strip("<>")]
    elif part.startswith("["):
        options = ((part.strip("[]"),), ())
    else:
        options = ((part,),)
    return any(
        words[start : start + len(option)] == option
        and _accepts(alternative, at + 1, words, start + len(option), rules)
        for option in options
    )


def spoken_values(slot: Slot) -> tuple[str, ...]:
    """Return the spoken forms of a slot's values, as normalised words."""
    if slot.kind in ("number", "duration"):
        return tuple(spoken_number(value) for value in slot.spoken)
    if slot.kind == "time":
        return tuple(spoken_times())
    return tuple(" ".join(split_words(value)) for value in slot.values)


def build_grammar(
    patterns: Iterable[Pattern], slots: Mapping[str, Slot], tools: Mapping[str, tuple[str, ...]]
) -> Grammar:
    """Return a grammar of `patterns` and tool names with the values that may follow.

    Patterns with a slot without spoken values are left out.
    """
    values = {name: spoken_values(slot) for name, slot in slots.items()}
    alternatives: dict[tuple[str, ...], None] = {}
    used: dict[str, tuple[str, ...]] = {}
    for pattern in patterns:
        names = [part.slot for part in pattern if isinstance(part, SlotRef)]
        if all(values[name] for name in names):
            used |= {f"slot_{name}": values[name] for name in names}
            said = tuple(p if isinstance(p, str) else f"<slot_{p.slot}>" for p in pattern)
            alternatives |= dict.fromkeys((spelled(said), contract(said)))
    for index, (name, choices) in enumerate(tools.items()):
        words = name_words(name)
        if not words:
            continue
        spoken = [words[0], *(word for part in words[1:] for word in ("[the]", part))]
        for lead in ((), ("please",), ("call",), ("run",)):
            alternatives[(*lead, *spoken)] = None
            if choices:
                used[f"tool_{index}"] = choices[:MAX_TOOL_CHOICES]
                alternatives[(*lead, *spoken, f"<tool_{index}>")] = None
    return Grammar(tuple(alternatives), tuple(sorted(used.items())))
