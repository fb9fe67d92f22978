"""Tools of the debt collector: who is calling, and what they pay."""

from __future__ import annotations

from gemini_live_runtime import State, StateKey, tool

DEBTORS = {"Maria Lopez": (42, 300), "John Smith": (17, 120)}  # account's last digits, dollars owed

OWED = StateKey("app:owed", int, description="what was owed when the call began, in dollars")
PAID = StateKey("app:paid", int, default=0, description="what was paid in this call, in dollars")


@tool
def verify_identity(name: str, digits: int, state: State) -> dict[str, bool]:
    """Check a caller's full name and the last two digits of their account."""
    known, owed = DEBTORS.get(name, (None, 0))
    if known != digits:
        raise ValueError("the name and the digits do not match")  # the call fails, and the model is told why
    state["user:name"], state[OWED] = name, owed
    state["turn:verified"] = True  # "No, 42" told the digits, not what they can pay each month.
    return {"verified": True}


@tool
def take_payment(amount: int, state: State) -> dict[str, int]:
    """Take a payment, in dollars, from the caller's card."""
    left = state["derived:left"]
    if not 0 < amount <= left:
        raise ValueError(f"{left} dollars are left to pay")
    state.modify(PAID, 0, lambda paid: paid + amount)
    return {"paid": amount, "left": left - amount}
