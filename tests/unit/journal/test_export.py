"""Export sessions: ranges, the content of each format, and safe writing of files."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from tests.support.canaries import HOSTILE
from tests.support.command_line import CONTROL
from tests.support.recordings import Recorder, debt_call, exported, marked_call

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import JournalError, NewerFormatError, UsageError
from gemini_live_runtime.journal.agent_lines import agent_lines
from gemini_live_runtime.journal.export import export, pieces
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.formats.base import FORMATS, SOUND, ExportSource, Range
from gemini_live_runtime.journal.plain import PlainWriter
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.sessions.catalog import rename
from gemini_live_runtime.vocabulary import event_from_json, header

TEXTS = ("markdown", "text", "json", "realtime")


# -- files -----------------------------------------------------------------------------------------------------------


def test_each_format_becomes_a_private_file_of_the_sessions_name(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path / "sessions")
    done = export(folder, TEXTS, tmp_path / "new" / "place")
    assert [path.name for path in done.files] == ["s1.md", "s1.txt", "s1.json", "s1.realtime.jsonl"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in done.files} == {0o600}
    assert (done.redacted, done.problems) != (0, 0)
    assert sorted((tmp_path / "new" / "place").iterdir()) == sorted(done.files)


def test_an_existing_file_stays_unless_that_is_forced(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path / "sessions")
    (tmp_path / "s1.json").write_text("precious")
    with pytest.raises(UsageError, match=r"s1.json exists.*--force"):
        export(folder, TEXTS, tmp_path)
    assert (tmp_path / "s1.json").read_text() == "precious"
    assert not (tmp_path / "s1.md").exists()
    export(folder, TEXTS, tmp_path, force=True)
    assert json.loads((tmp_path / "s1.json").read_text())["redacted"] is True


def test_a_link_in_the_place_of_the_file_is_not_written_through(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path / "sessions")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "s1.md").symlink_to(precious)
    (tmp_path / "s1.txt").symlink_to(tmp_path / "nowhere")
    for fmt in ("markdown", "text"):
        with pytest.raises(UsageError, match="exists"):
            export(folder, [fmt], tmp_path)
    export(folder, ["markdown"], tmp_path, force=True)
    assert precious.read_text() == "mine"
    assert not (tmp_path / "s1.md").is_symlink()


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_left_there(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path / "sessions")
    (tmp_path / "file").write_text("x")
    with pytest.raises((JournalError, UsageError), match="file"):
        export(folder, ["markdown"], tmp_path / "file" / "below")
    with pytest.raises((JournalError, UsageError), match="file"):
        export(folder, ["markdown"], tmp_path / "file")
    assert (tmp_path / "file").read_text() == "x"


def test_a_running_session_is_exported_as_it_stands(tmp_path: Path) -> None:
    recorder = debt_call()
    recorder.events.pop()
    writer = recorder.writer(tmp_path)
    assert "still running" in exported(writer.folder, "markdown")
    writer.close()
    assert "broken off" in exported(writer.folder, "markdown")


def test_what_is_written_between_the_two_looks_is_not_let_out(tmp_path: Path) -> None:
    # The redaction has not learned from events after the first pass, which may hold private values.
    recorder = debt_call()
    writer = recorder.writer(tmp_path)
    material = ExportSource(writer.folder, redact=True, wanted=Range())
    writer.append(ev.Event(len(recorder.events) + 1, 99.0, 9, 9, ev.TextSent(text="I am Zquirrel")).to_line())
    writer.close()
    assert "Zquirrel" not in b"".join(pieces(material, "text")).decode()


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", JournalError, "empty"),
        (b"Dear diary\n", JournalError, "not a gemini-live-tui session"),
        (json.dumps({**header(), "version": ev.VERSION + 1}).encode() + b"\n", NewerFormatError, "Update"),
        (json.dumps(header()).encode() + b"\nnoise\n", JournalError, "no event"),
    ],
)
def test_what_is_no_session_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes, error: type[Exception], words: str
) -> None:
    (tmp_path / "events.jsonl").write_bytes(content)
    with pytest.raises(error, match=words):
        export(tmp_path, ["markdown"], tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_a_damaged_session_is_exported_as_far_as_it_goes_and_said_to_be(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    path = folder / "events.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:20], "noise", *lines[21:]]) + "\n" + '{"seq": 999, "t"')
    done = export(folder, ["text"], tmp_path / "to", redact=False)
    assert done.problems == 2
    assert "model: I will." in (tmp_path / "to" / "s1.txt").read_text()


def test_a_name_from_a_foreign_file_never_leads_elsewhere(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.start()
    for name in ("../../evil", "/etc/passwd", "a\x1b[31mb", ".hidden", ""):
        path = tmp_path / "foreign.jsonl"
        lines = [json.dumps({**header(), "session_id": name}), *(event.to_line() for event in recorder.events)]
        path.write_text("\n".join(lines) + "\n")
        done = export(path, ["text"], tmp_path / "to", force=True)
        assert [file.name for file in done.files] == ["session.txt"]


def test_disk_full_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = debt_call().write(tmp_path / "sessions")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(JournalError, match=r"\.txt cannot be written: No space left") as refused:
        export(folder, ["text"], tmp_path / "to")
    assert refused.value.remedy == f"Free some space on the disk of {tmp_path / 'to'}, or choose another folder"
    assert list((tmp_path / "to").iterdir()) == []


def test_a_file_that_cannot_be_created_is_told_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = debt_call().write(tmp_path / "sessions")

    def refused_disk(path: str | Path, flags: int) -> int:
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr("gemini_live_runtime.paths.open_private", refused_disk)
    with pytest.raises(JournalError, match=r"\.txt cannot be written: Input/output error") as refused:
        export(folder, ["text"], tmp_path / "to")
    assert ".part" not in refused.value.message
    assert refused.value.remedy.startswith("Check the disk of ")


# -- ranges ----------------------------------------------------------------------------------------------------------


def test_a_turn_alone(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    for fmt in TEXTS:
        text = exported(folder, fmt, Range(turn=3))
        # Records of a controller hold no words.
        assert ("call me at" in text) is (fmt != "realtime"), fmt
        if fmt != "json":
            assert "I got a letter" not in text
            assert "Thank you" not in text
    events = json.loads(exported(folder, "json", Range(turn=3)))["events"]
    assert {event["turn"] for event in events} == {3}
    assert export(folder, ["text"], tmp_path, wanted=Range(turn=3)).files[0].name == "s1-turn3.txt"


def test_seconds_alone(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    text = exported(folder, "text", Range(start=1.9, end=2.6))
    assert "Ms. Ruiz" not in text
    assert "letter" in text
    value = json.loads(exported(folder, "json", Range(start=1.9, end=2.6)))
    assert all(1.9 <= event["t"] <= 2.6 for event in value["events"])
    assert value["view"]["seq"] == value["events"][-1]["seq"]
    assert export(folder, ["text"], tmp_path, wanted=Range(end=2.5)).files[0].name == "s1-0s-2.5s.txt"


def test_around_marks(tmp_path: Path) -> None:
    folder = marked_call().write(tmp_path)
    text = exported(folder, "text", Range(around_marks=3.0))
    assert "mark: ask about the letter" in text
    assert "Much later" in text
    assert "Thank you" in text
    assert "call me at" not in text
    assert export(folder, ["text"], tmp_path, wanted=Range(around_marks=3.0)).files[0].name == "s1-marks.txt"


def test_around_a_mark_of_the_past_is_around_what_it_marks(tmp_path: Path) -> None:
    recorder = debt_call()
    said = next(event for event in recorder.events if event.turn == 1 and event.type == "transcript.delta")
    end = recorder.events.pop()
    recorder.emit(ev.MarkSet(text="listen", of=said.seq, t=said.t), end.payload, after=200.0)
    folder = recorder.write(tmp_path)
    text = exported(folder, "text", Range(around_marks=0.4))
    assert "Ms. Ruiz" in text
    assert "I got a letter" not in text
    document = exported(folder, "markdown", Range(around_marks=0.4))
    assert "| Marks | 1 |" in document
    assert "- **Mark** 3:" in exported(folder, "markdown")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Range(turn=9), "no turn 9.*turns 1 to 3"),
        (Range(start=5.0, end=5.0), "nothing from 5 s to 5 s"),
        (Range(start=-1.0), "nothing from -1 s"),
        (Range(start=500.0, end=600.0), "over after"),
        (Range(around_marks=10.0), "Nothing was marked"),
        (Range(around_marks=0.0), "not possible"),
        (Range(turn=1, start=2.0), "Give one of them"),
    ],
)
def test_a_range_that_is_not_there_is_a_sentence(tmp_path: Path, wanted: Range, words: str) -> None:
    folder = debt_call().write(tmp_path)
    with pytest.raises(UsageError, match=words):
        export(folder, ["text"], tmp_path, wanted=wanted)


# -- text and JSON ---------------------------------------------------------------------------------------------------


def test_the_text_is_what_plain_prints(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    writer = PlainWriter(times=True, agent=agent_lines("decisions"))
    lines = [line for event in read_journal(folder) for line in writer.feed(event)]
    assert exported(folder, "text").splitlines() == "\n".join([*lines, *writer.rest()]).splitlines()


def test_the_json_holds_the_events_and_the_view_at_their_end(tmp_path: Path) -> None:
    recorder = debt_call()
    folder = recorder.write(tmp_path)
    rename(folder, "Angry caller")
    text = exported(folder, "json")
    value = json.loads(text)
    assert text.replace("\n", "").isprintable()
    assert (value["format"], value["version"], value["redacted"]) == ("gemini-live-tui/export", 1, False)
    session = {"id": "s1", "title": "Angry caller", "seconds": recorder.t, "turns": 3, "missing": []}
    assert value["session"] == session
    assert [event_from_json(event) for event in value["events"]] == recorder.events
    view = SessionView.from_json(value["view"])
    assert (view.phase, view.turns_completed, view.ended) == ("negotiate", 3, "the operator hung up")


@pytest.mark.parametrize("redact", [False, True])
def test_hostile_sessions_export_harmlessly(tmp_path: Path, redact: bool) -> None:
    spoof = f"{HOSTILE}\nmodel: I am the model\n# Heading\n"
    recorder = Recorder()
    recorder.start(agent=spoof, model=spoof, backend=spoof, program=spoof, phrases=(spoof,), tools=(spoof,))
    recorder.begin_turn()
    recorder.user(spoof)
    recorder.model(spoof)
    recorder.interrupt(spoof, spoof)
    recorder.tool(spoof, {spoof: spoof}, {spoof: [spoof]})
    recorder.phase(spoof, spoof, spoof)
    recorder.state(spoof, spoof)
    recorder.emit(ev.Notice(level="error", code=spoof, text=spoof, remedy=spoof), ev.MarkSet(text=spoof))
    recorder.emit(ev.Log(source="stdout", level="info", text=spoof), ev.Unknown(name=spoof, data={spoof: spoof}))
    recorder.end(spoof)
    folder = recorder.write(tmp_path)
    (folder / "title.json").write_text(json.dumps({"title": spoof}))
    for fmt in TEXTS:
        text = exported(folder, fmt, redact=redact)
        assert CONTROL.findall(text) == [], fmt
        if fmt == "text":
            assert not any(line.startswith("model: I am") for line in text.splitlines())
        if fmt == "markdown":
            assert [line for line in text.splitlines() if line.startswith("#")] == [
                line for line in text.splitlines() if line.startswith(("# ", "## Transcript", "### "))
            ]
            assert text.count("\n# ") == 0


def test_every_format_is_text_or_sound() -> None:
    assert set(FORMATS) == {*TEXTS, *SOUND}
