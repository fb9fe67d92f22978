"""Find what is said instead of words that are taken back: "a taxi, no, a tea"."""

from __future__ import annotations

from gemini_live_runtime.local.dialogue.dialogue_state import DialogueState
from gemini_live_runtime.local.dialogue.intents import IntentMatcher
from gemini_live_runtime.local.understanding.mood import is_call_off
from gemini_live_runtime.local.understanding.self_repair import SelfRepair
from gemini_live_runtime.local.understanding.utterance_words import Words


def meant_instead(text: str, repair: SelfRepair, matching: IntentMatcher, now: DialogueState) -> str | None:
    """Return what a sentence says in the place of what it takes back.

    Return "" where that is not clear, None for a sentence that takes nothing back.
    """
    before, after = repair.withdrawn(text)
    is_kept = not before or is_call_off(Words(after).plain)
    wish = None if is_kept else matching.best(Words(before), now)
    if not repair.is_unclear(text) and (wish is None or not (wish[0].calls or wish[0].acts)):
        return None
    instead = repair.instead_of_all(text)
    return instead if instead and matching.best(Words(instead), now) is not None else ""
