"""Holding the agent, and letting it go on step by step."""

from __future__ import annotations

from gemini_live_tui.actions.action import Action

ACTIONS: tuple[Action, ...] = ()
