"""Name what a run lacks to be complete, with exit codes and remedies."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime.records import record

Part = Literal["ending", "links", "approvals", "interventions", "deliveries", "output", "journal"]

EXIT_CODES: dict[Part, int] = {
    "ending": 10,
    "links": 11,
    "approvals": 12,
    "interventions": 13,
    "deliveries": 14,
    "output": 15,
    "journal": 16,
}
"""Exit code for each missing part; of several the first one counts: it is the cause of those behind it."""

IN_WORDS: dict[str, str] = {
    "ending": "its end is missing",
    "links": "its connection was not closed",
    "approvals": "a question was open",
    "interventions": "the agent was held",
    "deliveries": "it ended within a turn or a call",
    "output": "the model said nothing",
    "journal": "its recording has gaps",
}
"""Words for each missing part, for lists of sessions."""

REMEDIES: dict[Part, str] = {
    "ending": "Check the disk of the recording; gemini-live-tui resume goes on with a session that broke off",
    "links": "Check the network and the server, or give more time with --reconnect-for",
    "approvals": "Approve or refuse it before the end",
    "interventions": "Let the agent go on before the end",
    "deliveries": "Send it again",
    "output": "Say or send something that the model answers",
    "journal": "Check the disk of the recording, or give --record off",
}
"""Help against each missing part."""


@record
class MissingPart:
    """Part of a run that is not complete; `text` says why in a few words."""

    part: Part
    text: str


def unfinished_turn(number: int) -> str:
    """Return the text of an ending that lacks a turn's."""
    return f"turn {number} was not finished"


@record
class Completion:
    """Result of a run: its missing parts, in the order of `EXIT_CODES`."""

    missing: tuple[MissingPart, ...] = ()

    @property
    def is_complete(self) -> bool:
        """True when nothing is missing."""
        return not self.missing

    @property
    def parts(self) -> tuple[Part, ...]:
        """Names of the missing parts."""
        return tuple(missing.part for missing in self.missing)

    @property
    def exit_code(self) -> int:
        """Exit code for the first missing part; 0 for a complete run."""
        return EXIT_CODES[self.missing[0].part] if self.missing else 0

    @property
    def remedy(self) -> str:
        """Help against the first missing part; "" for a complete run."""
        return REMEDIES[self.missing[0].part] if self.missing else ""

    @property
    def words(self) -> str:
        """Missing parts and their reasons; "" for a complete run."""
        return ", ".join(f"{missing.part} ({missing.text})" for missing in self.missing)
