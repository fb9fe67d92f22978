"""Open a file in the user's editor or pager while the console waits."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App, SuspendNotSupported

from gemini_live_runtime.text import sanitise_line

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return the command of $VISUAL, $EDITOR, $PAGER or less; none without one."""
    for name in ("VISUAL", "EDITOR", "PAGER"):
        try:
            command = shlex.split(environment.get(name, ""))
        except ValueError:  # a quote that is not closed
            continue
        if command and shutil.which(command[0], path=environment.get("PATH")):
            return command
    less = shutil.which("less", path=environment.get("PATH"))
    return [] if less is None else [less]


async def open_in_editor(app: App[Any], console: ConsoleContext, path: Path) -> str:
    """Open a file with the console suspended; return a sentence about it.

    Events of the session are taken in meanwhile. Without an editor the path is copied.
    """
    if not await asyncio.to_thread(path.exists):
        return f"It has no file any more: {path}"
    command = editor_command(os.environ)
    if command:
        try:
            code = await _run(app, console, [*command, str(path)])
        except SuspendNotSupported:
            pass
        except OSError as error:
            return f"{sanitise_line(command[0], 60)} cannot be started: {error.strerror or error}. The file: {path}"
        else:
            return "" if code == 0 else f"{sanitise_line(command[0], 60)} ended with code {code}. The file: {path}"
    app.copy_to_clipboard(str(path))
    return f"Copied the path: {path}"


async def _run(app: App[Any], console: ConsoleContext, command: list[str]) -> int:
    console.lends_terminal = True
    try:
        # Nothing is drawn meanwhile.
        with app.batch_update(), app.suspend():
            process = await asyncio.create_subprocess_exec(*command)
            code = await process.wait()
    finally:
        console.lends_terminal = False
    app.refresh(layout=True)
    return code
