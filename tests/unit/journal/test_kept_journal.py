"""A recording goes on where the engine before has stopped, and loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.errors import EngineError, JournalError
from gemini_live_runtime.journal.completion.open_work import OpenInput, OpenWork
from gemini_live_runtime.journal.files.tracks import flac_file, read_track
from gemini_live_runtime.journal.recording.flac import convert_session
from gemini_live_runtime.journal.recording.kept_journal import read_kept
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.journal.sessions.session_summary import summarise

STARTED = ev.SessionStarted(
    session_id="s", agent="a", model="m", backend="local", wall=100.0, record="audio", mode="voice", program="p"
)
USER, MODEL = b"\x01\x00" * 1600, b"\x02\x00" * 2400


def spans(users: int, models: int) -> list[ev.Payload]:
    """Return events that speak of so many samples of each track."""
    return [
        ev.WireAudio(
            direction="sent", track="user", rate=16_000, first=0, count=users, frames=((users, 1),), mime_type=""
        ),
        ev.WireAudio(
            direction="received", track="model", rate=24_000, first=0, count=models, frames=((models, 1),), mime_type=""
        ),
    ]


def record(root: Path, *payloads: ev.Payload, sound: bool = False) -> Path:
    """Record events, and perhaps sound; return the session's folder."""
    writer = JournalWriter(root, "s", audio=sound, report=lambda payload: None)
    for number, payload in enumerate((STARTED, *payloads), 1):
        writer.append(ev.Event(number, float(number), 1, 1, payload).to_line())
    if sound:
        writer.audio("user", USER)
        writer.audio("model", MODEL)
    writer.close()
    return root / "s"


def go_on(folder: Path, *, sound: bool = False) -> JournalWriter:
    return JournalWriter(folder.parent, "s", audio=sound, report=lambda payload: None, kept=read_kept(folder))


def test_what_follows_the_last_whole_line_is_cut_off_and_the_file_goes_on(tmp_path: Path) -> None:
    folder = record(tmp_path, ev.TurnStarted(by="typed"))
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b'{"seq":3,"t":3.0,"turn":1,"gen":1,"type":"text.se')
    writer = go_on(folder)
    writer.append(ev.Event(3, 9.0, 1, 1, ev.TurnCompleted(outcome="empty")).to_line())
    writer.close()
    journal = read_journal(folder)
    assert [event.type for event in journal] == ["session.started", "turn.started", "turn.completed"]
    assert journal.problems == []


def test_numbers_and_time_go_on_and_the_time_without_an_engine_counts(tmp_path: Path) -> None:
    folder = record(tmp_path, ev.TurnStarted(by="typed"))

    class Clock(LoopClock):
        def wall(self) -> float:
            return 160.0

    async def main() -> ev.Event:
        hub = Hub("s", Clock(), program="p", pid=1, kept=read_kept(folder))
        event = hub.emit(ev.TurnCompleted(outcome="empty"), turn=1, gen=1)
        hub.bye("over", 0)
        return event

    event = run_virtual(main())
    assert event.seq == 3
    assert event.t == pytest.approx(60.0)


def test_the_time_never_goes_back_when_the_clock_was_set_back(tmp_path: Path) -> None:
    folder = record(tmp_path, ev.TurnStarted(by="typed"))

    class Clock(LoopClock):
        def wall(self) -> float:
            return 7.0

    async def main() -> float:
        hub = Hub("s", Clock(), program="p", pid=1, kept=read_kept(folder))
        event = hub.emit(ev.TurnCompleted(outcome="empty"), turn=1, gen=1)
        hub.bye("over", 0)
        return event.t

    assert run_virtual(main()) == pytest.approx(2.0)


def test_sound_goes_on_at_the_sample_that_the_events_have_reached(tmp_path: Path) -> None:
    # Of the user's sound the disk has more than the events tell of, of the model's less.
    folder = record(tmp_path, *spans(1000, 3000), sound=True)
    writer = go_on(folder, sound=True)
    writer.audio("user", b"\x03\x00" * 10)
    writer.audio("model", b"\x04\x00" * 10)
    writer.close()
    user, model = read_track(folder / "user.wav"), read_track(folder / "model.wav")
    assert user.pcm == USER[:2000] + b"\x03\x00" * 10
    assert model.pcm == MODEL + bytes(1200) + b"\x04\x00" * 10


def test_sound_that_was_made_flac_meanwhile_goes_on_too(tmp_path: Path) -> None:
    pytest.importorskip("soundfile")
    folder = record(tmp_path, *spans(1600, 2400), sound=True)
    assert convert_session(folder) == []
    assert not (folder / "user.wav").exists()
    writer = go_on(folder, sound=True)
    writer.audio("user", b"\x03\x00" * 10)
    writer.close()
    assert read_track(folder / "user.wav").pcm == USER + b"\x03\x00" * 10
    assert not flac_file(folder / "user.wav").exists()
    assert flac_file(folder / "model.wav").exists()


def test_sound_that_was_deleted_to_keep_the_limit_is_silent(tmp_path: Path) -> None:
    folder = record(tmp_path, *spans(1600, 2400), sound=True)
    (folder / "user.wav").unlink()
    writer = go_on(folder, sound=True)
    writer.audio("user", b"\x03\x00" * 10)
    writer.close()
    assert read_track(folder / "user.wav").pcm == bytes(3200) + b"\x03\x00" * 10


def test_a_session_that_an_engine_writes_is_left_to_it(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, "s", audio=False, report=lambda payload: None)
    writer.append(ev.Event(1, 1.0, 0, 0, STARTED).to_line())
    writer.flush()
    with pytest.raises(EngineError, match="attach s"):
        read_kept(tmp_path / "s")
    writer.close()


def test_a_recording_without_a_usable_first_line_or_without_events_cannot_go_on(tmp_path: Path) -> None:
    folder = record(tmp_path / "damaged")
    data = (folder / "events.jsonl").read_bytes()
    (folder / "events.jsonl").write_bytes(b"x" + data)
    with pytest.raises(JournalError, match="first line"):
        read_kept(folder)
    (folder / "events.jsonl").write_bytes(data.splitlines(keepends=True)[0])
    with pytest.raises(JournalError, match="nothing is recorded"):
        read_kept(folder)


def test_a_session_that_goes_on_has_not_ended(tmp_path: Path) -> None:
    ended = ev.SessionEnded(reason="hung up", exit_code=0)
    resumed = ev.SessionResumed(kept=2, after="end", wall=200.0, record="text", program="p")
    assert summarise(record(tmp_path / "a", ended)).ended == "hung up"
    assert summarise(record(tmp_path / "b", ended, resumed)).ended == ""
    view = read_kept(record(tmp_path / "c", ended, resumed)).view
    assert (view.ended, view.exit_code, view.resumed_after) == ("", None, 2)


# -- what is left open -----------------------------------------------------------------------------------------------


def work(*events: tuple[int, int, ev.Payload]) -> OpenWork:
    found = OpenWork()
    for number, (turn, gen, payload) in enumerate(events, 1):
        found.apply(ev.Event(number, 0.0, turn, gen, payload))
    return found


def test_words_that_come_late_of_a_cut_answer_answer_nothing() -> None:
    cut = ev.TurnInterrupted(
        by="typed", cut_below=2, heard_samples=0, unheard_samples=0, heard_text="", unheard_text="Well"
    )
    found = work(
        (1, 1, ev.TurnStarted(by="voice")),
        (1, 1, cut),
        (2, 2, ev.TurnStarted(by="typed")),
        (2, 2, ev.TextSent(text="stop", command_id="c1")),
        (1, 1, ev.TranscriptDelta(side="model", text=" I was")),
    )
    assert found.unanswered == [OpenInput("text", "stop", "c1")]
    assert not found.has_content


def test_a_question_that_another_one_replaced_is_open_as_well() -> None:
    found = work(
        (1, 1, ev.TurnStarted(by="typed")),
        (1, 1, ev.TextSent(text="one", command_id="c1")),
        (1, 1, ev.TurnCompleted(outcome="empty")),
        (2, 1, ev.TurnStarted(by="typed")),
        (2, 1, ev.TextSent(text="two", command_id="c2")),
    )
    assert [one.text for one in found.unanswered] == ["one", "two"]


def test_an_answer_without_a_word_answers_nothing() -> None:
    asked = ((1, 1, ev.TurnStarted(by="typed")), (1, 1, ev.TextSent(text="one", command_id="c1")))
    assert work(*asked, (1, 1, ev.GenerationCompleted())).unanswered == [OpenInput("text", "one", "c1")]
    assert work(*asked, (1, 1, ev.GenerationCompleted(samples=24_000))).unanswered == []


def test_a_text_that_was_refused_waits_no_longer() -> None:
    found = work(
        (0, 0, ev.SendIntended(kind="text", ref="c1", text="one")),
        (0, 0, ev.SendIntended(kind="text", ref="c2", text="two")),
        (0, 0, ev.CommandRefused(command_id="c1", command="send_text", reason="too many")),
    )
    assert found.waiting == {"c2": "two"}
