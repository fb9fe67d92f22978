"""The session as a whole: marks, exports, other sessions."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = ()
