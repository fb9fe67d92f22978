"""What a console may be asked to talk to, and who starts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gemini_live_tui.session_data.link import LinkSource


@dataclass(frozen=True, slots=True)
class Choice:
    """What to talk to: `demo` is a bundled agent on the embedded server, the rest is as the config says."""

    agent: str = ""
    """A bundled agent's name or a reference; "" is the demo's first one, or the config's."""
    demo: bool = False


class Starter(Protocol):
    """Starts sessions with what the command line said."""

    def source(self, choice: Choice) -> LinkSource:
        """What gives the link to a new session; raises `GeminiLiveError` for a choice that cannot be started."""
        ...

    def key_found(self) -> bool:
        """Whether a start without the demo has a key, or needs none; raises `GeminiLiveError` for a bad one."""
        ...

    def describe(self) -> str:
        """What a start without the demo talks to, in a few words."""
        ...

    def devices(self) -> tuple[str, str]:
        """Microphone and speaker as the next session would open them; "" is the system's choice."""
        ...

    def saved(self, key: str) -> None:
        """An option was written to the config: what the command line said of it holds no more."""
        ...
