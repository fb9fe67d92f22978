"""Find wishes that are hedged or put off: they are not to be done at once."""

from __future__ import annotations

from gemini_live_runtime.local.dialogue.clause_finder import ClauseFinder, Wish
from gemini_live_runtime.local.dialogue.dialogue_state import DialogueState
from gemini_live_runtime.local.understanding.tentative import broken_off, hedged, partly_hedged, put_off
from gemini_live_runtime.local.understanding.utterance_words import Words
from gemini_live_runtime.records import record


@record
class UnsureWish:
    """Hold wishes to do in turn, a wish to ask about, or words to answer instead."""

    in_turn: tuple[Wish, ...] = ()
    to_ask: Wish | None = None
    instead: str = ""


def unsure_wish(text: str, clauses: ClauseFinder, now: DialogueState, *, is_asking: bool) -> UnsureWish | None:
    """Return what to do about a wish that is put off or hedged, None for other words.

    With `is_asking` a question is open: "maybe a soup" answers it, and by itself may be a thought.
    """
    said, hold = broken_off(text)
    if said and _would_be_done(said, clauses, now):
        return UnsureWish(instead=hold)
    later, first = put_off(text)
    if later and clauses.wish_to_act_on(later, now) is not None:
        in_turn = clauses.different_wishes(f"{first}, and {later}", now)
        return UnsureWish(in_turn=tuple(in_turn)) if in_turn else UnsureWish(instead=first)
    firm, maybe = partly_hedged(text)
    if maybe and now.pending is None and clauses.wish_to_act_on(maybe, now) is not None:
        return UnsureWish(instead=firm)  # The answer asks on: what was only thought of can be said then.
    unsure = hedged(text)
    if unsure is None or (is_asking and not unsure.is_thought):
        return None
    if now.pending is not None:
        return UnsureWish(instead=unsure.wish)
    wish = clauses.wish_to_act_on(unsure.wish, now)
    return None if wish is None else UnsureWish(to_ask=wish)


def _would_be_done(text: str, clauses: ClauseFinder, now: DialogueState) -> bool:
    """Return True when a text would lead to an action, not only to another question."""
    if clauses.pending_answer(Words(text), now) is not None:
        return True
    wish = clauses.wish_to_act_on(text, now)
    if wish is None:
        return False
    needed = {name for call in wish.intent.calls for name in call.needs}
    return needed <= {*wish.slots, *now.remembered}
