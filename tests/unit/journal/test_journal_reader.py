"""Read journals that a writer, a disk or another program has left damaged."""

from __future__ import annotations

import errno
import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AudioFileError, JournalError, NewerFormatError
from gemini_live_runtime.journal.files.tracks import read_track, wav_header
from gemini_live_runtime.journal.recording import reader as reader_module
from gemini_live_runtime.journal.recording.reader import read_journal

HEADER = json.dumps({"format": ev.FORMAT, "version": ev.VERSION, "session_id": "s1"})


def event(seq: int) -> ev.Event:
    return ev.Event(seq, seq / 10, 0, 0, ev.Log(source="engine", level="info", text=f"line {seq}"))


def file(path: Path, *lines: str, end: str = "\n") -> Path:
    path.write_text("\n".join(lines) + end)
    return path


def test_a_malformed_line_is_named_and_skipped(tmp_path):
    path = file(tmp_path / "x.jsonl", HEADER, event(1).to_line(), "{broken", '{"seq": 3}', event(2).to_line())
    journal = read_journal(path)
    assert [item.seq for item in journal] == [1, 2]
    assert [problem.line for problem in journal.problems] == [3, 4]
    assert "Line 3 is not an event" in journal.problems[0].text
    assert journal.problem_count == 2


@pytest.mark.parametrize("good_reads", [0, 1, 2])
def test_a_disk_that_fails_while_a_session_is_read_is_named(tmp_path, monkeypatch, good_reads):
    path = file(tmp_path / "x.jsonl", HEADER, *(event(seq).to_line() for seq in range(1, 4)))
    left = iter(range(good_reads))

    class Failing(io.BytesIO):
        def readline(self, size=-1):
            if next(left, None) is None:
                raise OSError(errno.EIO, "Input/output error")
            return super().readline(size)

    monkeypatch.setattr(reader_module.paths, "open_regular", lambda path: Failing(path.read_bytes()))
    with pytest.raises(JournalError, match=r"x\.jsonl cannot be read: Input/output error"):
        list(read_journal(path))


def test_a_torn_last_line_is_noted_and_not_an_error(tmp_path):
    path = file(tmp_path / "x.jsonl", HEADER, event(1).to_line(), event(2).to_line()[:-5], end="")
    journal = read_journal(path)
    assert [item.seq for item in journal] == [1]
    assert (journal.torn, journal.problems) == (True, [])


@given(cut=st.integers(0, 400))
def test_a_journal_cut_anywhere_gives_the_events_before_the_cut(tmp_path_factory, cut):
    data = "\n".join([HEADER, *(event(seq).to_line() for seq in range(1, 4))]).encode() + b"\n"
    path = tmp_path_factory.mktemp("cut") / "x.jsonl"
    path.write_bytes(data[:cut])
    whole = data[:cut].count(b"\n")
    if whole == 0:
        with pytest.raises(JournalError):
            read_journal(path)
    else:
        assert [item.seq for item in read_journal(path)] == list(range(1, whole))


def test_missing_and_repeated_events_are_reported(tmp_path):
    path = file(tmp_path / "x.jsonl", HEADER, *(event(seq).to_line() for seq in (1, 2, 2, 5, 7)))
    journal = read_journal(path)
    assert [item.seq for item in journal] == [1, 2, 5, 7]
    assert [problem.text for problem in journal.problems] == [
        "Line 4 repeats event 2, which was skipped.",
        "Line 5 comes after events 3 to 4 went missing.",
        "Line 6 comes after event 6 went missing.",
    ]


def test_an_unknown_event_is_kept_whole(tmp_path):
    line = '{"seq":1,"t":0.0,"turn":0,"gen":0,"type":"later.thing","data":{"x":[1]}}'
    (item,) = read_journal(file(tmp_path / "x.jsonl", HEADER, line))
    assert item.payload == ev.Unknown(name="later.thing", data={"x": [1]})
    assert item.to_line() == line


def test_a_newer_format_is_refused_by_name(tmp_path):
    path = file(tmp_path / "x.jsonl", json.dumps({"format": ev.FORMAT, "version": 7}))
    with pytest.raises(NewerFormatError, match="version 7"):
        read_journal(path)


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"RIFFxxxxWAVEfmt ", b"[]\n", b'{"format": "else"}\n', b"[" * 9999]
)
def test_a_foreign_file_is_refused_with_a_sentence(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(JournalError, match=r"is not a gemini-live-tui session|is empty"):
        read_journal(path)


def test_what_is_not_a_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null"), tmp_path / "nothing", tmp_path):
        with pytest.raises(JournalError):
            read_journal(path)


def test_a_line_above_the_limit_is_reported_and_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(reader_module, "MAX_LINE_BYTES", 1000)
    path = file(tmp_path / "x.jsonl", HEADER, event(1).to_line(), "x" * 5000, event(2).to_line())
    journal = read_journal(path)
    assert [item.seq for item in journal] == [1, 2]
    assert "longer than" in journal.problems[0].text


def test_problems_kept_are_bounded_and_counted(tmp_path):
    journal = read_journal(file(tmp_path / "x.jsonl", HEADER, *["x"] * 500))
    assert list(journal) == []
    assert (len(journal.problems), journal.problem_count) == (100, 500)


def test_a_journal_can_be_read_again(tmp_path):
    journal = read_journal(file(tmp_path / "x.jsonl", HEADER, event(1).to_line(), "x"))
    assert list(journal) == list(journal) == [event(1)]
    assert journal.problem_count == 1


@given(data=st.binary(max_size=50), stated=st.integers(0, 100))
def test_a_track_with_a_stale_header_gives_every_whole_sample(tmp_path_factory, data, stated):
    path = tmp_path_factory.mktemp("track") / "user.wav"
    path.write_bytes(wav_header(16_000, stated) + data)
    assert read_track(path).pcm == data[: len(data) // 2 * 2]


def test_what_is_no_track_is_refused(tmp_path):
    (tmp_path / "x.wav").write_bytes(b"RIFF")
    for path in (tmp_path / "x.wav", tmp_path / "nothing", tmp_path):
        with pytest.raises(AudioFileError):
            read_track(path)
