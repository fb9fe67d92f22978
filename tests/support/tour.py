"""The README's tour, step by step: taken in a real terminal by a test, and before a camera for the docs."""

from __future__ import annotations

from typing import Protocol

COMMAND = "demo debt_collection --text --no-sound --record text"
SIZE = (120, 36)


class Guide(Protocol):
    """Somebody who takes the tour."""

    def say(self, text: str) -> None:
        """Type a message and send it."""

    def press(self, *keys: str) -> None:
        """Press keys, by Textual's names."""

    def type(self, text: str) -> None:
        """Type letters where the focus is."""

    def until(self, *texts: str) -> None:
        """Wait until all of these are on the screen."""

    def picture(self, name: str) -> None:
        """What is seen here belongs into the docs."""


def take(guide: Guide) -> None:
    """Talk, see why, stop at a watcher, edit after a look at the consequences, go on, go back in time, export."""
    guide.until("TEXT", "Do you understand?", "yes I understand")

    # Stop where the agent notices that somebody is upset.
    guide.press("ctrl+o", "w")
    guide.until("armed", "app:anger")
    guide.press("b")
    guide.until("The agent will be held at the watcher")
    guide.press("ctrl+o", "i")

    guide.say("yes I understand")
    guide.until("notice → verify", "May I have your full name?")

    # Why did it move on?
    guide.press("ctrl+e")
    guide.until("app:understood is true", "extractor Said")
    guide.picture("why")
    guide.press("escape")

    guide.say("my name is Maria Lopez")
    guide.until("last two digits")
    guide.say("forty two")
    guide.until("verify → negotiate", "What can you pay")
    guide.picture("talk")
    guide.say("this is ridiculous")
    guide.until("HELD", "F7 one decision")
    guide.picture("held")
