"""Take the tour, step by step, in a test or before a camera."""

from __future__ import annotations

from typing import Protocol

COMMAND = ("demo", "debt_collection", "--text", "--no-sound", "--record", "text")
SIZE = (120, 36)


class Guide(Protocol):
    """Taker of the tour. Keys have Textual's names."""

    def say(self, text: str) -> None:
        """Type a message, or a command after a slash, and send it."""

    def press(self, *keys: str) -> None:
        """Press keys one right after the other."""

    def type(self, text: str) -> None:
        """Type letters where the focus is."""

    def until(self, *texts: str, gone: str = "") -> None:
        """Wait until all of these are on the screen, and `gone` is not."""

    def picture(self, name: str) -> None:
        """Take a picture for the docs."""


def take(guide: Guide) -> None:
    """Talk, explain, stop at a watcher, edit with a preview, go on, go back, export."""
    guide.until("understand?", "yes I understand", "disputed")

    guide.press("ctrl+o")
    guide.until("Prompt")
    guide.press("w")
    guide.until("armed", "app:anger crossed")
    guide.press("b")
    guide.until("The agent will be held at the watcher")
    guide.press("i")
    guide.until("enter Send")

    guide.say("yes I understand")
    guide.until("notice → verify", "full name?", "□ TEXT")
    guide.say("my name is Maria Lopez")
    guide.until("last two digits", "□ TEXT")
    guide.say("forty two")
    guide.until("verify → negotiate", "How much can you pay", "□ TEXT")
    guide.picture("talk")

    guide.say("/why")
    guide.until("Why: verify to negotiate", "What decided", "counts a success", "What triggered it")
    guide.picture("why")
    guide.press("escape")
    guide.until("Write a message", gone="What decided")

    guide.say("this is ridiculous")
    guide.until("HELD", "F7 one decision", "upsetting", "□ TEXT")
    guide.picture("held")

    guide.press("tab")
    guide.until("HELD", gone="enter Send")
    guide.press("4")
    guide.until("a Add")
    guide.press("a")
    guide.until("Add a key")
    guide.type("app:monthly")
    guide.press("tab")
    guide.type("50")
    guide.until("transition to plan: blocked → ready", "the conversation goes to plan")
    guide.picture("edit")
    guide.press("ctrl+s")
    guide.until("you set app:monthly = 50", "1 to undo", gone="What it would do")

    guide.press("f6")
    guide.until("resumed after", "negotiate → plan", "you agree?", gone="F7 one decision")

    guide.press("{")
    guide.press("{")
    guide.until("REPLAY", "behind live", "for 0 s", "we know who they are", gone="you set app:monthly")
    guide.picture("back")
    guide.press("P")
    guide.until("playing")
    guide.press("end")
    guide.until("you set app:monthly = 50", gone="REPLAY")

    guide.press("i")
    guide.until("enter Send")
    guide.say("/export")
    guide.until("Export debt_collection", "personal values become [redacted]")
    guide.picture("export")
    guide.press("x")
    guide.until("Written")
