"""Show recordings from any folder, even damaged; purge only recorded sessions."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.command_line import run

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.vocabulary import header

STARTED = ev.SessionStarted(
    session_id="s1",
    agent="mine",
    model="m",
    backend="local",
    wall=1_700_000_000.0,
    record="text",
    mode="text",
    program="test",
)


def lines_of(*payloads: ev.Payload) -> list[str]:
    events = [ev.Event(number, number / 10, 1, 1, payload) for number, payload in enumerate(payloads, start=1)]
    return [json.dumps({**header(), "session_id": "s1"}), *(event.to_line() for event in events)]


def record(name: str = "s1", *payloads: ev.Payload, wall: float | None = None) -> Path:
    started = STARTED if wall is None else replace(STARTED, wall=wall)
    folder = paths.private_dir(paths.sessions_dir() / name)
    (folder / "events.jsonl").write_text("\n".join(lines_of(started, *payloads, ev.SessionEnded(reason="done"))) + "\n")
    (folder / "user.wav").write_bytes(b"RIFF")
    return folder


BAD_FILES = {
    "an empty file": (b"", "is empty"),
    "somebody else's file": (b'{"hello": 1}\n', "not a gemini-live-tui session"),
    "text": (b"Dear diary,\n", "not a gemini-live-tui session"),
    "noise": (os.urandom(2000) + b"\n", "not a gemini-live-tui session"),
    "a header only half written": (b'{"format": "gemini-live-tui/ev', "not a gemini-live-tui session"),
    "a header without a version": (b'{"format": "gemini-live-tui/events"}\n', "no usable version"),
    "deeply nested JSON": (b"[" * 100_000 + b"\n", "not a gemini-live-tui session"),
}


@pytest.mark.parametrize("form", ["--plain", "--json"])
def test_a_recording_without_its_end_says_that_it_is_broken_off(form: str) -> None:
    file = record() / "events.jsonl"
    assert "broken off" not in run("replay", str(file), form).err
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    assert "broken off" in run("replay", str(file), form).err


@pytest.mark.parametrize("form", ["--plain", "--json"])
def test_a_recording_that_is_cut_off_after_the_sessions_end_says_that_and_no_more(form: str) -> None:
    file = record() / "events.jsonl"
    notice = ev.Event(3, 0.3, 1, 1, ev.Notice(level="error", code="audio-recording-stopped", text="Full.")).to_line()
    with file.open("a") as more:
        more.write(f"{notice}\n")
    assert run("replay", str(file), form).err == ""
    with file.open("a") as more:
        more.write(notice[:40])
    assert run("replay", str(file), form).sentence == "the last line is incomplete: the recording was cut off there."


@pytest.mark.parametrize("form", ["--plain", "--json"])
@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_is_no_session_is_refused_in_a_sentence(case: str, form: str, tmp_path: Path) -> None:
    content, words = BAD_FILES[case]
    path = tmp_path / "events.jsonl"
    path.write_bytes(content)
    ended = run("replay", str(path), form)
    assert (ended.code, ended.out) == (1, "")
    assert words in ended.sentence
    assert str(path) in ended.sentence


def test_a_newer_format_is_refused_by_its_version(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps({**header(), "version": ev.VERSION + 1}) + "\n")
    ended = run("replay", str(path), "--plain")
    assert ended.code == 1
    assert f"version {ev.VERSION + 1}" in ended.sentence
    assert "Update gemini-live-tui" in ended.sentence


def test_a_file_that_was_cut_off_or_damaged_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    lines = lines_of(STARTED, ev.TextSent(text="hello", command_id="c1"))
    damaged = [*lines, "{", '{"seq": "x"}', lines[-1], ""]
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(damaged) + '{"seq": 9, "t": 1')
    ended = run("replay", str(path), "--plain")
    assert ended.code == 0
    assert "user: hello" in ended.out
    assert "Line 4 is not an event" in ended.err
    assert "Line 6 repeats event 2" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.skipif(os.name != "posix", reason="named pipes and devices are POSIX")
def test_neither_pipes_nor_devices_nor_folders_are_read_as_sessions(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        ended = run("replay", str(path), "--plain")
        assert ended.code == 1
        assert str(path) in ended.sentence


def test_a_session_is_found_by_the_beginning_of_its_name_but_never_outside_its_folder() -> None:
    record("20260101-120000-aaaa")
    record("20260102-120000-bbbb")
    assert "session: s1" in run("replay", "20260102", "--plain").out
    ended = run("replay", "2026", "--plain")
    assert ended.code == 2
    assert "2 sessions begin with '2026'" in ended.sentence
    assert run("replay", "", "--plain").code != 0
    assert run("replay", "../sessions/2026", "--plain").code == 2


# -- purge -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../x", "..", ".", "/etc", "a/b", "a\\b", "", ".hidden", "x" * 81, "a\x1b[31mb"])
def test_a_name_that_could_lead_elsewhere_purges_nothing(name: str) -> None:
    folder = record()
    ended = run("sessions", "purge", "--yes", "--", name)
    assert ended.code != 0
    assert ended.err.count("\n") == 1
    assert ended.control == []
    assert folder.is_dir()


def test_links_among_the_sessions_are_neither_listed_nor_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "events.jsonl").write_text("\n".join(lines_of(STARTED)) + "\n")
    mine = record("20260101-120000-aaaa")
    (mine / "model.wav").symlink_to(outside / "events.jsonl")
    (paths.sessions_dir() / "link").symlink_to(outside)
    assert "link" not in run("sessions", "list").out
    ended = run("sessions", "purge", "--all", "--yes")
    assert ended.code == 0
    assert "Deleted 1 session," in ended.out
    assert not mine.exists()
    assert (outside / "events.jsonl").exists()
    assert (paths.sessions_dir() / "link").is_symlink()
    assert run("sessions", "purge", "link", "--yes").code == 1
    assert (outside / "events.jsonl").exists()


def test_a_sessions_folder_that_holds_a_folder_is_kept_with_the_reason() -> None:
    folder = record()
    (folder / "precious").mkdir()
    (folder / "precious" / "file").write_text("mine")
    ended = run("sessions", "purge", "s1", "--yes")
    assert ended.code == 1
    assert "Kept s1" in ended.err
    assert (folder / "precious" / "file").read_text() == "mine"


def test_only_sessions_older_than_the_age_go() -> None:
    old, new = record("old", wall=time.time() - 40 * 86400), record("new", wall=time.time() - 86400)
    assert run("sessions", "purge", "--older-than", "30d", "--yes").code == 0
    assert (old.exists(), new.exists()) == (False, True)


def test_purging_what_is_not_there_fails_and_says_so() -> None:
    ended = run("sessions", "purge", "nope", "--yes")
    assert ended.code == 1
    assert "Kept nope: there is no such session." in ended.err


def test_the_list_is_also_json() -> None:
    record()
    (item,) = [json.loads(line) for line in run("sessions", "list", "--json").out.splitlines()]
    assert (item["id"], item["ended"], item["agent"]) == ("s1", "done", "mine")
