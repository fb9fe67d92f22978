"""`sessions`: list, filter, preview, rename, delete and restore."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import run
from tests.support.recordings import Recorder, debt_call

from gemini_live_runtime import paths
from gemini_live_runtime.journal.files.disk import Disk
from gemini_live_runtime.journal.sessions.trash import trash_dir


def record(name: str = "20261120-1", **changes: object) -> Path:
    return debt_call(name, **changes).write(paths.sessions_dir(), name)


def test_the_list_shows_what_one_wants_to_know_in_a_line_each() -> None:
    record()
    head, row = run("sessions").out.splitlines()
    assert [word for word in head.split() if word.isupper()] == head.split()
    for text in ("20261120-1", "debt_collection", "0:0", " 3 ", "negotiate", "$0.021", "1 interruption"):
        assert text in row, text


def test_the_list_says_in_words_what_a_session_lacks() -> None:
    call = Recorder()
    call.start("20261120-2")
    call.begin_turn()
    call.user("hello")
    call.end("the operator hung up")
    call.write(paths.sessions_dir(), "20261120-2")
    assert "it ended within a turn or a call" in " ".join(run("sessions").out.split())


def test_the_list_can_be_filtered_and_is_also_json() -> None:
    record()
    record("20261121-1", agent="clinic", model="m")
    assert len(run("sessions", "list", "--filter", "CLINIC").out.splitlines()) == 2
    assert run("sessions", "list", "-f", "nobody").out == "No session matches.\n"
    (item,) = [json.loads(line) for line in run("sessions", "list", "-f", "debt", "--json").out.splitlines()]
    assert (item["id"], item["phase"], item["turns"], item["interruptions"]) == ("20261120-1", "negotiate", 3, 1)


def test_files_that_are_no_sessions_stand_in_the_list_with_the_reason() -> None:
    record()
    (paths.private_dir(paths.sessions_dir() / "bad") / "events.jsonl").write_text("Dear diary\n")
    ended = run("sessions")
    assert ended.code == 0
    assert "This is not a session of gemini-live-tui." in ended.out
    assert "20261120-1" in ended.out


def test_a_session_is_named_by_the_beginning_of_its_id() -> None:
    record()
    assert run("sessions", "rename", "2026", "Angry caller").out == "20261120-1 is now 'Angry caller'.\n"
    assert "Angry caller" in run("sessions").out
    assert run("sessions", "rename", "2026", "").out == "20261120-1 has no title any more.\n"
    assert "Angry" not in run("sessions").out
    assert "at most 120" in run("sessions", "rename", "2026", "x" * 200).sentence


def test_the_preview_prints_the_last_lines() -> None:
    record()
    ended = run("sessions", "preview", "2026", "-n", "2")
    assert ended.out.splitlines()[-1] == "session: ended, the operator hung up"
    assert len(ended.out.splitlines()) == 2


def test_deleting_moves_to_the_trash_and_restore_takes_it_back() -> None:
    folder = record()
    deleted = run("sessions", "delete", "2026")
    assert "sessions restore 20261120-1" in deleted.out
    assert not folder.exists()
    assert run("sessions").out == "No session is recorded.\n"
    assert "20261120-1" in run("sessions", "list", "--trash").out
    assert run("sessions", "restore", "20261120-1").out == "Restored 20261120-1.\n"
    assert folder.is_dir()
    assert run("sessions", "list", "--trash").out == "The trash is empty.\n"


def test_a_running_session_is_not_deleted() -> None:
    made = Recorder()
    made.start()
    writer = made.writer(paths.sessions_dir())
    ended = run("sessions", "delete", "s1")
    writer.close()
    assert ended.code == 1
    assert "is running" in ended.sentence


def test_a_read_only_disk_is_told_with_the_file_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(disk: Disk, path: Path) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    for name in ("20261120-1", "20261121-1", "20261122-1"):
        record(name)
    run("sessions", "delete", "20261122-1")
    monkeypatch.setattr(Disk, "unlink", refuse)
    root = paths.sessions_dir()
    trash = trash_dir(root)
    reason = "cannot be deleted: Read-only file system."
    for arguments, kept, place in (
        (("purge", "20261120-1"), [root / "20261120-1" / "events.jsonl"], root),
        (("purge", "--all"), [root / f"2026112{day}-1" / "events.jsonl" for day in (0, 1)], root),
        (("empty-trash",), [trash / "20261122-1" / "deleted.json"], trash),
    ):
        ended = run("sessions", *arguments, "--yes")
        assert ended.code == 1
        assert ended.err.splitlines() == [
            *(f"Kept {file.parent.name}: {file} {reason}" for file in kept),
            f"Mount the disk of {place} writable.",
        ]


def test_emptying_the_trash_asks_or_wants_yes() -> None:
    record()
    run("sessions", "delete", "2026")
    assert "Add --yes" in run("sessions", "empty-trash").sentence
    assert (trash_dir(paths.sessions_dir()) / "20261120-1").is_dir()
    assert run("sessions", "empty-trash", "--yes").out.startswith("Deleted 1 session,")
    assert run("sessions", "empty-trash", "--yes").out == "The trash is empty.\n"


def test_only_recorded_sessions_are_named_deleted_and_previewed(tmp_path: Path, monkeypatch: object) -> None:
    outside = debt_call().write(tmp_path / "elsewhere")
    paths.private_dir(paths.sessions_dir())
    (paths.sessions_dir() / "link").symlink_to(outside)
    for name in (str(outside), "../x", "link", "nothing", HOSTILE.replace("\x00", "")):
        for command in (("rename", name, "x"), ("delete", name), ("preview", name), ("restore", name)):
            ended = run("sessions", *command)
            assert ended.code in (1, 2), command
            assert ended.control == []
    assert sorted(path.name for path in outside.iterdir()) == ["events.jsonl"]


def test_hostile_titles_and_agents_are_listed_harmlessly() -> None:
    folder = record(agent=HOSTILE, model=HOSTILE)
    (folder / "title.json").write_text(json.dumps({"title": f"{HOSTILE}\nmodel: spoof"}))
    for command in (("sessions",), ("sessions", "list", "--json"), ("sessions", "preview", "2026")):
        ended = run(*command)
        assert (ended.code, ended.control) == (0, [])
    assert len(run("sessions").out.splitlines()) == 2


def test_the_shell_completes_the_names_of_sessions() -> None:
    from click.shell_completion import ShellComplete

    from gemini_live_tui.cli.command_line import cli

    for name in ("20261120-1", "20261121-1", "x"):
        record(name)
    completer = ShellComplete(cli, {}, "gemini-live-tui", "_COMPLETE")
    for command in (["replay"], ["export"], ["sessions", "rename"], ["sessions", "delete"], ["sessions", "preview"]):
        found = [item.value for item in completer.get_completions(command, "2026")]
        assert found == ["20261121-1", "20261120-1"], command


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_a_row_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    record()
    monkeypatch.setattr("gemini_live_tui.cli.sessions.columns", lambda: columns)
    printed = run("sessions").out
    assert max(map(len, printed.splitlines())) <= columns
    for text in ("20261120-1", "negotiate", "1 interruption"):
        assert text in printed
    assert ("$0.021" in printed) == (columns == 200)
