"""Describe sessions that a console can start, and their starter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_tui.config import Loaded
    from gemini_live_tui.session_data.link import LinkSource


@record
class Choice:
    """Session to start: a bundled agent on the embedded server, or the configured one."""

    agent: str = ""
    """Bundled agent or reference; "" is the demo's first one, or the config's."""
    demo: bool = False
    profile: str = ""
    """Profile of it and of later sessions; "" for the present one."""


class Starter(Protocol):
    """Starter of sessions with the command line's options."""

    def source(self, choice: Choice) -> LinkSource:
        """Return the source of a new session's link.

        Raise `GeminiLiveError` for a choice that cannot be started.
        """
        ...

    def key_found(self) -> bool:
        """Return True when the configured backend has a key or needs none.

        Raise `GeminiLiveError` for a bad key.
        """
        ...

    def describe(self) -> str:
        """Return the configured backend in a few words."""
        ...

    def devices(self) -> tuple[str, str]:
        """Return microphone and speaker of the next session; "" is the system's choice."""
        ...

    def headphones(self) -> bool:
        """Return True when the next session is for a user with headphones."""
        ...

    def load(self) -> Loaded:
        """Return the settings of the next session; raise `ConfigError`."""
        ...

    def under_profile(self, name: str) -> Choice:
        """Return the choice that starts the present agent under another profile."""
        ...

    def on_saved(self, key: str) -> None:
        """Prefer the config's value of `key`, just saved, to the command line's."""
        ...
