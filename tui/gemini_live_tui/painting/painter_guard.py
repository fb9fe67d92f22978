"""Check Textual's private parts before the sparse compositor uses them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

COMPOSITOR = "textual._compositor"

METHODS: dict[str, dict[str, list[str]]] = {
    "Compositor": {
        "render_full_update": ["self", "simplify"],
        "render_partial_update": ["self"],
        "render_update": ["self", "full", "screen_stack", "simplify"],
    },
    "CompositorUpdate": {"render_segments": ["self", "console"]},
}
"""Classes of `textual._compositor` and the parameters of the methods in use, as read in Textual 8.2."""

ATTRIBUTES: dict[str, type] = {"_dirty_regions": set, "size": Size, "visible_widgets": dict}
"""Attributes of a compositor and their types."""

WIDGET_METHODS: dict[str, list[str]] = {"render_lines": ["self", "crop"], "get_line_filters": ["self"]}
WIDGET_ATTRIBUTES = ("background_colors", "outer_size", "size")


def install(screen: Screen[Any], report: Callable[[str], None]) -> None:
    """Let a screen paint sparsely, before it was shown.

    `report` receives one sentence when Textual paints it instead, now or after a failure.
    """

    def on_failure(error: Exception) -> None:
        report(f"Textual itself paints the screen from now on, which is slower: {type(error).__name__}: {error}.")

    try:
        problem = misfit(screen)
        if not problem:
            from gemini_live_tui.painting.sparse_compositor import SparseCompositor

            screen._compositor = SparseCompositor(on_failure)
    except Exception as error:
        on_failure(error)
    else:
        if problem:
            report(f"Textual itself paints the screen, which is slower: {problem}.")


def misfit(screen: Screen[Any]) -> str:
    """Return what differs from the Textual that was read, or ""."""
    module = import_module(COMPOSITOR)
    for name, methods in METHODS.items():
        owner = getattr(module, name, None)
        if owner is None:
            return f"{COMPOSITOR} has no {name}"
        for method, parameters in methods.items():
            if _parameters(owner, method) != parameters:
                return f"{name}.{method} is missing or takes other parameters"
    for method, parameters in WIDGET_METHODS.items():
        if _parameters(Widget, method) != parameters:
            return f"Widget.{method} is missing or takes other parameters"
    missing = next((name for name in WIDGET_ATTRIBUTES if not hasattr(Widget, name)), "")
    if missing:
        return f"Widget.{missing} is missing"
    compositor = module.Compositor()
    for name, wanted in ATTRIBUTES.items():
        if not isinstance(getattr(compositor, name, None), wanted):
            return f"Compositor.{name} is missing or no {wanted.__name__}"
    return "" if type(getattr(screen, "_compositor", None)) is module.Compositor else "Screen._compositor is another"


def _parameters(owner: type, name: str) -> list[str] | None:
    method = getattr(owner, name, None)
    return list(inspect.signature(method).parameters) if callable(method) else None
