"""The action table holds together, and keymaps are checked before they are used."""

from __future__ import annotations

import pytest

from gemini_live_runtime.errors import ConfigError
from gemini_live_tui.actions import ACTIONS, BY_ID, UNREACHABLE, check_keymap, key_label, keys_of

SWALLOWED = {"ctrl+b", "ctrl+a", "ctrl+p", "ctrl+s", "ctrl+z"}
"""Keys that tmux, screen, docker attach or the terminal's flow control keep for themselves."""


def test_ids_are_unique_and_the_default_keys_do_not_clash() -> None:
    assert len(BY_ID) == len(ACTIONS)
    check_keymap({})


def test_no_default_key_is_one_that_never_arrives() -> None:
    assert not {key for action in ACTIONS for key in keys_of(action, {})} & set(UNREACHABLE)


def test_a_key_that_terminals_swallow_has_a_twin() -> None:
    for action in ACTIONS:
        keys = set(keys_of(action, {}))
        assert keys - SWALLOWED, action.id


def test_a_keymap_that_works_is_accepted() -> None:
    check_keymap({"mute": "m,f4", "text-mode": "f2"})


@pytest.mark.parametrize(
    ("keymap", "field", "said"),
    [
        ({"mut": "m"}, "keymap.mut", "no action 'mut'"),
        ({"mute": ""}, "keymap.mute", "no key"),
        ({"mute": " , "}, "keymap.mute", "no key"),
        ({"mute": "ctrl+i"}, "keymap.mute", "tab"),
        ({"mute": "v"}, "keymap.mute", "key of both"),
        ({"quit": "f1"}, "keymap.quit", "key of both"),
    ],
)
def test_a_keymap_that_cannot_work_is_a_sentence_naming_the_entry(
    keymap: dict[str, str], field: str, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check_keymap(keymap)
    assert caught.value.field == field
    assert said in str(caught.value)


def test_keys_are_written_as_people_write_them() -> None:
    labels = [key_label(key) for key in ("ctrl+b", "f2", "escape", "space", "question_mark", "ctrl+home", "v")]
    assert labels == ["^b", "F2", "esc", "space", "?", "ctrl+home", "v"]
