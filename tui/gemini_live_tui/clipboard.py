"""The system's clipboard, for terminals that do not take text by OSC 52."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping


def is_elsewhere(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the person sits at another machine, whose clipboard only their terminal reaches."""
    return any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))


def system_copy(text: str) -> bool:
    """Hand `text` to the system's clipboard; whether there is one. May wait for another program: not for the loop."""
    if is_elsewhere():
        return False
    import pyperclip  # type: ignore[import-untyped]

    with contextlib.suppress(pyperclip.PyperclipException, OSError):
        pyperclip.copy(text)
        return True
    return False
