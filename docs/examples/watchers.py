"""Watch for the moment at which a value, or the truth of a guard, changes."""

from gemini_live_runtime import Change, Live, State, Watcher, WatcherRegistry, WatchPredicate, key, run_virtual


def set_anger(tenths: int, state: State) -> dict[str, int]:
    """Note how angry the caller is.

    Args:
        tenths: From 0 to 10.
    """
    state.set("app:anger", tenths / 10)
    return {"tenths": tenths}


def hand_over(state: State, change: Change) -> None:
    state.set("app:hand_over", True)


doubled = WatchPredicate.custom("app:anger", lambda old, new: bool(old) and new >= 2 * old, text="it doubled")
agent = (
    Live.builder("desk")
    .instruction("Answer the telephone.")
    .tools(set_anger)
    .watch(
        Watcher(key("app:anger").crossed_above(0.7), hand_over, name="angry", blocking=True),
        Watcher(doubled, lambda: None, name="doubled"),
        Watcher((key("app:hand_over") & ~key("user:calm")).became_true(), lambda: None, name="both"),
    )
)


async def main() -> None:
    """Print firings and near misses, which say how close a value came."""
    async with agent.connect(backend="local", fast=True) as session:
        events = session.events()
        for text in ("set anger 4", "set anger 6", "set anger 8"):
            await session.send_text(text)
            await session.until_quiet()
    async for event in events:
        if event.type == "watcher.fired":
            print(f"turn {event.turn}: {event.payload.watcher} fired")
        elif event.type == "watchers.missed":
            for miss in event.payload.misses:
                print(f"turn {event.turn}: {miss['watcher']} did not: {miss['missing']}")


run_virtual(main())

# The registry alone: a muted watcher only counts.
registry = WatcherRegistry([Watcher(doubled, lambda: None, name="doubled")])
registry.mute("doubled")
registry.evaluate({"app:anger": (0.2, 0.5)}, State())
print(registry.status[0].suppressed)

# Prints:
# turn 1: angry did not: 0.4 is 0.3 below 0.7
# turn 1: doubled did not: it doubled returned false
# turn 2: angry did not: 0.6 is 0.1 below 0.7
# turn 2: doubled did not: it doubled returned false
# turn 3: doubled did not: it doubled returned false
# turn 3: angry fired
# turn 3: both fired
# 1
