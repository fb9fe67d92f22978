"""Memory is written, read, listed and deleted by scope and key."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from harness_support import Wall, opened

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness import memory_store
from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryRecord, MemoryWrite
from gemini_live_runtime.harness.notifications import NewNotification
from gemini_live_runtime.harness.store import Harness


def put(harness: Harness, scope: str = "user", key: str = "name", value: Any = "Ada", **more: Any) -> MemoryRecord:
    return harness.memory.put(MemoryWrite(scope=scope, key=key, value=value, **more))


def names(harness: Harness, scope: str | None = None) -> list[str]:
    return [f"{one.scope}/{one.key}" for one in harness.memory.find(scope).records]


def test_what_was_written_is_read_by_the_next_program(tmp_path: Path) -> None:
    said = MemoryProvenance(author=MemoryAuthor.MODEL, session_id="s1", agent="concierge", turn=2, text="I am Ada")
    with opened(tmp_path) as harness:
        written = put(harness, value={"first": "Ada"}, summary="her name", metadata={"sure": True}, provenance=said)
    with opened(tmp_path) as harness:
        assert harness.memory.get("user", "name") == written
        assert (written.value, written.provenance) == ({"first": "Ada"}, said)


def test_writing_again_keeps_the_time_of_the_creation(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        first = put(harness)
        wall.now += 60
        second = put(harness, value="Grace")
        assert (second.created_at_ms, second.updated_at_ms) == (first.created_at_ms, first.created_at_ms + 60_000)
        assert [one.value for one in harness.memory.find().records] == ["Grace"]


def test_a_replaced_one_must_be_the_one_that_is_known(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        seen = put(harness)
        theirs = put(harness, value="Grace")
        mine = MemoryWrite(scope="user", key="name", value="Ada L.")
        with pytest.raises(memory_store.MemoryChangedError) as caught:
            harness.memory.replace(seen, mine)
        assert caught.value.found == theirs
        assert harness.memory.get("user", "name") == theirs
        assert harness.memory.replace(theirs, mine).value == "Ada L."


def test_a_new_one_replaces_none_and_a_deleted_one_is_said_to_be(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        write = MemoryWrite(scope="user", key="name", value="Ada")
        new = harness.memory.replace(None, write)
        with pytest.raises(memory_store.MemoryChangedError, match="written user/name meanwhile"):
            harness.memory.replace(None, write)
        harness.memory.delete("user", "name")
        with pytest.raises(memory_store.MemoryChangedError, match="deleted user/name meanwhile"):
            harness.memory.replace(new, write)


def test_the_list_begins_with_the_newest_change_and_can_be_of_one_scope(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        for scope, key in (("user", "name"), ("hotel", "room"), ("user", "diet"), ("user", "name")):
            wall.now += 1
            put(harness, scope, key)
        assert names(harness) == ["user/name", "user/diet", "hotel/room"]
        assert names(harness, "user") == ["user/name", "user/diet"]
        assert names(harness, "nobody") == []
        assert harness.memory.scopes() == ["hotel", "user"]


def test_deleting_twice_is_fine_and_an_empty_scope_is_gone(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        put(harness)
        assert harness.memory.delete("user", "name")
        assert not harness.memory.delete("user", "name")
        assert harness.memory.scopes() == []


def test_an_unknown_memory_is_named_in_the_error(tmp_path: Path) -> None:
    with opened(tmp_path) as harness, pytest.raises(HarnessError, match="There is no memory user/name"):
        harness.memory.get("user", "name")


@pytest.mark.parametrize("name", ["", ".", "..", "../secret", "a/b", "ü", "x y", "a" * 81, "\x1b[31m", "-rf", "a..b"])
def test_a_name_that_is_no_file_name_reaches_no_file(tmp_path: Path, name: str) -> None:
    with opened(tmp_path / "root") as harness:
        for scope, key in ((name, "key"), ("scope", name)):
            for action in (harness.memory.get, harness.memory.delete, lambda one, other: put(harness, one, other)):
                with pytest.raises(HarnessError, match="cannot be used as a file name"):
                    action(scope, key)
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


@pytest.mark.parametrize(
    "value",
    ["x" * 100_000_000, ["x" * 1000] * 1000, {"x" * 1000 + str(n): n for n in range(1000)}, list(range(1_000_000))],
    ids=["text", "list", "names", "numbers"],
)
def test_a_memory_that_is_too_large_is_refused_in_a_sentence(tmp_path: Path, value: Any) -> None:
    with opened(tmp_path) as harness:
        put(harness)
        with pytest.raises(
            HarnessError, match=r"The memory user/name has more than 65,536 characters\. Remember where"
        ):
            put(harness, value=value)
        assert harness.memory.get("user", "name").value == "Ada"


def test_a_value_that_contains_itself_is_refused(tmp_path: Path) -> None:
    circle: list[Any] = []
    circle.append(circle)
    with opened(tmp_path) as harness, pytest.raises(HarnessError, match="more than"):
        put(harness, value=circle)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as harness, pytest.raises(HarnessError, match="cannot be written"):
        put(harness, value=object())


def test_a_full_scope_takes_changes_but_nothing_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_store, "MAX_IN_SCOPE", 2)
    with opened(tmp_path) as harness:
        put(harness, key="a")
        put(harness, key="b")
        with pytest.raises(HarnessError, match=r"The scope user has 2 memories, of at most 2\. Delete some"):
            put(harness, key="c")
        assert put(harness, key="a", value="new").value == "new"
        assert put(harness, scope="other").key == "name"


def test_a_root_has_a_limit_over_all_scopes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_store, "MAX_MEMORIES", 3)
    with opened(tmp_path) as harness:
        for scope in ("a", "b", "c"):
            put(harness, scope)
        with pytest.raises(HarnessError, match="There are 3 memories, of at most 3"):
            put(harness, "a", "other")


def test_the_number_of_scopes_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_store, "MAX_SCOPES", 1)
    with opened(tmp_path) as harness:
        put(harness, "a")
        with pytest.raises(HarnessError, match="There are 1 scopes of memory, of at most 1"):
            put(harness, "b")


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
def test_one_damaged_file_hides_no_other_and_can_be_overwritten(tmp_path: Path, damage: bytes) -> None:
    with opened(tmp_path) as harness:
        put(harness)
        put(harness, key="diet")
        harness.paths.memory_file("user", "name").write_bytes(damage)
        listing = harness.memory.find()
        assert [one.key for one in listing.records] == ["diet"]
        assert ["is damaged" in problem.reason for problem in listing.problems] == [True]
        assert put(harness, value="Grace").value == "Grace"


def test_the_memory_of_a_newer_program_is_neither_shown_nor_replaced(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        put(harness)
        path = harness.paths.memory_file("user", "name")
        path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))
        assert "Update gemini-live-tui" in harness.memory.find().problems[0].reason
        with pytest.raises(HarnessError, match="has version 2"):
            put(harness)
        assert json.loads(path.read_text())["version"] == 2


def test_a_record_of_the_original_is_read_and_not_trusted(tmp_path: Path) -> None:
    record = {
        "scope": "user",
        "key": "name",
        "createdAtMs": 1,
        "updatedAtMs": 2,
        "summary": None,
        "value": "Ada",
        "unknown": 1,
    }
    with opened(tmp_path) as harness:
        path = harness.paths.memory_file("user", "name")
        path.parent.mkdir()
        path.write_text(json.dumps(record))
        found = harness.memory.get("user", "name")
        assert (found.value, found.updated_at_ms, found.is_trusted) == ("Ada", 2, False)


@pytest.mark.parametrize(("author", "trusted"), [("operator", True), ("program", True), ("model", False)])
def test_only_what_no_model_wrote_is_trusted(tmp_path: Path, author: str, trusted: bool) -> None:
    with opened(tmp_path) as harness:
        put(harness, provenance=MemoryProvenance(author=MemoryAuthor(author)))
        assert harness.memory.get("user", "name").is_trusted is trusted


def test_a_file_that_was_copied_has_the_name_of_its_place(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        put(harness)
        path = harness.paths.memory_file("user", "name")
        path.with_name("nickname.json").write_bytes(path.read_bytes())
        assert harness.memory.get("user", "nickname").key == "nickname"
        assert sorted(names(harness)) == ["user/name", "user/nickname"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with opened(tmp_path / "root") as harness:
        put(harness)
        secret = outside / "name.json"
        secret.write_bytes(harness.paths.memory_file("user", "name").read_bytes())
        harness.paths.memory_scope("linked").symlink_to(outside)
        harness.paths.memory_file("user", "linked").symlink_to(secret)
        assert names(harness) == ["user/name"]
        assert [one.key for one in harness.memory.search("ada").records] == ["name"]
        for action in (harness.memory.get, harness.memory.delete, lambda one, other: put(harness, one, other)):
            with pytest.raises(HarnessError, match="is a symbolic link"):
                action("linked", "name")
        with pytest.raises(HarnessError):
            harness.memory.get("user", "linked")
        put(harness, key="linked", value="Grace")
        assert "Ada" in secret.read_text()


def test_long_summaries_and_sources_are_cut(tmp_path: Path) -> None:
    origin = MemoryProvenance(author=MemoryAuthor.MODEL, text="y" * 10_000)
    with opened(tmp_path) as harness:
        kept = put(harness, summary="x" * 10_000, provenance=origin)
        assert kept.provenance is not None
        assert (len(kept.summary or ""), len(kept.provenance.text or "")) == (500, 500)


def test_text_that_no_terminal_should_obey_stays_harmless_in_the_file(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        put(harness, value="\x1b[2J\u202e\ud800")
        raw = harness.paths.memory_file("user", "name").read_text()
        assert not [sign for sign in raw if not sign.isprintable() and sign != "\n"]


def test_files_and_folders_are_private(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        put(harness)
        harness.memory.search("ada")
        for path in (*harness.paths.memory.rglob("*"), harness.paths.memory_index):
            assert stat.S_IMODE(os.lstat(path).st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_what_dead_writers_left_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        put(harness)
        left = harness.paths.memory_scope("user") / ".name.json.1-abcd.part"
        left.write_text("half")
        harness.reconcile()
        assert not left.exists()
        assert names(harness) == ["user/name"]


def test_several_programs_write_at_once_and_none_loses_a_memory(tmp_path: Path) -> None:
    code = (
        "import sys; from gemini_live_runtime.harness.store import Harness\n"
        "from gemini_live_runtime.harness.memory import MemoryWrite\n"
        "with Harness.open(sys.argv[1]) as harness:\n"
        "    for number in range(20):\n"
        "        harness.memory.put(MemoryWrite(scope='s', key=f'{sys.argv[2]}{number}', value=f'word{number}'))\n"
        "        harness.memory.put(MemoryWrite(scope='s', key='shared', value=sys.argv[2]))\n"
        "        assert len(harness.memory.search(f'word{number}', limit=99).records) >= 1\n"
    )
    with opened(tmp_path) as harness:
        running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "abc"]
        assert [one.wait() for one in running] == [0, 0, 0]
        assert len(names(harness, "s")) == 61
        assert len(harness.memory.search("word7", limit=99).records) == 3


@pytest.mark.parametrize("wrong", [3, None, b"x", ["a"]])
def test_what_is_no_text_is_refused_by_name(tmp_path: Path, wrong: Any) -> None:
    with opened(tmp_path) as harness:
        for field, call in (
            ("scope", lambda: harness.memory.get(wrong, "k")),
            ("key", lambda: harness.memory.delete("user", wrong)),
            ("text", lambda: harness.memory.search(wrong)),
            ("limit", lambda: harness.memory.search("x", limit="3")),  # type: ignore[arg-type]
            ("scope", lambda: put(harness, wrong)),
            ("title", lambda: harness.notifications.queue(NewNotification(title=wrong))),
            ("body", lambda: harness.notifications.queue(NewNotification(title="t", body=wrong))),
            ("notification id", lambda: harness.notifications.acknowledge(wrong)),
        ):
            with pytest.raises(HarnessError, match=f"^{field} is a "):
                call()
