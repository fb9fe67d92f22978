"""Build the grammar of what may be said at this point of a dialogue."""

from __future__ import annotations

from gemini_live_runtime.local.dialogue.confirmation import phrase_asked
from gemini_live_runtime.local.dialogue.consent_question import NO, YES
from gemini_live_runtime.local.dialogue.dialogue_state import DialogueState
from gemini_live_runtime.local.dialogue.tools_by_name import spoken_choices
from gemini_live_runtime.local.scripts.grammar import Grammar, build_grammar
from gemini_live_runtime.local.scripts.script_types import Pattern, Script

_CORRECTIONS = (
    *((*lead, "make", what) for lead in ((), ("actually",), ("no",)) for what in ("that", "it")),
    ("i", "meant"),
    ("no", "i", "meant"),
    ("no", "i", "said"),
    ("and",),
    *((*lead, what, "about") for lead in ((), ("and",)) for what in ("what", "how")),
)


def spoken_grammar(script: Script, state: DialogueState) -> Grammar:
    """Return the grammar of phrases, tool names and answers to the open question.

    It includes phrases of other phases, so that they are transcribed correctly though not understood.
    """
    patterns = [*script.listen_for, *(pattern for intent in script.intents for pattern in intent.say)]
    if state.pending is not None:
        patterns += script.slots[state.pending.slot].answer
    patterns += state.consent.patterns
    if phrase_asked(state.last_reply):
        patterns += [tuple(phrase.split()) for phrase in (*YES, *NO)]
    patterns += _corrections(script, state)
    scripted = {call.tool for intent in script.intents for call in intent.calls}
    own = {name: schema for name, schema in state.tools.items() if name not in scripted}
    choices = {name: spoken_choices(schema) for name, schema in own.items() if script.call_by_name}
    return build_grammar(patterns, script.slots, choices)


def _corrections(script: Script, state: DialogueState) -> list[Pattern]:
    """Return phrases that give slots of the last call anew, as in "make that eight"."""
    called = state.last_call[0] if state.last_call else ""
    intent = next((intent for intent in script.intents if intent.name == called), None)
    if intent is None or not intent.change:
        return []
    names = dict.fromkeys(name for meaning in intent.means for name in (*meaning.slots, *meaning.optional))
    answers = [pattern for name in names for pattern in script.slots[name].answer]
    return [*answers, *((*lead, *answer) for lead in _CORRECTIONS for answer in answers)]
