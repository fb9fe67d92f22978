"""Conversation in which the user pays, and what it does to the world outside."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.session.talking import Talk, agent, two_phases

from gemini_live_runtime import Live, State, tool
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot
from gemini_live_runtime.session.persistence.stores import FsPersistence

TEXTS = ("I owe something", "pay forty", "thank you", "goodbye")


@dataclass
class Outside:
    """Effects of one session's engines on the world."""

    sent: list[str] = field(default_factory=list)
    paid: list[int] = field(default_factory=list)


class DirectStore(FsPersistence):
    """Files of snapshots, written without a thread; virtual time waits for none."""

    async def save(self, snapshot: SessionSnapshot, /) -> None:
        self._save(self.folder / "s.json", snapshot)

    async def load(self, session_id: str, /) -> SessionSnapshot | None:
        return self._load(self.folder / "s.json", session_id)


def paying(outside: Outside) -> Live:
    @tool(side_effects=True)
    def pay(amount: int, state: State) -> str:
        """Pay.

        Args:
            amount: Dollars.
        """
        outside.paid.append(amount)
        state.set("app:go", True)
        return "paid"

    return agent().tools(pay).phase(*two_phases())


def note_sent(t: Talk, outside: Outside) -> None:
    for _, text in t.sent("text"):
        if text not in outside.sent:
            outside.sent.append(text)


async def pay_in(t: Talk, outside: Outside) -> None:
    """Say all `TEXTS`, with a payment at the second; each answer has a handle."""
    for number, text in enumerate(TEXTS):
        await t.types(text)
        note_sent(t, outside)
        if number == 1:
            await t.calls("pay", amount=40)
        await t.says(f"Answer {number}.")
        await t.server.says(sessionResumptionUpdate={"newHandle": f"h{number}", "resumable": True})
        await t.ends()
