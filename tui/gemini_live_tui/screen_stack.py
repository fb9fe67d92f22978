"""Edit Textual's stack of screens below its top.

Textual has no public way to do so.
"""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.screen import Screen


def take_out(app: App[Any], screen: Screen[Any], *, keep_callback: bool = False) -> bool:
    """Remove an open screen from the stack without closing it.

    Its result callback goes, too: pushing it again adds another. `keep_callback` is for a screen that is removed for
    good. Return False, with nothing changed, when this Textual has no such stack.
    """
    stack = getattr(app, "_screen_stack", None)
    if not isinstance(stack, list) or screen not in stack:
        return False
    pop = None if keep_callback else getattr(screen, "_pop_result_callback", None)
    stack.remove(screen)
    if pop is not None:
        pop()
    return True
