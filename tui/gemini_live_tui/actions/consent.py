"""List the actions on calls that wait for consent."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "consent-yes",
        "A",
        "consent(True)",
        "Run it",
        "Agree to the call that waits, with the arguments on the screen",
        "Talk",
    ),
    Action(
        "consent-no",
        "X",
        "consent(False)",
        "Refuse",
        "Refuse the call that waits",
        "Talk",
    ),
    Action(
        "consent-always",
        "W",
        "consent(True, True)",
        "Always run",
        "Agree to the call that waits and to later calls of this tool, until it changes or you revoke it",
        "Talk",
    ),
    Action(
        "revoke-consent",
        "",
        "revoke_consent",
        "Revoke consent",
        "Ask again before calls that you have agreed to for always, of one tool or of all",
        "Talk",
        slash="revoke-consent [TOOL]",
        takes="revoke_consent",
    ),
)
