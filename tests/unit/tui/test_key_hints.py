"""Hints name the keys in use: those of the table, or of the config file."""

from __future__ import annotations

import re
from pathlib import Path

from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import hints

CONSOLE = Path(__file__).parents[3] / "tui" / "gemini_live_tui"


def test_a_hint_names_all_keys_of_its_action_as_people_write_them():
    assert hints(("{editor-apply} applies", "esc cancels"), {}) == ["^s or F5 applies", "esc cancels"]
    assert hints(("{diff-earlier} {diff-later} another turn",), {}, ascii_only=True) == ["left right another turn"]


def test_a_hint_follows_the_config_and_goes_with_the_last_key():
    named = ("{watcher-fire} fires", "esc closes")
    assert hints(named, {"watcher-fire": "ctrl+k"}) == ["^k fires", "esc closes"]
    assert hints(named, {"watcher-fire": ""}) == ["esc closes"]


def test_every_action_that_a_room_names_in_a_hint_is_in_the_table():
    named = {
        name
        for path in CONSOLE.rglob("*.py")
        for text in re.findall(r'"([^"\n]*\{[a-z0-9-]+\}[^"\n]*)"', path.read_text(encoding="utf-8"))
        for name in re.findall(r"\{([a-z0-9]+(?:-[a-z0-9]+)+)\}", text)
    }
    assert "watcher-fire" in named
    assert named <= set(BY_ID)
