"""Memory is found by its words, with an index beside the files or without one."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness_support import opened
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness import memory_index
from gemini_live_runtime.harness.memory import MemoryWrite
from gemini_live_runtime.harness.memory_index import IndexUnusableError, MemoryIndex
from gemini_live_runtime.harness.memory_words import MAX_QUERY, MAX_QUERY_WORDS, MemoryQuery, words_of
from gemini_live_runtime.harness.store import Harness

MEMORIES: dict[str, Any] = {
    "name": "Ada Lovelace",
    "diet": {"vegetarian": True, "allergies": ["nuts", "Äpfel"]},
    "hobby": "Writes programs about nuts and bolts",
    "city": "東京に住んでいます",
    "pets": ["a cat named Bolt", 2],
}


def fill(harness: Harness, scope: str = "user") -> None:
    for key, value in MEMORIES.items():
        harness.memory.put(MemoryWrite(scope=scope, key=key, value=value))


def found(harness: Harness, text: str, scope: str | None = None, **more: Any) -> list[str]:
    return [one.key for one in harness.memory.search(text, scope=scope, **more).records]


@pytest.fixture(params=["index", "scan"])
def harness(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    """A harness with memories, with the index of its search and without one."""
    if request.param == "scan":

        def search(*_: object) -> None:
            raise IndexUnusableError

        monkeypatch.setattr(MemoryIndex, "search", search)
    harness = opened(tmp_path)
    fill(harness)
    return harness


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("ada", {"name"}),
        ("ADA", {"name"}),
        ("love", {"name"}),
        ("vegetarian", {"diet"}),
        ("apfel", {"diet"}),
        ("nuts", {"diet", "hobby"}),
        ("nuts bolts", {"hobby"}),
        ("2", {"pets"}),
        ("東京", {"city"}),
        ("京", {"city"}),
        ("pets", {"pets"}),
        ("ov", set()),
        ("nowhere", set()),
        ("what is her name", {"name", "pets"}),
        ("Ada nowhere", {"name"}),
    ],
)
def test_a_memory_is_found_by_its_words_or_their_beginnings(harness: Harness, text: str, keys: set[str]) -> None:
    assert set(found(harness, text)) == keys


def test_the_best_match_is_first(harness: Harness) -> None:
    assert found(harness, "cat bolt nowhere")[0] == "pets"


def test_a_search_can_be_of_one_scope_and_of_a_few(harness: Harness) -> None:
    fill(harness, "other")
    assert len(found(harness, "nuts")) == 4
    assert len(found(harness, "nuts", "other")) == 2
    assert found(harness, "nuts", "nobody") == []
    assert len(found(harness, "nuts", limit=1)) == 1


@pytest.mark.parametrize("text", ["", "  ", "!?", '"', "\x00"])
def test_a_text_without_words_is_refused(harness: Harness, text: str) -> None:
    with pytest.raises(HarnessError, match="There is no word to search for"):
        harness.memory.search(text)


@pytest.mark.parametrize("scope", ["..", "a/b", 'x" OR "y'])
def test_a_scope_that_is_no_name_is_refused(harness: Harness, scope: str) -> None:
    with pytest.raises(HarnessError, match="cannot be used as a file name"):
        harness.memory.search("ada", scope=scope)


@pytest.mark.parametrize(
    "text",
    ['ada"', "ada AND", "NEAR(ada", "ada*", "text : ada", "-ada", "ada'; DROP TABLE words; --", "{ada}", "ada ^"],
)
def test_signs_of_a_query_language_are_only_signs(harness: Harness, text: str) -> None:
    assert "name" in found(harness, text)
    assert "name" in found(harness, "ada")


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=60))
def test_any_text_is_a_query_or_has_no_word(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    with opened(tmp_path_factory.getbasetemp() / "any") as harness:
        harness.memory.put(MemoryWrite(scope="s", key="k", value=text if text.strip() else "x"))
        try:
            query = MemoryQuery.of(text)
        except HarnessError:
            assert not words_of(text)
            return
        assert harness.memory._index.search(query, None, 5) == [("s", "k")]


# -- the index and the files -----------------------------------------------------------------------------------------


def indexed(harness: Harness, text: str) -> list[str]:
    """Search with the index, never without."""
    return [key for _, key in harness.memory._index.search(MemoryQuery.of(text), None, 20)]


@pytest.fixture
def filled(tmp_path: Path) -> Harness:
    harness = opened(tmp_path)
    fill(harness)
    assert indexed(harness, "ada") == ["name"]
    return harness


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE recipes (name TEXT)")
        database.execute("PRAGMA application_id = 7")


def newer(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")


def emptied(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE words")


def damaged_inside(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


@pytest.mark.parametrize(
    "harm",
    [
        Path.unlink,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"Dear diary, " * 1000),
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
        damaged_inside,
        foreign,
        newer,
        emptied,
        linked,
    ],
    ids=["deleted", "empty", "text", "cut", "overwritten", "foreign", "newer", "without-table", "link"],
)
def test_an_index_that_is_not_ours_or_not_whole_is_made_anew(filled: Harness, harm: Callable[[Path], object]) -> None:
    harm(filled.paths.memory_index)
    assert indexed(filled, "ada") == ["name"]
    assert indexed(filled, "nuts bolts") == ["hobby"]
    assert not filled.paths.memory_index.is_symlink()


def test_without_fts5_the_files_are_read(filled: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.paths.memory_index.unlink()
    monkeypatch.setattr(memory_index, "_TABLES", ("CREATE VIRTUAL TABLE words USING fts99 (scope, text)",))
    with pytest.raises(IndexUnusableError):
        indexed(filled, "ada")
    assert found(filled, "ada") == ["name"]


def test_without_sqlite_the_files_are_read(filled: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    assert found(filled, "ada") == ["name"]
    assert filled.memory.delete("user", "name")


def test_a_folder_in_the_place_of_the_index_does_no_harm(filled: Harness) -> None:
    filled.paths.memory_index.unlink()
    filled.paths.memory_index.mkdir()
    assert found(filled, "ada") == ["name"]


def test_a_locked_index_does_no_harm(filled: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_index, "_BUSY_S", 0.0)
    database = sqlite3.connect(filled.paths.memory_index, isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    assert found(filled, "ada") == ["name"]
    database.close()
    assert indexed(filled, "ada") == ["name"]


def test_memories_that_other_programs_add_change_and_delete_are_noticed(filled: Harness) -> None:
    path = filled.paths.memory_file("user", "name")
    text = path.read_text()
    path.with_name("second.json").write_text(text.replace("Ada", "Grace"))
    assert indexed(filled, "grace") == ["second"]
    with path.open("r+") as file:  # in place: the folder does not change
        file.write(text.replace("Ada", "Eve"))
    assert indexed(filled, "eve") == ["name"]
    assert indexed(filled, "ada") == []
    path.unlink()
    assert indexed(filled, "eve") == []


def test_every_file_is_looked_at_after_some_searches(filled: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_index, "SWEPT", 2)
    monkeypatch.setattr(memory_index, "_SETTLED_NS", -(10**18))  # the folders are not looked at again
    indexed(filled, "ada")
    for key in MEMORIES:
        path = filled.paths.memory_file("user", key)
        os.utime(path, (1, 1))
        path.write_text(path.read_text().replace('"value": ', '"summary": "swept", "value": '))
    for _ in MEMORIES:
        indexed(filled, "ada")
    assert len(indexed(filled, "swept")) == len(MEMORIES)


def test_a_change_in_the_same_moment_as_the_search_before_is_noticed(filled: Harness) -> None:
    folder = filled.paths.memory_scope("user")
    before = folder.stat()
    indexed(filled, "ada")
    (folder / "more.json").write_text(filled.paths.memory_file("user", "name").read_text())
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))  # as a clock with coarse steps has it
    assert sorted(indexed(filled, "ada")) == ["more", "name"]


def test_a_deleted_memory_leaves_no_word_in_the_index(filled: Harness) -> None:
    assert b"lovelace" in filled.paths.memory_index.read_bytes()
    filled.memory.delete("user", "name")
    assert b"lovelace" not in filled.paths.memory_index.read_bytes()


def test_damaged_memories_hide_no_other_from_the_search(filled: Harness) -> None:
    filled.paths.memory_file("user", "diet").write_text("{")
    listing = filled.memory.search("nuts")
    assert [one.key for one in listing.records] == ["hobby"]


def test_a_word_that_most_memories_have_ranks_nothing(filled: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_index, "COMMON", 1)
    assert indexed(filled, "nuts") == ["hobby", "diet"]
    assert indexed(filled, "nuts ada cat")[:2] != ["hobby", "diet"]


def test_a_file_that_the_disk_did_not_give_is_found_as_soon_as_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = opened(tmp_path)
    fill(harness)
    for path in harness.paths.memory_scope("user").iterdir():
        os.utime(path, (1, 1))
    os.utime(harness.paths.memory_scope("user"), (1, 1))  # long ago, so that the folder's time tells all

    def fails(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(harness.files.disk, "read", fails)
        assert indexed(harness, "ada") == []
    assert indexed(harness, "ada") == ["name"]


def test_of_a_query_without_end_the_first_words_count() -> None:
    words = [f"w{number:02}" for number in range(MAX_QUERY_WORDS + 5)]
    assert MemoryQuery.of(" ".join(words)) == MemoryQuery.of(" ".join(words[:MAX_QUERY_WORDS]))
    assert MemoryQuery.of("a" * MAX_QUERY + "b c") == MemoryQuery.of("a" * MAX_QUERY)


def test_the_random_numbers_of_the_program_are_its_own(tmp_path: Path) -> None:
    random.seed(1)
    expected = random.Random(1).random()
    fill(opened(tmp_path))
    assert random.random() == expected
