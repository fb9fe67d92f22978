"""Act on patterns over time, each detected by the events that it counts."""

from gemini_live_runtime import (
    ConsecutiveFailureDetector,
    Live,
    PatternDetector,
    State,
    TemporalEvent,
    TemporalPattern,
    TurnCountDetector,
    key,
    run_virtual,
)


def pay(state: State) -> dict[str, str]:
    """Charge the card."""
    state.modify("app:attempts", 0, lambda count: count + 1)
    raise RuntimeError("the bank does not answer")


class Growing(PatternDetector):
    """A detector of our own: a number in the state grew several times."""

    def __init__(self, key: str, times: int) -> None:
        self.key, self.times, self.grew, self.last = key, times, 0, 0

    @property
    def text(self) -> str:
        return f"{self.key} grew {self.times} times"

    def observe(self, event: TemporalEvent, state: State, now: float) -> bool:
        before, self.last = self.last, state.get(self.key, 0)
        self.grew += self.last > before
        return self.grew >= self.times

    def reset(self) -> None:
        self.grew = 0


fails = TemporalPattern("bank down", ConsecutiveFailureDetector("pay", 2), lambda s: s.set("app:bank_down", True))
lost = TemporalPattern("no name", TurnCountDetector(key("user:name").is_missing(), 3), lambda: None)
grows = TemporalPattern("insists", Growing("app:attempts", 3), lambda: None)
agent = Live.builder("till").instruction("Take payments.").tools(pay).pattern(fails, lost, grows)


async def main() -> None:
    """Let a tool fail three times, in three turns."""
    async with agent.connect(backend="local", fast=True) as session:
        events = session.events()
        for text in ("pay", "pay", "pay"):
            await session.send_text(text)
            await session.until_quiet()
    # The events end with the session.
    print([f"turn {event.turn}: {event.payload.text}" async for event in events if event.type == "pattern.fired"])


run_virtual(main())

# Prints:
# ['turn 2: pay fails 2 times in a row: 2 of 2 failures', 'turn 3: app:attempts grew 3 times', 'turn 3: user:name is missing for 3 turns: 3 of 3 turns']
