"""Take a payment by card: a task with the end that the card reader tells."""

from __future__ import annotations

from gemini_live_runtime import InlineTask, tool


class CardPayment(InlineTask[str]):
    """Task to await inside a tool; its result is "card".

    Awaiting it raises `ValueError` when the card was not accepted.
    """

    def __init__(self, dollars: int) -> None:
        """`dollars` is what there is to pay."""
        super().__init__(
            name="card_payment",
            instructions=f"Take {dollars} dollars by card: the guest holds the card to the reader, and says so.",
            greeting="Ask the guest to hold the card to the reader.",
            phrases=("I have done that", "my card does not work"),
        )

    @tool(risk="money")
    def card_read(self) -> dict[str, str]:
        """Take the payment, now that the guest has held the card to the reader."""
        self.complete("card")
        return {"payment": "accepted"}

    @tool
    def card_refused(self) -> dict[str, str]:
        """Give up: the card does not work, or the guest wants to pay in another way."""
        self.complete(ValueError("the card was not accepted"))
        return {"payment": "not accepted"}
