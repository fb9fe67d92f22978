"""List the actions on calls that wait for consent."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action(
        "consent-yes",
        "alt+y",
        "consent(True)",
        "Run it",
        "Agree to the call that waits, with the arguments on the screen",
        "Talk",
        anywhere=True,
    ),
    Action(
        "consent-no",
        "alt+n",
        "consent(False)",
        "Refuse",
        "Refuse the call that waits",
        "Talk",
        anywhere=True,
    ),
    Action(
        "consent-always",
        "alt+a",
        "consent(True, True)",
        "Always run",
        "Agree to the call that waits and to later calls of this tool, until it changes or you revoke it",
        "Talk",
        anywhere=True,
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
