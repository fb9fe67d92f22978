"""Policies and tools of a profile, and the message for each unusable entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.errors import ConfigError, UsageError
from gemini_live_runtime.harness.paths import check_profile_name, default_root
from gemini_live_runtime.harness.profile import Profile, ProfileTools, parse_entry, profile_of

FULL: dict[str, Any] = {
    "consent": {"pay": "ask", "a.b": "deny"},
    "tools": {
        "enabled": ["tasks", "workspace", "tasks"],
        "folders": {"notes": "/var/notes", "mine": "~/mine"},
        "programs": {"build": ["make", "all"]},
    },
}


def profile(tables: dict[str, Any]) -> Profile:
    return profile_of(tables, name="work", where="work.toml")


def test_a_profile_has_its_policies_and_tools_with_absolute_folders() -> None:
    assert profile(FULL) == Profile(
        name="work",
        consent={"pay": "ask", "a.b": "deny"},
        tools=ProfileTools(
            enabled=("tasks", "workspace"),
            folders={"notes": "/var/notes", "mine": str(Path.home() / "mine")},
            programs={"build": ("make", "all")},
        ),
    )


def test_an_empty_profile_asks_for_nothing() -> None:
    assert profile({}) == Profile(name="work")


def test_a_profile_reaches_the_engine_as_it_is() -> None:
    spec = EngineSpec(session_id="s", profile=profile(FULL))
    assert EngineSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_a_spec_of_an_older_version_has_the_default_profile() -> None:
    assert EngineSpec.from_json({"session_id": "s"}).profile == Profile(name="default")


@pytest.mark.parametrize("value", ["work", {"name": 3}, {"name": "../x"}, {"nme": "work"}, {"tools": 3}])
def test_a_spec_with_a_broken_profile_is_refused(value: object) -> None:
    with pytest.raises(UsageError):
        EngineSpec.from_json({"session_id": "s", "profile": value})


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"consent": "ask"}, ["consent is 'ask' in work.toml", "a table"]),
        ({"consent": {"pay": "perhaps"}}, ["consent.pay is 'perhaps'", "allow, ask, deny", "leave it out"]),
        ({"consent": {"pay": ["ask"]}}, ["consent.pay", "allow, ask, deny"]),
        ({"consent": {"": "ask"}}, ["not the name of a tool"]),
        ({"consent": {"a\x1b[31m": "ask"}}, ["not the name of a tool"]),
        ({"consent": {"a" * 129: "ask"}}, ["not the name of a tool"]),
        ({"tools": ["tasks"]}, ["tools is", "a table"]),
        ({"tools": {"enable": []}}, ["tools.enable", "Did you mean tools.enabled?"]),
        ({"tools": {"xyz": []}}, ["tools.xyz", "tools.enabled, tools.folders, tools.programs"]),
        ({"tools": {"enabled": "tasks"}}, ["tools.enabled is 'tasks'", "a list of texts"]),
        ({"tools": {"enabled": ["taks"]}}, ["'taks'", "Did you mean tasks?"]),
        ({"tools": {"enabled": ["shell"]}}, ["'shell'", "tasks, memory, timer, notify, workspace"]),
        ({"tools": {"folders": {"notes": "notes"}}}, ["tools.folders.notes is 'notes'", "must begin with / or ~/"]),
        ({"tools": {"folders": {"notes": "/a\0b"}}}, ["tools.folders.notes", "path of a folder"]),
        ({"tools": {"folders": {"notes": "/" + "a" * 4096}}}, ["tools.folders.notes", "path of a folder"]),
        ({"tools": {"programs": {"build": ["a" * 4097]}}}, ["tools.programs.build", "list of texts"]),
        ({"tools": {"folders": {"../x": "/a"}}}, ["'../x'", "letters, digits"]),
        ({"tools": {"folders": {"n": 3}}}, ["tools.folders.n is '3'", "path of a folder"]),
        ({"tools": {"programs": {"build": "make"}}}, ["tools.programs.build is 'make'", "list of texts"]),
        ({"tools": {"programs": {"build": []}}}, ["tools.programs.build", "the program and its arguments"]),
        ({"tools": {"programs": {"build": [""]}}}, ["tools.programs.build", "list of texts"]),
        ({"tools": {"programs": {"build": ["{args}"]}}}, ["tools.programs.build", "has to begin with a program"]),
        (
            {"tools": {"programs": {"x": ["x", "{args}", "{options}"]}}},
            ["more than one of {args} and {options}"],
        ),
        ({"consent": {f"t{n}": "ask" for n in range(201)}}, ["201 entries", "at most 200"]),
    ],
    ids=str,
)
def test_an_unusable_entry_names_file_key_value_and_remedy(tables: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigError) as raised:
        profile(tables)
    assert [word for word in [*words, "work.toml"] if word not in str(raised.value)] == []
    assert raised.value.remedy


def test_a_refused_value_that_looks_like_a_key_is_not_shown() -> None:
    key = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"
    with pytest.raises(ConfigError) as raised:
        profile({"consent": {"pay": key}})
    assert key[4:20] not in f"{raised.value} {raised.value.value}"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "a..b", ".a", "-a", "a b", "a\0", "ä", "a" * 65, "a\n"])
def test_a_name_that_is_no_file_name_is_no_profile(name: str) -> None:
    with pytest.raises(UsageError, match="at most 64"):
        check_profile_name(name)


@pytest.mark.parametrize("name", ["a", "work", "Work-2.b_c", "a" * 64])
def test_the_records_of_a_profile_are_in_a_folder_of_its_name(name: str) -> None:
    assert default_root(check_profile_name(name)).name == name


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("consent.pay", "deny", (("consent", "pay"), "deny")),
        ("consent.a.b", "ask", (("consent", "a.b"), "ask")),
        ("tools.enabled", "tasks, memory", (("tools", "enabled"), ["tasks", "memory"])),
        ("tools.folders.notes", "~/notes", (("tools", "folders", "notes"), "~/notes")),
        (
            "tools.programs.build",
            "make 'all of it'",
            (("tools", "programs", "build"), ["make", "all of it"]),
        ),
    ],
)
def test_an_entry_of_the_command_line_becomes_that_of_the_file(key: str, text: str, expected: object) -> None:
    assert parse_entry(key, text) == expected


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("consent", "ask"),
        ("consent.pay", "no"),
        ("tools", "tasks"),
        ("tools.enabled", "shell"),
        ("tools.folders", "/a"),
        ("tools.folders.x", "relative"),
        ("tools.programs.x", "'open"),
        ("tools.programs.x", ""),
    ],
)
def test_an_entry_of_the_command_line_that_cannot_be_is_refused(key: str, text: str) -> None:
    with pytest.raises(ConfigError, match="the command line"):
        parse_entry(key, text)
