"""The action table holds together, and keymaps are checked before they are used."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.errors import ConfigError
from gemini_live_tui.actions import ACTIONS, BY_ID, GROUPS, PANES, PLACES, Action, keymap
from gemini_live_tui.actions.keymap import (
    GONE,
    SWALLOWED,
    UNREACHABLE,
    check_keymap,
    is_key,
    is_typed,
    key_label,
    keymap_problem,
    keys_of,
    usable_keymap,
)
from gemini_live_tui.actions.rows import ROWS
from gemini_live_tui.dialogs.help import COLUMN, COLUMN_KEYS
from gemini_live_tui.pickers.palette import palette_name


def test_ids_are_unique_and_the_default_keys_do_not_clash() -> None:
    assert len(BY_ID) == len(ACTIONS)
    check_keymap({})


def test_no_default_key_is_one_that_never_arrives() -> None:
    assert not {key for action in ACTIONS for key in keys_of(action, {})} & set(UNREACHABLE)


def test_a_key_that_terminals_swallow_has_a_twin() -> None:
    """Check the swallowed keys.

    Quitting has its twin in ctrl+c pressed twice, which every terminal passes on in raw mode.
    """
    alone = [a.id for a in ACTIONS if keys_of(a, {}) and not set(keys_of(a, {})) - set(SWALLOWED)]
    assert alone == ["quit"]
    assert "twice to quit" in BY_ID["copy"].description


def test_no_action_hangs_on_a_key_that_some_terminals_cannot_send() -> None:
    lost = re.compile(r"f1[0-2]|alt\+[a-z]")
    assert [a.id for a in ACTIONS if any(lost.fullmatch(key) for key in keys_of(a, {}))] == []


OTHERWISE = {
    "space": "on a screen of its own it chooses, as in every list; in the console it mutes the microphone (F4, too)",
    "left_square_bracket": "back, on the screen Why through decisions, in the console through turns",
    "a": "it adds a row to a list; on the values of a profile, where rows are fixed, it applies what is staged",
    "n": "it makes a new profile; in the transcript, where n and N are those of pagers, it searches on",
    "right_square_bracket": "on, on the screen Why through decisions, in the console through turns",
}
"""Letters that have several titles, with the reason."""


def _letters() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for action in ACTIONS:
        for key in filter(is_typed, keys_of(action, {})):
            found.setdefault(key, set()).add(action.title)
    return found


def test_a_letter_is_the_same_command_in_every_place() -> None:
    assert {key: titles for key, titles in _letters().items() if len(titles) > 1 and key not in OTHERWISE} == {}
    assert set(OTHERWISE) == {key for key, titles in _letters().items() if len(titles) > 1}


def test_function_keys_are_the_same_command_in_every_place() -> None:
    titles: dict[str, set[str]] = {}
    for row in ROWS:
        for key in row.keys({}):
            if re.fullmatch(r"f[0-9]+", key):
                titles.setdefault(key, set()).add(row.title)
    assert {key: found for key, found in titles.items() if len(found) > 1} == {}


def test_no_letter_of_the_console_is_taken_by_a_pane() -> None:
    general = {key for action in ACTIONS if PLACES[action.scope].kind == "everywhere" for key in keys_of(action, {})}
    of_panes = {key for action in ACTIONS if action.scope in PANES for key in keys_of(action, {})}
    assert {key for key in general & of_panes if is_typed(key)} == set()


def test_escape_has_one_action_in_each_place() -> None:
    names = [(action.scope, action.id) for action in ACTIONS if "escape" in keys_of(action, {})]
    assert names == [("console", "interrupt"), ("sessions", "sessions-close"), ("export", "export-close")]


@pytest.mark.parametrize(("gone", "instead"), GONE.items())
def test_a_keymap_with_a_name_of_before_is_told_the_one_of_now(gone: str, instead: str) -> None:
    assert instead in BY_ID
    assert gone not in BY_ID
    with pytest.raises(ConfigError, match=rf"{gone!r} is gone.*Use {instead} instead"):
        check_keymap({gone: "k"})


def test_every_action_is_in_one_row() -> None:
    named = [action.id for row in ROWS for action in row.actions]
    assert sorted(named) == sorted(BY_ID)


def test_the_title_of_a_row_with_keys_leaves_a_gap_in_the_columns_of_the_help() -> None:
    room = COLUMN - COLUMN_KEYS - 1
    assert [row.title for row in ROWS if row.keys({}) and len(row.title) > room] == []


def test_every_action_has_its_place_its_group_and_its_words() -> None:
    for action in ACTIONS:
        assert action.scope in PLACES, action.id
        assert action.group in GROUPS, action.id
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", action.id), action.id
        assert 0 < len(action.title) <= 24, action.id
        assert action.description[0].isupper(), action.id
        assert not action.description.endswith("."), action.id
        assert action.bar != "pane" or action.scope in PANES, action.id


def test_the_table_is_in_the_order_of_its_groups() -> None:
    places = [GROUPS.index(action.group) for action in ACTIONS]
    assert places == sorted(places)


def _pane_action(ident: str, keys: str, scope: str) -> Action:
    return Action(ident, keys, "x", "X", "X", "Inspect", scope=scope)


@pytest.mark.parametrize(
    ("one", "other", "clashes"),
    [
        (("state", "e"), ("watchers", "e"), False),
        (("state", "e"), ("state", "e"), True),
        (("state", "e"), ("prompt", "e"), False),
        (("state", "full_stop"), ("state", "."), True),
        (("state", "e"), ("console", "e"), True),
        (("state", "e"), ("app", "e"), True),
    ],
)
def test_keys_clash_within_a_place_and_with_those_that_hold_everywhere(
    monkeypatch: pytest.MonkeyPatch, one: tuple[str, str], other: tuple[str, str], clashes: bool
) -> None:
    pair = tuple(_pane_action(name, keys, scope) for name, (scope, keys) in (("one", one), ("other", other)))
    monkeypatch.setattr(keymap, "ACTIONS", pair)
    assert bool(list(keymap._faults({}))) == clashes


def test_a_pane_may_take_the_scroll_keys_and_no_other_key_of_the_console(monkeypatch: pytest.MonkeyPatch) -> None:
    scrolls = _pane_action("row-up", "up", "state")
    monkeypatch.setattr(keymap, "ACTIONS", (*ACTIONS, scrolls))
    check_keymap({})
    mutes = _pane_action("row-mark", "space", "state")
    monkeypatch.setattr(keymap, "ACTIONS", (*ACTIONS, mutes))
    with pytest.raises(ConfigError, match="mute and row-mark"):
        check_keymap({})


def test_of_a_keymap_everything_that_works_is_kept_and_the_rest_is_named() -> None:
    wanted = {"mute": "k", "nope": "x", "help": "ctrl+i", "theme": " ctrl+u , Z", "mute-speaker": "k"}
    usable, faults = usable_keymap(wanted)
    assert usable == {"mute": "k", "theme": "ctrl+u,Z"}
    assert sorted(fault.field for fault in faults) == ["keymap.help", "keymap.mute-speaker", "keymap.nope"]
    assert "2 more" in keymap_problem(faults)
    check_keymap(usable)


@given(st.dictionaries(st.sampled_from([*BY_ID, "nope"]), st.sampled_from(["m", "v", "space", "f1,f2", "", "ctrl+m"])))
def test_what_is_left_of_any_keymap_works(wanted: dict[str, str]) -> None:
    usable, faults = usable_keymap(wanted)
    check_keymap(usable)
    assert len(usable) + len(faults) == len(wanted)


def test_two_actions_may_swap_their_keys() -> None:
    check_keymap({"mute": "v", "mute-speaker": "space"})


def test_a_keymap_that_works_is_accepted() -> None:
    check_keymap({"mute": "k,f4", "text-mode": "f2"})


@pytest.mark.parametrize(
    ("keymap", "field", "said"),
    [
        ({"mut": "m"}, "keymap.mut", "unknown action 'mut'"),
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


@pytest.mark.parametrize(
    "key",
    ["ctlr+k", "f99", "f0", "hyperspace", "ctrl+foo", "ctrl+", "shift+ctrl+up", "shift+a", "ctrl+K", "ctrl+ctrl+k"],
)
def test_a_key_that_no_terminal_sends_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match="not a key"):
        check_keymap({"mute": key})


@pytest.mark.parametrize("key", ["+", "?", "M", "ctrl+shift+up", "alt+x", "shift+f5", "ctrl+@", "ctrl+full_stop"])
def test_keys_that_terminals_send_are_accepted(key: str) -> None:
    assert is_key(key)


def test_every_default_key_is_a_key() -> None:
    assert [key for action in ACTIONS for key in keys_of(action, {}) if not is_key(key)] == []


def test_keys_are_written_as_people_write_them() -> None:
    labels = [key_label(key) for key in ("ctrl+b", "f2", "escape", "space", "question_mark", "ctrl+home", "v")]
    assert labels == ["^b", "F2", "esc", "space", "?", "ctrl+home", "v"]


def test_no_two_actions_have_one_name_in_the_palette() -> None:
    names = [palette_name(action) for action in ACTIONS if action.palette]
    assert {name for name in names if names.count(name) > 1} == set()
