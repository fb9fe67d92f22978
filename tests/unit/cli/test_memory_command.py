"""`memory`: list, get, put, delete and search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import run

from gemini_live_runtime import paths
from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryWrite
from gemini_live_runtime.harness.paths import default_root
from gemini_live_runtime.harness.store import Harness
from gemini_live_tui.cli.memory import LISTED


@pytest.fixture
def harness() -> Iterator[Harness]:
    with Harness.open(default_root()) as opened:
        yield opened


def test_without_memories_the_list_says_how_to_write_one() -> None:
    assert run("memory").out == "There is no memory. Write one: gemini-live-tui memory put user name Ada\n"
    assert run("memory", "list", "--scope", "hotel").out.startswith("There is no memory in the scope hotel.")


def test_what_was_put_is_listed_shown_and_found() -> None:
    assert run("memory", "put", "user", "name", "Ada").out == "Remembered user/name.\n"
    assert run("memory", "put", "user", "diet", '{"vegetarian": true}', "--json-value").code == 0
    head, *rows = run("memory").out.splitlines()
    assert head.split() == ["SCOPE", "KEY", "BY", "AGE", "VALUE"]
    assert sorted(row.split()[:3] for row in rows) == [["user", "diet", "operator"], ["user", "name", "operator"]]
    assert run("memory", "get", "user", "name").out.splitlines()[0] == "Ada"
    assert json.loads(run("memory", "get", "user", "diet", "--json").out)["value"] == {"vegetarian": True}
    assert "Ada" in run("memory", "search", "ada").out
    assert run("memory", "search", "grace", "hopper").out == "No memory has any of these words: grace hopper\n"


def test_json_may_stand_before_the_subcommand() -> None:
    run("memory", "put", "user", "name", "Ada")
    for command in (["--json"], ["--json", "list"], ["--json", "get", "user", "name"], ["--json", "search", "ada"]):
        assert json.loads(run("memory", *command).out)["value"] == "Ada", command
    assert json.loads(run("memory", "--json", "delete", "user", "name").out)["deleted"] is True


def test_a_key_that_is_searched_for_is_not_repeated(harness: Harness) -> None:
    ended = run("memory", "search", "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw")
    assert ended.out == "No memory has any of these words: [redacted]\n"


def test_the_operator_is_the_author(harness: Harness) -> None:
    run("memory", "put", "user", "name", "Ada")
    assert harness.memory.get("user", "name").is_trusted


def test_the_origin_of_what_a_model_wrote_is_shown(harness: Harness) -> None:
    said = MemoryProvenance(author=MemoryAuthor.MODEL, session_id="s1", agent="concierge", turn=3, text="I am Ada")
    harness.memory.put(MemoryWrite(scope="user", key="name", value="Ada", provenance=said))
    out = run("memory", "get", "user", "name").out
    for text in ("model", "s1", "concierge", "3", "I am Ada"):
        assert text in out, text


def test_a_value_can_come_from_standard_input() -> None:
    assert run("memory", "put", "user", "note", "-", stdin="two\nlines\n").code == 0
    assert run("memory", "get", "user", "note").out.splitlines()[:2] == ["two", "lines"]


def test_a_value_of_100_mb_is_refused_in_a_sentence(harness: Harness) -> None:
    refused = run("memory", "put", "user", "note", "-", stdin="x" * 100_000_000)
    assert refused.code == 1
    assert refused.sentence.startswith("The memory user/note has more than 65,536 characters. Remember where it is")
    assert harness.memory.scopes() == []


@pytest.mark.parametrize("value", ["{", "NaN", "Ada", "[" * 100_000])
def test_a_value_that_is_no_json_is_refused(value: str) -> None:
    refused = run("memory", "put", "user", "x", "--json-value", "--", value)
    assert refused.code == 2
    assert refused.sentence.startswith("VALUE is no JSON")


def test_deleting_says_whether_there_was_something() -> None:
    run("memory", "put", "user", "name", "Ada")
    assert run("memory", "delete", "user", "name").out == "Deleted user/name.\n"
    again = run("memory", "delete", "user", "name")
    assert (again.code, again.out) == (0, "There was no memory user/name.\n")


def test_an_unknown_memory_is_named() -> None:
    refused = run("memory", "get", "user", "name")
    assert refused.code == 1
    assert refused.sentence == "There is no memory user/name. See: gemini-live-tui memory list."


@pytest.mark.parametrize("arguments", [("get", "..", "x"), ("put", "a/b", "x", "y"), ("delete", "user", "\x1b[2J")])
def test_a_name_that_is_no_file_name_is_refused(arguments: tuple[str, ...]) -> None:
    refused = run("memory", *arguments)
    assert refused.code == 1
    assert "cannot be used as a file name" in refused.sentence
    assert refused.control == []


def test_a_search_without_a_word_is_refused() -> None:
    assert "There is no word to search for" in run("memory", "search", "!?").sentence


def test_old_memories_are_counted_and_listed_on_demand(harness: Harness) -> None:
    for number in range(LISTED + 2):
        harness.memory.put(MemoryWrite(scope="s", key=f"k{number}", value=number))
    assert run("memory").out.splitlines()[-1] == "2 older ones: gemini-live-tui memory list --all"
    assert len(run("memory", "list", "--all").out.splitlines()) == LISTED + 3
    assert len(run("memory", "list", "--json").out.splitlines()) == LISTED + 2


def test_a_damaged_file_hides_no_other_and_is_named(harness: Harness) -> None:
    run("memory", "put", "user", "name", "Ada")
    harness.paths.memory_file("user", "broken").write_text("{")
    ended = run("memory")
    assert ended.code == 1
    assert "Ada" in ended.out
    assert "broken.json is damaged" in ended.err


def test_another_root_or_profile_has_memories_of_its_own(tmp_path: Path) -> None:
    run("memory", "--root", str(tmp_path / "a"), "put", "user", "name", "Ada")
    (paths.private_dir(paths.config_dir() / "profiles") / "work.toml").touch()
    run("memory", "--profile", "work", "put", "user", "name", "Grace")
    assert "Ada" in run("memory", "--root", str(tmp_path / "a")).out
    assert "Grace" in run("memory", "--profile", "work", "list").out
    assert "There is no memory" in run("memory").out


def test_hostile_text_reaches_no_terminal(harness: Harness) -> None:
    said = MemoryProvenance(author=MemoryAuthor.MODEL, session_id=HOSTILE, agent=HOSTILE, text=HOSTILE)
    write = MemoryWrite(scope="user", key="name", value=HOSTILE, summary=HOSTILE, provenance=said)
    harness.memory.put(write)
    assert run("memory").control == []
    assert run("memory", "get", "user", "name").control == []
    assert run("memory", "get", "user", "name", "--json").control == []
    assert run("memory", "search", "name").control == []
    assert run("memory", "search", "zzz\x1b[2J").control == []
