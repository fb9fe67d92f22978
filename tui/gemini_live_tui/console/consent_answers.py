"""Answer the open question of consent, and revoke what is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gemini_live_tui.console.command_sender import CommandSender
    from gemini_live_tui.console.consent_row import ConsentRow
    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.context import ConsoleContext

READING_S = 0.5
"""Seconds for which a question is on the screen before a key answers it: another one may just have taken its place."""


class ConsentAnswers:
    """Answers of the operator, by keys and by name; no text is one."""

    def __init__(self, console: ConsoleContext, row: ConsentRow, sender: CommandSender, notices: Notices) -> None:
        self._console = console
        self._row = row
        self._sender = sender
        self._notices = notices

    def action_consent(self, yes: bool, remember: bool = False) -> None:
        """Answer the question that is on the screen."""
        from gemini_live_runtime.commands import GiveConsent

        card = self._row.card
        if card is None or self._console.settings.replay:
            self._notices.say("No call waits for your consent.", passing=True)
        elif self._console.time.now() - self._row.since < READING_S:
            self._notices.say("The question is new. Read it, and answer again.", passing=True)
        else:
            self._sender.order(GiveConsent(id=card.id, yes=yes, remember=remember))

    def action_revoke_consent(self, tool: str = "") -> None:
        """Revoke remembered consent: of one tool, or all."""
        from gemini_live_runtime.commands import RevokeConsent

        self._sender.order(RevokeConsent(tool=tool))
