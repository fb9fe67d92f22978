"""Copy to the system's clipboard, for terminals without OSC 52."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping


def is_elsewhere(environment: Mapping[str, str] = os.environ) -> bool:
    """Return True on a remote machine.

    Only the terminal reaches the user's clipboard from there.
    """
    return any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"))


def system_copy(text: str) -> bool:
    """Copy `text`; return False without a clipboard.

    May wait for another program, so call it in a thread.
    """
    if is_elsewhere():
        return False
    import pyperclip  # type: ignore[import-untyped]

    with contextlib.suppress(pyperclip.PyperclipException, OSError):
        pyperclip.copy(text)
        return True
    return False
