"""List sessions: correct for any file, cached, with titles beside the recording."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.canaries import HOSTILE
from tests.support.command_line import CONTROL
from tests.support.recordings import WALL, Recorder, debt_call

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.errors import GeminiLiveError, JournalError, UsageError
from gemini_live_runtime.journal.export import export
from gemini_live_runtime.journal.files import lines as lines_module
from gemini_live_runtime.journal.recording.reader import completion_of, read_journal
from gemini_live_runtime.journal.sessions import catalog, session_summary
from gemini_live_runtime.journal.sessions.catalog import CACHE_FILE, Entry, list_entries, matches, preview, rename
from gemini_live_runtime.journal.sessions.session_summary import summarise
from gemini_live_runtime.vocabulary import header


def entry_of(folder: Path) -> Entry:
    return next(entry for entry in list_entries(folder.parent) if entry.id == folder.name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return paths.private_dir(tmp_path / "sessions")


def _age(folder: Path, seconds: float = 100.0) -> None:
    """As if its events had been written a while ago."""
    info = (folder / "events.jsonl").stat()
    os.utime(folder / "events.jsonl", (info.st_atime - seconds, info.st_mtime - seconds))


def test_an_entry_says_what_one_wants_to_know(root: Path) -> None:
    debt_call().write(root)
    (entry,) = list_entries(root)
    assert (entry.when, entry.agent, entry.model, entry.backend) == (
        WALL,
        "debt_collection",
        "local-debt_collection",
        "local",
    )
    assert (entry.turns, entry.phase, entry.cost_usd, entry.interruptions) == (3, "negotiate", 0.0214, 1)
    assert (entry.ended, entry.exit_code, entry.errors) == ("the operator hung up", 0, 0)
    assert entry.duration_s == pytest.approx(debt_call().t)
    assert entry.flags == ("1 interruption",)
    assert entry.total_bytes == (root / "s1" / "events.jsonl").stat().st_size


def test_errors_of_every_kind_are_counted(root: Path) -> None:
    made = Recorder()
    made.start()
    made.tool("weather", {}, {"error": "no"}, status="error")
    made.tool("weather", {}, {"error": "late"}, status="timeout")
    made.tool("weather", {}, {}, status="cancelled")
    made.emit(ev.Notice(level="error", code="x", text="Bad."), ev.Notice(level="warning", code="x", text="Hm."))
    made.emit(ev.CodeFailed(where="tool", name="f", error="boom"))
    made.emit(ev.ConnectionClosed(close_code=1006), ev.ConnectionClosed(close_code=1000, requested=True))
    entry = entry_of(made.write(root))
    assert entry.errors == 5
    assert entry.ended == "broken off"
    assert entry.flags == ("broken off", "errors")


def test_a_line_that_is_cut_off_after_the_end_is_an_event_that_the_recording_lacks(root: Path) -> None:
    folder = debt_call().write(root)
    with (folder / "events.jsonl").open("a") as file:
        file.write('{"seq":99,"t":9.0,"turn":3,"gen":3,"type":"notice","data":{"level":"err')
    assert entry_of(folder).missing == completion_of(read_journal(folder)).parts[-1] == "journal"


def test_a_running_session_says_so(root: Path) -> None:
    made = Recorder()
    made.start()
    writer = made.writer(root)
    assert list_entries(root)[0].flags == ("running",)
    writer.close()
    assert list_entries(root)[0].flags == ("broken off",)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b'{"format": "else"}\n', "not a session"),
        (b"\x00\xff" * 500, "not a session"),
        (b"[" * 100_000 + b"\n", "not a session"),
        (json.dumps({**header(), "version": ev.VERSION + 1}).encode() + b"\n", "newer format"),
        (json.dumps({**header(), "version": "x"}).encode() + b"\n", "damaged"),
        (json.dumps(header()).encode() + b"\n", "no event"),
        (json.dumps(header()).encode() + b"\nnoise\n{}\n[1]\n", "no event"),
    ],
)
def test_what_cannot_be_read_is_listed_as_such_among_the_others(root: Path, content: bytes, words: str) -> None:
    debt_call("good").write(root, "good")
    (paths.private_dir(root / "bad") / "events.jsonl").write_bytes(content)
    bad = next(entry for entry in list_entries(root) if entry.id == "bad")
    assert words in bad.problem
    assert bad.flags == ("unreadable",)
    assert len(list_entries(root)) == 2


def test_a_torn_end_and_damaged_lines_lose_nothing_else(root: Path) -> None:
    folder = debt_call().write(root)
    path = folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines.insert(5, b'{"seq": "x", "type": 3}\n\n\xff\xfe\n')
    path.write_bytes(b"".join(lines)[:-40])
    entry = entry_of(folder)
    assert (entry.problem, entry.turns, entry.phase, entry.ended) == ("", 3, "negotiate", "broken off")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: lines, ""),
        (lambda lines: lines[:1] + lines[1::2], "{half} of {odd} events are missing."),
        (lambda lines: lines[:5] + lines[6:], "1 of {all} events is missing."),
        (lambda lines: [b"?\n", *lines[1:5], *lines[6:]], "Its first line is damaged. 1 of {all} events is missing."),
        (lambda lines: lines[1:5] + lines[6:], "Its first line is damaged. 1 of {all} events is missing."),
        (
            lambda lines: [*lines[:5], lines[5].replace(b":5,", b":912,", 1), *lines[6:]],
            "1 of {all} events is missing.",
        ),
        (lambda lines: lines[:6] + lines[5:], ""),
        (lambda lines: [*lines, b"noise\n", bytes(3000), b"\n"], "2 lines cannot be read."),
    ],
)
def test_the_list_says_how_many_events_are_missing(
    root: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[list[bytes]], list[bytes]], sentence: str
) -> None:
    monkeypatch.setattr(session_summary, "_LINE_BYTES", 2000)
    folder = debt_call().write(root)
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    events = len(lines) - 1 - (len(lines) - 1) % 2
    lines = lines[: events + 1]
    (folder / "events.jsonl").write_bytes(b"".join(change(lines)))
    entry = entry_of(folder)
    assert (entry.problem, entry.damage) == ("", sentence.format(half=events // 2 - 1, odd=events - 1, all=events))


def test_a_file_that_is_gigabytes_of_nothing_is_not_read_to_its_end(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "MAX_SKIPPED_BYTES", 1 << 20)
    monkeypatch.setattr(session_summary, "_LINE_BYTES", 10_000)
    for name in ("empty", "half"):
        folder = debt_call(name).write(root, name)
        if name == "empty":
            (folder / "events.jsonl").write_bytes(b"")
        # Reading 1 TiB takes hours.
        os.truncate(folder / "events.jsonl", 1 << 40)
    empty, half = entry_of(root / "empty"), entry_of(root / "half")
    assert (half.damage, empty.problem) == ("1 line cannot be read.", "This is not a session of gemini-live-tui.")
    journal = read_journal(root / "half")
    assert len(list(journal)) == len(debt_call().events)
    assert journal.problems[0].text.endswith("is longer than 256 MiB: nothing after it was read.")
    with pytest.raises(JournalError, match="not a gemini-live-tui session"):
        read_journal(root / "empty")


def test_lines_in_another_order_of_fields_are_read_too(root: Path) -> None:
    folder = debt_call().write(root)
    path = folder / "events.jsonl"
    lines = [json.dumps(dict(reversed(json.loads(line).items()))) for line in path.read_text().splitlines()]
    before = entry_of(folder)
    path.write_text("\n".join(lines) + "\n")
    after = entry_of(folder)
    assert (after.turns, after.phase, after.cost_usd, after.ended) == (
        before.turns,
        before.phase,
        before.cost_usd,
        before.ended,
    )


def test_of_a_file_beyond_the_limit_beginning_and_end_count(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = debt_call()
    made.events.pop()
    for _ in range(2000):
        made.emit(ev.Log(source="stdout", level="info", text="x" * 100))
    made.emit(ev.Notice(level="error", code="x", text="y"))
    for _ in range(2000):
        made.emit(ev.Log(source="stdout", level="info", text="x" * 100))
    made.end("all done")
    folder = made.write(root)
    assert summarise(folder).errors == 1
    monkeypatch.setattr(session_summary, "MAX_SCAN", 100_000)
    assert summarise(folder).errors == 0
    entry = entry_of(folder)
    assert (entry.agent, entry.phase, entry.ended) == ("debt_collection", "negotiate", "all done")


# -- the cache -------------------------------------------------------------------------------------------------------


def test_the_second_listing_looks_into_no_file_that_did_not_change(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        _age(debt_call().write(root, f"s{number}"))
    first = list_entries(root)
    assert stat.S_IMODE((root / CACHE_FILE).stat().st_mode) == 0o600
    looked: list[str] = []
    original = catalog.summarise

    def summarise(folder: Path) -> catalog.SessionSummary:
        looked.append(folder.name)
        return original(folder)

    monkeypatch.setattr(catalog, "summarise", summarise)
    assert list_entries(root) == first
    assert looked == []
    with (root / "s1" / "events.jsonl").open("ab") as file:
        file.write(b'{"seq":99,"t":99.0,"turn":9,"gen":9,"type":"log","data":{}}\n')
    _age(root / "s1")
    assert {entry.id: entry.turns for entry in list_entries(root)} == {"s0": 3, "s1": 9, "s2": 3}
    assert looked == ["s1"]


def test_a_listing_of_sessions_that_did_not_change_opens_no_file_of_theirs(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        rename(debt_call().write(root, f"s{number}"), f"Call {number}")
    later = time.time() + 10
    first = list_entries(root, wall=lambda: later)
    assert [entry.title for entry in first] == ["Call 2", "Call 1", "Call 0"]

    def refuse(*arguments: object) -> None:
        raise AssertionError("opened")

    with monkeypatch.context() as patch:
        for name in ("summarise", "is_running", "title_of", "small_object", "track_files"):
            patch.setattr(catalog, name, refuse)
        assert list_entries(root, wall=lambda: later) == first
    rename(root / "s1", "Another")
    (root / "s2" / "user.wav").write_bytes(bytes(100))
    changed = {entry.id: entry for entry in list_entries(root, wall=lambda: later)}
    assert changed["s1"].title == "Another"
    assert changed["s2"].audio_bytes == 100


def test_a_change_that_leaves_size_and_time_as_they_were_is_noticed(root: Path) -> None:
    folder = debt_call().write(root)
    path = folder / "events.jsonl"
    _age(folder)
    list_entries(root)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"phase":"negotiate"', b'"phase":"nogotiate"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert list_entries(root)[0].phase == "nogotiate"


def test_a_file_that_changed_just_now_is_looked_at_again(root: Path) -> None:
    changed = (debt_call().write(root) / "events.jsonl").stat().st_mtime

    def known() -> set[str]:
        return set(json.loads((root / CACHE_FILE).read_text())["sessions"]) if (root / CACHE_FILE).exists() else set()

    list_entries(root, wall=lambda: changed + 1.9)
    assert known() == set()
    list_entries(root, wall=lambda: changed + 2.1)
    assert known() == {"s1"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"noise\xff",
        b"[]",
        b"{}",
        b'{"version": 1, "sessions": []}',
        b'{"version": 1, "sessions": {"s1": 3}}',
        b'{"version": 1, "sessions": {"s1": [[1, 2, 3, 4], {"when": "x"}]}}',
        b'{"version": 99, "sessions": {}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_cache_changes_nothing(root: Path, content: bytes) -> None:
    _age(debt_call().write(root))
    right = list_entries(root)
    (root / CACHE_FILE).write_bytes(content)
    assert list_entries(root) == right
    assert list_entries(root) == right


def test_an_index_above_its_limit_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _age(debt_call().write(root))
    right = list_entries(root)
    index = root / CACHE_FILE
    kept = json.loads(index.read_text())
    kept["sessions"]["s1"][1]["turns"] = 99
    index.write_text(json.dumps(kept))
    assert [entry.turns for entry in list_entries(root)] == [99]
    monkeypatch.setattr(catalog, "MAX_CACHE_BYTES", index.stat().st_size - 1)
    assert list_entries(root) == right


@pytest.mark.parametrize(("name", "value"), [("turns", "many"), ("agent", None), ("cost_usd", []), ("more", 1)])
def test_a_cached_fact_of_the_wrong_kind_is_looked_up_again(root: Path, name: str, value: object) -> None:
    _age(debt_call().write(root))
    right = list_entries(root)
    kept = json.loads((root / CACHE_FILE).read_text())
    kept["sessions"]["s1"][1][name] = value
    (root / CACHE_FILE).write_text(json.dumps(kept))
    assert list_entries(root) == right


def test_sessions_that_went_leave_the_cache(root: Path) -> None:
    _age(debt_call().write(root))
    list_entries(root)
    (root / "s1" / "events.jsonl").unlink()
    (root / "s1").rmdir()
    assert list_entries(root) == []
    assert json.loads((root / CACHE_FILE).read_text())["sessions"] == {}


# -- titles and filter -----------------------------------------------------------------------------------------------


def test_a_title_stands_beside_the_journal_which_stays_as_it_is(root: Path) -> None:
    folder = debt_call().write(root)
    before = (folder / "events.jsonl").read_bytes()
    assert rename(folder, "  The one\nwith Ms. R. ") == "The one with Ms. R."
    assert (list_entries(root)[0].title, list_entries(root)[0].name) == ("The one with Ms. R.",) * 2
    assert stat.S_IMODE((folder / "title.json").stat().st_mode) == 0o600
    assert (folder / "events.jsonl").read_bytes() == before
    rename(folder, "")
    assert (list_entries(root)[0].title, list_entries(root)[0].name) == ("", "debt_collection")


def test_a_title_too_long_is_refused_and_a_hostile_one_is_harmless(root: Path) -> None:
    folder = debt_call(agent=HOSTILE, model=HOSTILE).write(root)
    with pytest.raises(UsageError, match="at most 120"):
        rename(folder, "x" * 121)
    (folder / "title.json").write_text(json.dumps({"title": HOSTILE}))
    entry = list_entries(root)[0]
    assert CONTROL.findall(f"{entry.title}{entry.agent}{entry.model}") == []
    for content in ("[]", '{"title": 3}', "noise", "x" * 100_000):
        (folder / "title.json").write_text(content)
        assert list_entries(root)[0].title == ""
    (folder / "title.json").unlink()
    (folder / "title.json").symlink_to(folder / "events.jsonl")
    assert list_entries(root)[0].title == ""


def test_the_filter_wants_every_word_wherever_it_stands(root: Path) -> None:
    folder = debt_call().write(root, "20261120-1")
    rename(folder, "Angry caller")
    entry = entry_of(folder)
    for text in ("", "angry", "CALLER debt", "negotiate 20261120", "interruption local"):
        assert matches(entry, text), text
    for text in ("happy", "angry happy", "errors"):
        assert not matches(entry, text), text


# -- preview ---------------------------------------------------------------------------------------------------------


def test_the_preview_is_the_end_of_the_conversation(root: Path) -> None:
    folder = debt_call().write(root)
    lines = preview(folder, 4)
    assert lines[-1] == "session: ended, the operator hung up"
    assert "model: I will." in lines
    assert len(lines) == 4
    assert not [line for line in preview(folder, 100) if line.startswith("state:")]
    assert preview(root / "nothing") == []


def test_the_preview_of_a_long_session_reads_only_its_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = debt_call()
    made.events.pop()
    for number in range(300):
        made.begin_turn()
        made.user(f"Question {number}?")
        made.model(f"Answer {number}.")
        made.complete()
    folder = made.write(root)
    monkeypatch.setattr(catalog, "_PREVIEW_BYTES", (20_000, 200_000))
    lines = preview(folder, 3)
    assert lines[-1] == "model: Answer 299."
    assert lines[-2] == "user: Question 299?"


def test_the_preview_of_what_is_damaged_says_what_there_is(root: Path) -> None:
    folder = debt_call().write(root)
    path = folder / "events.jsonl"
    path.write_bytes(path.read_bytes()[:-60] + b"\xff\n[[[\n")
    assert any(line.startswith("user:") for line in preview(folder))
    path.write_bytes(b"noise\n")
    assert preview(folder) == []


def test_two_thousand_sessions_list_again_without_reading_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = debt_call().write(root, "s0")
    content = (folder / "events.jsonl").read_bytes()
    _age(folder)
    for number in range(1, 2000):
        place = root / f"s{number}"
        place.mkdir(mode=0o700)
        (place / "events.jsonl").write_bytes(content)
        _age(place)
    assert len(list_entries(root)) == 2000
    read: list[Path] = []
    monkeypatch.setattr(catalog, "summarise", read.append)
    assert (len(list_entries(root)), read) == (2000, [])


# -- whatever is in a file -------------------------------------------------------------------------------------------

_odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["phase", "wall", "agent", "cost_usd", "reason", "exit_code", "level"]), st.none()),
)
_event = st.fixed_dictionaries(
    {},
    optional={
        "seq": _odd,
        "t": _odd,
        "turn": _odd,
        "gen": _odd,
        "type": st.one_of(_odd, st.sampled_from(sorted(ev.PAYLOADS))),
        "data": st.one_of(
            _odd,
            st.dictionaries(
                st.sampled_from(
                    ["phase", "wall", "agent", "model", "cost_usd", "reason", "exit_code", "level", "text"]
                ),
                _odd,
            ),
        ),
    },
)


@given(st.lists(st.one_of(_event.map(lambda value: json.dumps(value).encode()), st.binary(max_size=80)), max_size=12))
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_whatever_is_in_it_keeps_others_from_being_listed(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    root = paths.private_dir(tmp_path_factory.mktemp("root") / "sessions")
    made = Recorder()
    made.start("good")
    events = [event.to_line().encode() for event in made.events]
    for name, content in (("good", events), ("odd", lines), ("mixed", [*events, *lines])):
        start = json.dumps(header()).encode()
        (paths.private_dir(root / name) / "events.jsonl").write_bytes(b"\n".join([start, *content]) + b"\n")
    entries = {entry.id: entry for entry in list_entries(root)}
    assert set(entries) == {"good", "odd", "mixed"}
    assert entries["mixed"].problem == ""
    json.dumps([asdict(entry) for entry in entries.values()], allow_nan=False)
    for name in entries:
        assert CONTROL.findall("".join(preview(root / name))) == []
        try:
            export(root / name, ["markdown", "text", "json"], root.parent / f"to-{name}")
        except GeminiLiveError:
            assert name == "odd"
