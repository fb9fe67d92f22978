"""Base of the screens that set up a backend."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_tui.widgets.box_screen import BoxScreen


class BackendForm(BoxScreen):
    """Form whose values are kept for later sessions."""

    async def keep(self, save: Callable[[], str], kept: str) -> bool:
        """Call `save` in a thread; say what is `kept`, or why not and return False.

        `save` returns a note for the user, or "".
        """
        try:
            note = await asyncio.to_thread(save)
        except GeminiLiveError as error:
            self.say(str(error), "error")
            return False
        starter = self.console.settings.starter
        if starter is not None:
            starter.on_saved("backend")
        later = "" if self.console.waiting else " It is used from the next session on."
        self.say(f"{kept}.{later} {note}".strip() + " Enter or esc goes back.")
        return True
