"""Complete patterns by time alone, on a clock of your own."""

from gemini_live_runtime import (
    RateDetector,
    State,
    SustainedDetector,
    TemporalEvent,
    TemporalPattern,
    TemporalRegistry,
    key,
)

angry = TemporalPattern("angry", SustainedDetector(key("app:anger") > 0.7, seconds=30), lambda: None)
often = TemporalPattern("cut off", RateDetector("turn.interrupted", 3, within_s=60), lambda: None, cooldown_s=300)
registry, state = TemporalRegistry([angry, often]), State()


def show(kind: str, now: float, type: str = "") -> None:
    """Pass an event to the registry, which decides and runs nothing."""
    for firing in registry.observe(TemporalEvent(kind, type=type), state, now).fired:
        print(f"{now:g} s: {firing.pattern.name}: {firing.explanation}")


state.set("app:anger", 0.9)
show("state", 0)
for now in (2, 8, 14):
    show("event", now, "turn.interrupted")
print([status.progress for status in registry.status(14)])

# `deadline` says when time alone may complete a pattern: no polling.
print(registry.deadline(14))
show("tick", 30)

# It has fired: it fires again only after the guard was false in between.
show("tick", 90)

# Prints:
# 14 s: cut off: 3 turn.interrupted within 60 s: 3 of 3 in 12.0 s
# ['14.0 of 30 s', '0 of 3']
# 16.0
# 30 s: angry: app:anger > 0.7 for 30 s: 30.0 of 30 s
