"""Find what is asked for in the plural without a number: "get us the salads"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gemini_live_runtime.local.scripts.script_types import Intent, Slot
from gemini_live_runtime.local.understanding.matching import SlotValue
from gemini_live_runtime.records import record


@record
class UnsaidCount:
    """Slot whose number was not said, and the plural that was."""

    slot: str
    plural: str

    def question(self, slots: Mapping[str, Slot]) -> str:
        """Return the slot's question with what is counted: "How many salads?"."""
        return f"{slots[self.slot].ask.rstrip('?')} {self.plural}?"


def unsaid_count(
    intent: Intent, said: Mapping[str, SlotValue], words: Sequence[str], slots: Mapping[str, Slot]
) -> UnsaidCount | None:
    """Return the number that an intent with `counted` lacks, None for all others."""
    if not intent.counted:
        return None
    names = [name for meaning in intent.means for name in (*meaning.slots, *meaning.optional)]
    missing = next((name for name in names if slots[name].kind == "number" and name not in said), None)
    if missing is None:
        return None
    for name in names:
        value = str(said.get(name, ""))
        if slots[name].kind != "choice" or not value or value in words:
            continue
        plural = next((word for word in words if word in (f"{value}s", f"{value}es")), None)
        if plural is not None:
            return UnsaidCount(missing, plural)
    return None
