"""Tools of the restaurant that change an order, and the order in words."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime import State, StateKey, tool
from gemini_live_runtime.agents.order_words import MENU, UNCOUNTED

ITEMS = StateKey("app:items", dict[str, int], default={}, description="what they would like to eat or drink")
Dish = Literal["fish", "pasta", "salad", "soup", "coffee", "water"]


@tool
def add_item(dish: Dish, state: State, count: int = 1, instead: bool = False) -> dict[str, str]:
    """Add a dish to the order; with `instead`, set its number: "make that three"."""
    state.modify(ITEMS, {}, lambda items: {**items, dish: count if instead else items.get(dish, 0) + count})
    return answer(state)


@tool
def remove_item(dish: Dish, state: State, count: int | None = None) -> dict[str, str]:
    """Take a dish off the order: `count` of it, or all."""
    ordered = state.get(ITEMS, {}).get(dish, 0)
    if not ordered:
        return {"error": f"there is no {dish} in the order"}
    left = 0 if count is None else max(0, ordered - count)
    state.modify(ITEMS, {}, lambda items: {name: many for name, many in {**items, dish: left}.items() if many})
    return answer(state)


@tool
def swap_item(dish: Dish, instead_of: Dish, state: State, count: int | None = None) -> dict[str, str]:
    """Put a dish in the place of another one: of `count` of it, or of all."""
    items = state.get(ITEMS, {})
    ordered = items.get(instead_of, 0)
    swapped = ordered if count is None else count
    if dish == instead_of or not 0 < swapped <= ordered:
        have = "is" if ordered == 1 or instead_of in UNCOUNTED else "are"
        return {"error": f"there {have} {ordered or 'no'} {named(instead_of, ordered)} in the order"}
    left = {**items, instead_of: ordered - swapped, dish: items.get(dish, 0) + swapped}
    state.set(ITEMS, {name: many for name, many in left.items() if many})
    return answer(state)


def answer(state: State) -> dict[str, str]:
    """Return what the tools tell the model."""
    return {"order": in_words(state), "total": f"{total(state)} dollars"}


def in_words(state: State) -> str:
    """Return the order in words."""
    return ", ".join(f"{count} {named(dish, count)}" for dish, count in state.get(ITEMS, {}).items()) or "nothing"


def named(dish: str, count: int) -> str:
    """Return the name of so many of a dish: one salad, two salads."""
    return dish if count == 1 or dish in UNCOUNTED else f"{dish}s"


def total(state: State) -> int:
    """Return the price of the order in dollars."""
    return sum(MENU[dish] * count for dish, count in state.get(ITEMS, {}).items())
