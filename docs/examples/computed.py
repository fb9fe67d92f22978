"""Compute values that follow from other state."""

from gemini_live_runtime import ComputedRegistry, ComputedVar, Live, State, key, run_virtual

total = ComputedVar("total", lambda s: sum(s.get("app:prices", [])) or None, depends_on=["app:prices"])
free_delivery = ComputedVar("free_delivery", key("derived:total") >= 30)


def order(price: int, state: State) -> dict[str, int]:
    """Order something.

    Args:
        price: What it costs.
    """
    state.modify("app:prices", [], lambda prices: [*prices, price])
    return {"price": price}


agent = Live.builder("till").instruction("Take orders.").tools(order).computed(total, free_delivery)


async def main() -> None:
    """Order twice; a session recomputes values before anything reads them."""
    async with agent.connect(backend="local", fast=True) as session:
        for text in ("order 12", "order 20"):
            await session.send_text(text)
            await session.until_quiet()
            print(session.state.get("total"), session.state.get("derived:free_delivery"))


run_virtual(main())

# The registry alone: it computes affected values, in the order of their dependencies.
registry = ComputedRegistry([free_delivery, total])
state = State()
state.set("app:prices", [10, 25])
print(registry.recompute(state).changed)
print(registry.explain("free_delivery", state).value)

# A cycle is refused, naming each value and its place.
try:
    ComputedRegistry([ComputedVar("a", lambda s: 1, depends_on="b"), ComputedVar("b", lambda s: 1, depends_on="a")])
except Exception as error:
    print(error)

# Prints:
# 12 False
# 32 True
# ('total', 'free_delivery')
# True
# Computed values depend on each other in a cycle: a (computed.py:42) -> b (computed.py:42) -> a. Correct the computed values.
