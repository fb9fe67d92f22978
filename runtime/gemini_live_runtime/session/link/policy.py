"""Set how long and how often a lost link is made again, and what waits meanwhile."""

from __future__ import annotations

from dataclasses import fields

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.json_values import is_number
from gemini_live_runtime.records import frozen_record


@frozen_record(kw_only=True)
class LinkPolicy:
    """Policy of one session's link; raises `UsageError` for an unusable value."""

    reconnect_for_s: float = 60.0
    """Seconds for which a lost link is made again while no console is attached; with one it is always."""
    headless: bool = False
    """True when what is attached is a program: `reconnect_for_s` holds all the same."""
    first_delay_s: float = 0.5
    """Upper bound in seconds of the first random delay; it doubles with each attempt."""
    longest_delay_s: float = 30.0
    """Largest delay in seconds."""
    stable_s: float = 30.0
    """Seconds after which a connection is stable, so that the next loss is a new one."""
    max_texts: int = 32
    """Typed texts that wait for a connection; further ones are refused."""
    audio_kept_s: float = 1.0
    """Seconds of the microphone's sound that wait for a connection, or in one that is slow."""
    speech_kept_s: float = 10.0
    """Seconds of the user's speech, from its onset, that wait for a connection, or in one that is slow."""
    late_answer_s: float = 10.0
    """Seconds without a sign of an answer, or of its rest, after which that is said."""
    no_answer_s: float = 20.0
    """Seconds without one after which it is asked for again on another connection."""
    dead_after_s: float = 60.0
    """Seconds in which nothing at all comes after a ping, until a socket counts as dead: pongs came 30 s late."""
    silent_after_s: float = 10.0
    """The same while the user speaks, waits for an answer or hears one, of a server that has answered pings soon.

    It is twice the time of the session's slowest pong when that is longer, and `dead_after_s` before the first: a
    server that answers pings late is not dead because it does so again.
    """
    max_unrecoverable_errors: int | None = 3
    """Failures of the server in a row, without a word of the model, after which it is asked no more; None is any."""
    early_s: float = 30.0
    """Seconds before a connection's known age limit from which it is left at a quiet point."""

    def __post_init__(self) -> None:
        """Check every field."""
        for name in (field.name for field in fields(self) if field.name.endswith("_s")):
            self._check(name, 0, "seconds")
        self._check("max_texts", 1, "a number")

    def _check(self, name: str, least: int, unit: str) -> None:
        value = getattr(self, name)
        if not is_number(value) or value < least:
            raise UsageError(
                f"{name} cannot be {value!r:.60}",
                remedy=f"Give {unit} of at least {least}",
                field=name,
                value=value,
            )
