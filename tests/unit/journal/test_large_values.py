"""Values too large for a line are cut, told, counted and kept beside the journal."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.journal.files import large_values
from gemini_live_runtime.journal.files.large_values import MAX_LINE_CHARS
from gemini_live_runtime.journal.recording import writer as writer_module
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.json_values import encode_line

STARTED = ev.SessionStarted(
    session_id="s1", agent="a", model="m", backend="local", wall=0.0, record="text", mode="voice", program="p"
)
LOG = ev.Log(source="engine", level="info", text="x")


def finished(result: dict[str, Any]) -> ev.ToolFinished:
    return ev.ToolFinished(call_id="1", name="t", status="ok", result=result, ms=1.0, delivered=True)


def recorded(root: Path, *payloads: ev.Payload) -> tuple[list[ev.Event], list[str]]:
    """Return the events in the journal and the lines sent to a console."""

    async def main() -> list[str]:
        journal = JournalWriter(root, "s1", audio=False, report=[].append)
        hub = Hub("s1", LoopClock(), program="p", pid=1, journal=journal)
        outbox = hub.attach()
        for payload in (STARTED, *payloads):
            hub.emit(payload, turn=1, gen=1)
        hub.bye("over", 0)
        journal.close()
        return (await outbox.take())[2:-1]

    lines = run_virtual(main())
    journal = read_journal(root / "s1")
    events = list(journal)
    assert (journal.problems, journal.torn) == ([], False)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return events, lines


def test_a_large_text_keeps_its_beginning_length_and_hash_and_the_session_goes_on(tmp_path: Path) -> None:
    text = "漢" * 3_000_000
    events, lines = recorded(tmp_path, finished({"text": text, "ok": True}), LOG, LOG)
    assert [event.type for event in events] == ["session.started", "tool.finished", "notice", "log", "log"]
    result = events[1].payload.result
    (file,) = tmp_path.glob("s1/value-*.json")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert result["ok"] is True
    assert result["text"].startswith("漢" * 1000)
    assert result["text"].endswith(f"[cut: 3,000,000 characters, SHA-256 {digest}, whole in {file.name}]")
    assert json.loads(file.read_bytes()) == text
    assert "tool.finished" in events[2].payload.text
    assert max(map(len, lines)) < MAX_LINE_CHARS
    assert len(lines) == len(events)


def test_a_value_of_many_parts_is_replaced_as_a_whole(tmp_path: Path) -> None:
    rows = [f"row {number} of the table" for number in range(60_000)]
    events, _ = recorded(tmp_path, finished({"rows": rows}))
    cut = events[1].payload.result["$cut"]
    data = (tmp_path / "s1" / cut["file"]).read_bytes()
    assert json.loads(data) == {"rows": rows}
    assert (cut["characters"], cut["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


def test_an_event_with_no_field_that_can_be_cut_becomes_a_notice(tmp_path: Path) -> None:
    opened = ev.AudioOpened(
        input="", output="", input_rate=0, output_rate=0, echo_canceller="", problems=("x" * 100,) * 20_000
    )
    events, _ = recorded(tmp_path, opened, LOG)
    assert [event.type for event in events] == ["session.started", "notice", "notice", "log"]
    assert "audio.opened was too large" in events[1].payload.text


def test_a_value_is_kept_once_and_all_values_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = MAX_LINE_CHARS + 1
    monkeypatch.setattr(writer_module, "MAX_VALUE_BYTES", size + 10)
    payloads = [finished({"text": sign * size}) for sign in "aab"]
    events, _ = recorded(tmp_path, *payloads)
    ends = [event.payload.result["text"][-10:] for event in events if event.type == "tool.finished"]
    assert [end.endswith("not kept]") for end in ends] == [False, False, True]
    assert len(list(tmp_path.glob("s1/value-*"))) == 1
    assert [event.type for event in events].count("notice") == 1


def test_events_faster_than_the_disk_are_left_out_and_counted_and_recording_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "MAX_UNWRITTEN", 400)
    reports: list[ev.Payload] = []
    journal = JournalWriter(tmp_path, "s1", audio=False, report=reports.append)
    with journal._wake:  # as while the thread writes: nothing is taken from the queue
        for seq in range(1, 11):
            journal.append(ev.Event(seq, 0.0, 0, 0, LOG).to_line())
    journal.flush()
    journal.append(ev.Event(11, 0.0, 0, 0, LOG).to_line())
    journal.close()
    kept = [event.seq for event in read_journal(tmp_path / "s1")]
    assert (kept[0], kept[-1]) == (1, 11)
    assert journal.lost_events == journal.missing_events == 11 - len(kept) > 0
    assert [report.code for report in reports] == ["journal-behind"]


def test_a_huge_value_is_cut_before_it_is_encoded_and_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = 0

    def encoded(value: Any) -> str:
        nonlocal longest
        longest = max(longest, len(line := encode_line(value)))
        return line

    monkeypatch.setattr("gemini_live_runtime.events.encode_line", encoded)
    monkeypatch.setattr(large_values, "encode_line", encoded)
    text, key = "x" * 5_000_000, "AIzaSyD3adBeefD3adBeef"
    spoiled = "y" * (large_values.MAX_BEGINNING - 10) + key + text
    changed = ev.StateChanged(key="app:x", old=[1] * 1_000_000, new={"a": spoiled}, mutation=1, origin="agent")
    events, lines = recorded(tmp_path, finished({"text": text, "ok": True}), changed, LOG)
    assert [event.type for event in events] == ["session.started", "tool.finished", "notice", "state.changed", "log"]
    result, change = events[1].payload.result, events[3].payload
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert result["ok"] is True
    assert result["text"] == text[: large_values.MAX_BEGINNING] + (
        f"… [cut: 5,000,000 characters, SHA-256 {digest}, not kept]"
    )
    assert change.old == {"$cut": {"items": 1_000_000, "sha256": "", "file": ""}}
    assert key[:6] not in change.new["a"]
    assert longest < 100_000
    assert not [*tmp_path.glob("s1/value-*")]
    assert max(map(len, lines)) < MAX_LINE_CHARS


def test_of_a_huge_list_with_too_many_items_a_note_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_values, "MAX_KEPT_CHARS", 500_000)
    monkeypatch.setattr(large_values, "MAX_ITEMS", 3)
    texts = ["x" * 300_000] * 3
    events, _ = recorded(tmp_path, finished({"few": texts, "many": [*texts, "y"], "table": dict.fromkeys("abcd", "z")}))
    result = events[1].payload.result
    assert [text[:3] for text in result["few"]] == ["xxx"] * 3
    assert [result["many"]["$cut"]["items"], result["table"]["$cut"]["items"]] == [4, 4]


@pytest.mark.parametrize("kind", ["list", "object", "nested", "itself"])
def test_how_large_a_value_is_is_told_without_a_look_at_all_of_it(kind: str) -> None:
    itself: list[Any] = []
    itself.append(itself)
    values: dict[str, Any] = {
        "list": [0] * 1_000_000,
        "object": dict.fromkeys(map(str, range(300_000))),
        "nested": [[["x" * 1_000_000]] * 5],
        "itself": itself,
    }
    assert large_values.is_huge(values[kind])
    assert not large_values.is_huge([{"a": "x" * 1_000_000}, 3, None])
