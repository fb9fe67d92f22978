"""A fault in the journal's thread does not end the recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.files.disk import Disk
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.restarts import MAX_RESTARTS


class StumblingDisk(Disk):
    """Disk whose writes raise as often as `faults` says."""

    faults = 0

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write, or raise what no disk raises."""
        if self.faults:
            self.faults -= 1
            raise RuntimeError("a mistake")
        return super().write(fd, data)


def journal_on(disk: Disk, folder: Path, reports: list[ev.Payload]) -> JournalWriter:
    return JournalWriter(folder, "s1", audio=False, report=reports.append, disk=disk)


def append(journal: JournalWriter, seq: int) -> None:
    journal.append(ev.Event(seq, seq / 10, 1, 1, ev.TranscriptDelta(side="model", text="hello")).to_line())
    journal.flush()


def codes(reports: list[ev.Payload]) -> list[str]:
    return [report.code for report in reports if isinstance(report, ev.Notice)]


def test_the_thread_goes_on_after_a_fault_and_loses_nothing_that_the_file_had(tmp_path: Path) -> None:
    disk, reports = StumblingDisk(), list[ev.Payload]()
    journal = journal_on(disk, tmp_path, reports)
    append(journal, 1)
    disk.faults = 1
    append(journal, 2)
    append(journal, 3)
    journal.close()
    assert journal.missing_events == 0
    assert [event.seq for event in read_journal(tmp_path / "s1")] == [1, 2, 3]
    assert codes(reports) == ["journal-fault"]


def test_what_is_lost_before_the_file_has_it_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = list[ev.Payload]()
    journal = journal_on(Disk(), tmp_path, reports)
    monkeypatch.setattr(journal, "_write_values", None)
    append(journal, 1)
    monkeypatch.undo()
    append(journal, 2)
    journal.close()
    assert journal.missing_events == 1
    assert [event.seq for event in read_journal(tmp_path / "s1")] == [2]


def test_a_thread_that_fails_again_and_again_stops_and_says_so(tmp_path: Path) -> None:
    disk, reports = StumblingDisk(), list[ev.Payload]()
    journal = journal_on(disk, tmp_path, reports)
    disk.faults = MAX_RESTARTS + 1
    for seq in range(1, MAX_RESTARTS + 4):
        append(journal, seq)
    assert journal.missing_events == MAX_RESTARTS + 3
    assert codes(reports) == ["journal-fault", "journal-stopped"]
    told: list[bool] = []
    journal.call_when_written(told.append)
    assert told == [False]
    journal.close()
