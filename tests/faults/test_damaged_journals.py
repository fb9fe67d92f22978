"""Damage a journal in 200 seeded ways.

Every event whose line is intact is read, and what is missing is reported.
"""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest
from tests.support.command_line import run
from tests.support.recordings import debt_call

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.export import export
from gemini_live_runtime.journal.files.lines import EVENTS_FILE
from gemini_live_runtime.journal.history.recorded_history import RecordedHistory
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.sessions.catalog import list_entries

HEADER_BYTES = 80


def damaged(data: bytes, seed: int) -> bytes:
    """Return `data` with one damage; every third is in the header."""
    rng = random.Random(seed)
    at = rng.randrange(len(data) if seed % 3 else HEADER_BYTES)
    size = rng.choice((1, 4, 40, 600))
    noise = rng.randbytes(size)
    match seed % 7:
        case 0:
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        case 1:
            return data[:at] + noise + data[at + size :]
        case 2:
            return data[:at] + bytes(size) + data[at + size :]
        case 3:
            return data[:at] + data[at + size :]
        case 4:
            return data[:at] + noise + data[at:]
        case 5:
            return data[: at + size] + data[at:]
        case _:
            return data[:at]


def intact(data: bytes, original: bytes) -> list[int]:
    """Return the numbers of the events whose lines are whole, each once and in order."""
    numbers = {line: number for number, line in enumerate(original.splitlines(keepends=True))}
    found: list[int] = []
    for line in data.splitlines(keepends=True):
        number = numbers.get(line, 0)
        if number > max(found, default=0):
            found.append(number)
    return found


@pytest.mark.parametrize("begin", range(0, 200, 50))
def test_whatever_is_damaged_all_intact_events_are_read_and_the_rest_is_reported(tmp_path: Path, begin: int) -> None:
    original = (debt_call().write(tmp_path / "original") / EVENTS_FILE).read_bytes()
    count = original.count(b"\n") - 1
    for seed in range(begin, begin + 50):
        data = damaged(original, seed)
        path = tmp_path / "damaged" / str(seed) / EVENTS_FILE
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        expected = intact(data, original)
        if not expected:
            with contextlib.suppress(JournalError):
                assert len(list(read_journal(path))) <= 1, seed
            continue
        journal = read_journal(path)
        events = list(journal)
        assert set(expected) <= {event.seq for event in events}, seed
        assert len(events) == count or journal.problems or journal.torn or data == original[: len(data)], seed
        history = RecordedHistory(path)
        while history.load():
            pass
        assert list(history.events(0, 10**9)) == events, seed
        assert history.view_at(events[-1].seq).seq == events[-1].seq
        history.close()
    problems = {entry.id: entry.problem for entry in list_entries(tmp_path / "damaged")}
    for seed in range(begin, begin + 50):
        path = tmp_path / "damaged" / str(seed) / EVENTS_FILE
        if intact(path.read_bytes(), original):
            assert problems[str(seed)] == "", seed


@pytest.mark.parametrize("first", [b"{broken", b"", b'{"format": "gemini-live-tui/evXnts", "version": 0}', None])
def test_a_journal_with_a_damaged_first_line_is_listed_replayed_and_exported(
    tmp_path: Path, first: bytes | None
) -> None:
    folder = debt_call().write(tmp_path)
    path = folder / EVENTS_FILE
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*([] if first is None else [first]), *lines[1:]]) + b"\n")
    (entry,) = list_entries(tmp_path)
    assert (entry.agent, entry.flags[0], entry.damage) == ("debt_collection", "damaged", "Its first line is damaged.")
    assert [event.seq for event in read_journal(folder)] == list(range(1, len(lines)))
    replayed = run("replay", "--plain", str(folder))
    assert "the operator hung up" in replayed.out
    assert "Line 1 is damaged" in replayed.err
    done = export(folder, ["markdown", "json"], tmp_path / "to")
    assert done.problems == 1


def test_one_damaged_number_does_not_hide_the_events_after_it(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    path = folder / EVENTS_FILE
    path.write_bytes(path.read_bytes().replace(b'{"seq":5,', b'{"seq":500000,'))
    journal = read_journal(folder)
    numbers = [event.seq for event in journal]
    assert numbers[:6] == [1, 2, 3, 4, 6, 7]
    assert "Line 6 has the number 500000, but event 6 follows" in journal.problems[0].text


def test_zeros_in_a_journal_are_not_taken_for_another_encoding(tmp_path: Path) -> None:
    folder = debt_call().write(tmp_path)
    path = folder / EVENTS_FILE
    first, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"\xef\xbb\xbf" + first + bytes(512) + b"".join(lines))
    journal = read_journal(folder)
    assert len(list(journal)) == len(lines) - 1
    assert journal.header["session_id"] == "s1"
    assert "Line 2 is not an event: A line is not a JSON event: Expecting value" in journal.problems[0].text
