"""Reset a connection at the exchange, then hand back to the technical support."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gemini_live_runtime import Agent, Live, State, tool


class LineSpecialist(Agent):
    """Agent that takes over from the technical support, and hands back to it."""

    def __init__(self, back: Callable[[], Live]) -> None:
        """`back` makes the agent that goes on afterwards."""
        self._back = back
        super().__init__(
            name="line_specialist",
            instructions="You are the line specialist of Harbor Telecom: you reset connections at the exchange.",
            greeting="Say who you are, and offer to reset the connection at the exchange.",
            phrases=("yes please", "it works now", "it still does not work", "hand me back"),
            hands_over_to=(back,),
        )

    @tool
    async def reset_connection(self) -> dict[str, str]:
        """Reset the caller's connection at the exchange."""
        await asyncio.sleep(2)
        return {"connection": "reset"}

    @tool
    def hand_back(self, works: bool, state: State) -> tuple[Live, dict[str, str]]:
        """Hand back to the technical support; `works` is what the caller says of it now."""
        state["app:works" if works else "app:hopeless"] = True
        return self._back(), {"next": "goodbye" if works else "a technician"}
