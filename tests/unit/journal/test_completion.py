"""Complete runs: what each part may lack, and when it has come to its end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.recordings import Recorder
from tests.unit.vocabulary_strategies import payloads

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.completion.completion_gate import RealtimeCompletionGate
from gemini_live_runtime.journal.completion.missing_parts import EXIT_CODES, REMEDIES, Completion, Part
from gemini_live_runtime.journal.recording.reader import completion_of, read_journal
from gemini_live_runtime.journal.sessions.catalog import list_entries

CUT = {"heard_samples": 0, "unheard_samples": 9, "heard_text": "", "unheard_text": "Well"}


def call(number: int = 1) -> Recorder:
    """Begin a recorded session with a question that has its answer."""
    made = Recorder()
    made.start()
    made.emit(ev.ConnectionOpening(url="ws://x"), ev.ConnectionReady(ms=1.0))
    made.begin_turn("typed")
    made.emit(ev.SendIntended(kind="text", ref="c1", text="hello"), ev.TextSent(text="hello", command_id="c1"))
    made.model("Good day.")
    made.complete()
    return made


def ended(made: Recorder) -> Recorder:
    """End a session in an orderly way."""
    made.emit(ev.ConnectionClosed(close_code=1000, requested=True))
    made.end()
    return made


def gate_of(events: Iterable[ev.Event]) -> RealtimeCompletionGate:
    gate = RealtimeCompletionGate()
    for event in events:
        gate.apply_recorded(event)
    return gate


def result(made: Recorder) -> Completion:
    """Return the completion of a whole recording."""
    gate = gate_of(made.events)
    gate.on_recording_read()
    return gate.completion()


def with_events(*payloads: ev.Payload) -> Completion:
    """Return the completion of a session with these events before its orderly end."""
    made = call()
    made.emit(*payloads)
    return result(ended(made))


def finished(call_id: str, status: Any = "ok", *, delivered: bool = True) -> ev.ToolFinished:
    return ev.ToolFinished(call_id=call_id, name="f", status=status, result={}, ms=1.0, delivered=delivered)


TYPED = (ev.TurnStarted(by="typed"), ev.TextSent(text="and now?", command_id="c2"))
CALLED = ev.ToolCalled(call_id="f1", name="f", args={})
WAITS = ev.SendIntended(kind="text", ref="c2", text="and now?")
REFUSED = ev.CommandRefused(command_id="c2", command="send_text", reason="Not sent")
EMPTY = ev.TurnCompleted(outcome="empty")
ENDING = ev.SessionEnding()
HELD = ev.AgentHeld(by="pause", at="the transition to plan")


def settled(kind: Any, outcome: Any, ref: str = "") -> ev.SendSettled:
    return ev.SendSettled(kind=kind, outcome=outcome, ref=ref)


def notice(code: str) -> ev.Notice:
    return ev.Notice(level="error", code=code, text="It failed.")


# -- complete --------------------------------------------------------------------------------------------------------


def test_a_question_with_its_answer_and_an_orderly_end_is_complete() -> None:
    assert result(ended(call())) == Completion()
    assert (Completion().exit_code, Completion().words, Completion().remedy) == (0, "", "")


COMPLETE: dict[str, tuple[ev.Payload, ...]] = {
    "a call with its result": (CALLED, finished("f1")),
    "a call that failed and was answered so": (CALLED, finished("f1", "error")),
    "a call that the server took back": (CALLED, finished("f1", "cancelled", delivered=False)),
    "a result that went out with the next connection": (
        CALLED,
        finished("f1", delivered=False),
        settled("answer", "sent", "f1"),
    ),
    "a result that was told as text": (CALLED, finished("f1", delivered=False), settled("answer", "told", "f1")),
    "a text that only led to a call": (*TYPED, CALLED, finished("f1"), EMPTY),
    "a voice to which silence was the answer": (ev.TurnStarted(by="voice"), EMPTY),
    "a text that was refused at once": (WAITS, REFUSED),
    "a text that was given up and sent anew": (
        WAITS,
        *TYPED,
        settled("text", "unknown", "c2"),
        EMPTY,
        ev.TurnStarted(by="typed"),
        ev.TextSent(text="and now?", command_id="c3"),
        ev.TurnCompleted(outcome="complete"),
    ),
    "words that were given up and said anew": (
        ev.TurnStarted(by="voice"),
        settled("speech", "unknown"),
        EMPTY,
        ev.TranscriptDelta(side="user", text="again"),
    ),
    "an interruption of an answer that has ended": (ev.TurnInterrupted(by="server", cut_below=1, **CUT),),
    "an interruption whose turn ended": (
        ev.TurnStarted(by="voice"),
        ev.TurnInterrupted(by="operator", cut_below=1, **CUT),
        ev.TurnCompleted(outcome="interrupted"),
    ),
    "sound that was played to its end": (ev.PlaybackStarted(), ev.PlaybackDrained(of=1)),
    "sound that was cut": (ev.PlaybackStarted(), ev.TurnInterrupted(by="server", cut_below=2, **CUT)),
    "sound whose loudspeaker was lost": (ev.PlaybackStarted(), ev.AudioLost(direction="output", reason="unplugged")),
    "an agent that was held and let go": (HELD, ev.AgentReleased(how="continue", seconds=1.0)),
    "a connection that moved": (
        ev.ConnectionClosed(close_code=1000, moved=True),
        ev.LinkRestarting(reason="moved", attempt=0, delay_s=0.0),
        ev.ConnectionOpening(url="ws://x", resuming=True),
        ev.ConnectionReady(ms=1.0, resumed=True),
    ),
    "a connection that was given up and asked for": (
        ev.LinkGivenUp(reason="network"),
        ev.ConnectionOpening(url="ws://x"),
        ev.ConnectionReady(ms=1.0),
    ),
    "a disk that was full for a while": (notice("journal-failed"), notice("journal-recovered")),
}


@pytest.mark.parametrize("case", COMPLETE)
def test_what_came_to_its_end_is_not_missing(case: str) -> None:
    assert with_events(*COMPLETE[case]).words == ""


# -- each part -------------------------------------------------------------------------------------------------------


DELIVERIES: dict[str, tuple[ev.Payload, ...]] = {
    "1 text has no answer": TYPED,
    "2 texts have no answer": (*TYPED, ev.TextSent(text="hello?", command_id="c3")),
    "1 text was not delivered": (WAITS, ENDING, REFUSED),
    "spoken words were not delivered": (settled("speech", "unknown"),),
    "1 tool call has no result": (CALLED,),
    "1 tool call was cut off by the end": (CALLED, ENDING, finished("f1", "cancelled", delivered=False)),
    "1 tool call was not answered": (CALLED, finished("f1", delivered=False)),
    "1 tool call has a result that may not have arrived": (
        CALLED,
        finished("f1"),
        settled("answer", "unknown", "f1"),
    ),
    "2 tool calls were cut off by the end": (
        CALLED,
        ev.ToolCalled(call_id="f2", name="f", args={}),
        ENDING,
        finished("f1", "cancelled", delivered=False),
        finished("f2", "cancelled", delivered=False),
    ),
    "turn 1 was not finished": (ev.TurnStarted(by="voice"), ev.TranscriptDelta(side="user", text="and now?")),
    "the answer was not played to its end": (ev.PlaybackStarted(),),
}


@pytest.mark.parametrize("words", DELIVERIES)
def test_an_open_delivery_is_missing(words: str) -> None:
    assert with_events(*DELIVERIES[words]).words == f"deliveries ({words})"


def test_a_text_that_the_server_may_not_know_is_not_delivered() -> None:
    assert with_events(*TYPED, settled("text", "unknown", "c2"), EMPTY).words == "deliveries (1 text was not delivered)"


def test_a_text_whose_turn_ended_without_a_word_has_no_answer() -> None:
    assert with_events(*TYPED, EMPTY).words == "deliveries (1 text has no answer)"


LINKS: dict[str, tuple[ev.Payload, ...]] = {
    "the connection was lost": (ev.ConnectionClosed(close_code=1006),),
    "the connection was given up": (ev.ConnectionClosed(close_code=1006), ev.LinkGivenUp(reason="network")),
    "the connection was not made": (
        ev.ConnectionClosed(close_code=1006),
        ev.LinkRestarting(reason="network", attempt=1, delay_s=0.5),
        ev.ConnectionOpening(url="ws://x"),
    ),
}


@pytest.mark.parametrize("words", LINKS)
def test_a_link_that_did_not_end_in_an_orderly_way_is_missing(words: str) -> None:
    made = call()
    made.emit(*LINKS[words])
    made.end()
    assert result(made).words == f"links ({words})"


def test_a_session_without_a_word_of_the_model_lacks_output() -> None:
    made = Recorder()
    made.start()
    made.emit(
        ev.TranscriptDelta(side="user", text="hello?"), ev.TranscriptDelta(side="model", text="Hm", channel="thought")
    )
    made.end()
    assert result(made).words == "output (the model said nothing)"


@pytest.mark.parametrize(
    "seen",
    [
        ev.TranscriptDelta(side="model", text="Good day."),
        ev.TranscriptDelta(side="model", text="Good day.", channel="text"),
        ev.PlaybackStarted(),
        ev.GenerationCompleted(samples=24_000),
    ],
    ids=lambda seen: seen.type,
)
def test_words_and_sound_of_the_model_are_output(seen: ev.Payload) -> None:
    made = Recorder()
    made.start()
    made.emit(seen)
    made.end()
    assert "output" not in result(made).parts


def test_an_interruption_whose_turn_goes_on_is_not_settled() -> None:
    missing = with_events(ev.TurnStarted(by="voice"), ev.TurnInterrupted(by="device", cut_below=1, **CUT))
    assert missing.words == (
        "interventions (the interruption of turn 1 was not settled), deliveries (turn 1 was not finished)"
    )


@pytest.mark.parametrize("released", [(), (ENDING, ev.AgentReleased(how="end", seconds=2.0))])
def test_an_agent_that_is_held_to_the_end_is_an_open_intervention(released: tuple[ev.Payload, ...]) -> None:
    assert with_events(HELD, *released).words == "interventions (the agent was held at the transition to plan)"


def test_an_approval_that_is_pending_is_missing_until_it_is_given_or_refused() -> None:
    gate = gate_of(ended(call()).events)
    gate.on_recording_read()
    gate.on_approval_asked("pay 20 dollars")
    gate.on_approval_asked("call the police")
    assert gate.completion().words == "approvals (2 approvals are pending)"
    gate.on_approval_settled("pay 20 dollars")
    assert gate.completion().words == "approvals (1 approval is pending)"
    gate.on_approval_settled("call the police")
    assert gate.completion().is_complete


def question(by: ev.ConsentBy, ident: str = "q1") -> tuple[ev.Payload, ...]:
    """Return a question and its answer."""
    asked = ev.ConsentAsked(id=ident, tool="pay", call_id="c1", args={}, reason="It asks.", expires_s=30.0)
    return asked, ev.ConsentGiven(id=ident, tool="pay", call_id="c1", yes=False, by=by)


def test_a_question_that_was_open_at_the_end_is_a_pending_approval() -> None:
    assert with_events(*question("end")).words == "approvals (1 approval is pending)"
    assert with_events(question("end")[0]).words == "approvals (1 approval is pending)"


@pytest.mark.parametrize("by", ["operator", "time", "cancelled", "program", "unattended"])
def test_a_question_that_was_answered_with_no_is_no_pending_approval(by: ev.ConsentBy) -> None:
    assert with_events(*question(by)).is_complete


# -- the recording ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "not-recorded",
        "journal-stopped",
        "journal-removed",
        "journal-behind",
        "audio-recording-stopped",
        "events-missing",
    ],
)
def test_a_recording_that_is_not_whole_is_missing(code: str) -> None:
    assert with_events(notice(code)).parts == ("journal",)


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        (
            "audio-recording-stopped",
            "Sound can no longer be recorded: No space left on device. The sound recorded so far is kept.",
            "the sound is not recorded to its end: No space left on device",
        ),
        (
            "audio-recording-stopped",
            "The disk is too slow to record sound. The sound recorded so far is kept.",
            "the sound is not recorded to its end: the disk is too slow to record sound",
        ),
        (
            "journal-failed",
            "The session file cannot be written: Read-only file system. The conversation goes on.",
            "the disk refuses the recording: Read-only file system",
        ),
        (
            "not-recorded",
            "The session cannot be recorded in the folder of sessions: Permission denied.",
            "the session could not be recorded: Permission denied",
        ),
        (
            "value-not-kept",
            "A value too large for an event could not be kept: File too large.",
            "a large value is missing in the recording: File too large",
        ),
    ],
)
def test_a_disk_that_refuses_the_recording_is_told_with_its_reason(code: str, text: str, words: str) -> None:
    told = with_events(ev.Notice(level="error", code=code, text=text))
    assert told.words == f"journal ({words})"


def test_a_session_that_is_not_to_be_recorded_needs_no_recording() -> None:
    made = Recorder()
    made.start(record="off")
    made.model("Good day.")
    made.end()
    assert gate_of(made.events).completion().is_complete


def test_events_that_the_disk_has_not_taken_are_missing() -> None:
    gate = gate_of(ended(call()).events)
    assert gate.completion().words == (
        "ending (the end of the session is not in its recording), journal (the recording was not closed)"
    )
    gate.on_journal_closed(2, has_end=True)
    assert gate.completion().words == "journal (2 events are missing in the recording)"
    gate.on_journal_closed(0, has_end=True)
    assert gate.completion().is_complete


def test_numbers_that_are_missing_in_a_recording_are_missing_events() -> None:
    made = ended(call())
    del made.events[3]
    assert result(made).words == "journal (1 event is missing in the recording)"


def test_a_recording_that_breaks_off_lacks_its_end_first() -> None:
    made = call()
    made.emit(*TYPED)
    missing = result(made)
    assert missing.words == (
        "ending (the recording breaks off before the end), links (the connection was not closed), "
        "deliveries (1 text has no answer), journal (the recording was not closed)"
    )
    assert missing.exit_code == EXIT_CODES["ending"]


# -- a session that goes on ------------------------------------------------------------------------------------------


def resumed(after: Any) -> ev.SessionResumed:
    return ev.SessionResumed(kept=1, after=after, wall=1.0, record="text", program="p")


def test_a_session_that_goes_on_has_to_come_to_an_end_again() -> None:
    made = ended(call())
    made.emit(resumed("end"))
    assert result(made).parts == ("ending", "journal")
    assert result(ended(made)).is_complete


def test_what_was_open_when_an_engine_died_is_owed_by_the_next() -> None:
    made = call()
    made.emit(*TYPED, resumed("crash"), ev.ConnectionOpening(url="ws://x"), ev.ConnectionReady(ms=1.0))
    assert "deliveries" in result(made).parts
    made.emit(settled("text", "resent", "c2"))
    made.model("It is noon.")
    made.complete()
    assert result(ended(made)).is_complete


def test_what_was_refused_in_closing_is_not_owed_after_the_engine_died_there() -> None:
    made = call()
    made.emit(WAITS, ENDING, REFUSED)
    assert "deliveries" in result(made).parts
    made.emit(resumed("crash"), ev.ConnectionOpening(url="ws://x"), ev.ConnectionReady(ms=1.0))
    assert result(ended(made)).is_complete


def test_what_an_orderly_end_left_open_is_not_owed_after_it() -> None:
    made = call()
    made.emit(*TYPED)
    ended(made)
    assert result(made).parts == ("deliveries",)
    made.emit(resumed("end"))
    assert result(ended(made)).is_complete


# -- every order -----------------------------------------------------------------------------------------------------


POOL = [payload for case in (*COMPLETE.values(), *DELIVERIES.values(), *LINKS.values()) for payload in case]
any_payload = st.one_of(
    st.sampled_from([*POOL, resumed("end"), resumed("crash"), ev.SessionEnded(reason="done")]), payloads
)


@given(st.lists(any_payload, max_size=30))
def test_events_in_any_order_give_known_parts_in_their_order(order: list[ev.Payload]) -> None:
    made = call()
    made.emit(*order)
    parts = result(made).parts
    assert sorted(parts, key=list(EXIT_CODES).index) == list(parts)


OBLIGATIONS = (
    ev.SessionStarted,
    ev.SessionResumed,
    ev.ConnectionOpening,
    ev.ConnectionReady,
    ev.ConnectionClosed,
    ev.LinkGivenUp,
    ev.SendIntended,
    ev.SendSettled,
    ev.TextSent,
    ev.TurnStarted,
    ev.ToolCalled,
    ev.ToolFinished,
    ev.PlaybackStarted,
    ev.AgentHeld,
    ev.ConsentAsked,
    ev.Notice,
)
"""Events that open something: a result that was lost and a disk that fails do, too."""

no_obligation = any_payload.filter(lambda payload: not isinstance(payload, OBLIGATIONS))


@given(st.lists(no_obligation, max_size=20))
def test_a_complete_run_stays_complete_without_a_new_obligation(more: list[ev.Payload]) -> None:
    made = ended(call())
    made.emit(*more)
    assert result(made).words == ""


PARTS_OF_A_RUN: dict[str, list[ev.Payload]] = {
    "call": [CALLED, finished("f1")],
    "text": [WAITS, ev.TextSent(text="and now?", command_id="c2")],
    "hold": [HELD, ev.AgentReleased(how="continue", seconds=1.0)],
    "sound": [ev.PlaybackStarted(), ev.PlaybackDrained(of=1)],
    "disk": [notice("journal-failed"), notice("journal-recovered")],
    "link": [ev.ConnectionClosed(close_code=1006), ev.ConnectionOpening(url="ws://x"), ev.ConnectionReady(ms=1.0)],
}


@given(st.data())
def test_parts_of_a_run_may_come_in_any_interleaving(data: st.DataObject) -> None:
    waiting = [list(part) for part in PARTS_OF_A_RUN.values()]
    made = call()
    made.begin_turn("typed")
    gate = gate_of(made.events)
    while waiting:
        part = data.draw(st.sampled_from(waiting))
        made.emit(part.pop(0))
        gate.apply_recorded(made.events[-1])
        assert "deliveries" in gate.completion().parts
        waiting = [one for one in waiting if one]
    made.model("It is noon.")
    made.complete()
    assert result(ended(made)).words == ""


# -- everyone agrees -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [*COMPLETE, *DELIVERIES])
def test_the_list_of_sessions_agrees_with_a_reader_of_the_whole_recording(words: str, tmp_path: Path) -> None:
    made = call()
    made.emit(*(COMPLETE | DELIVERIES)[words])
    folder = ended(made).write(tmp_path)
    (entry,) = list_entries(tmp_path)
    assert entry.missing_parts == completion_of(read_journal(folder)).parts == result(made).parts


def test_a_part_of_a_long_recording_that_is_left_out_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = call()
    made.emit(*TYPED, CALLED, HELD)
    made.emit(*[ev.Log(source="engine", level="info", text="line")] * 50)
    made.emit(finished("f1"), ev.AgentReleased(how="continue", seconds=1.0))
    made.model("It is noon.")
    made.complete()
    size = sum(len(event.to_line()) for event in made.events[:20])
    made.emit(*[ev.Log(source="engine", level="info", text="line")] * 50)
    ended(made).write(tmp_path)
    monkeypatch.setattr("gemini_live_runtime.journal.sessions.session_summary.MAX_SCAN", size)
    monkeypatch.setattr("gemini_live_runtime.journal.sessions.session_summary._TAIL_BYTES", 1000)
    (entry,) = list_entries(tmp_path)
    assert entry.missing == ""


def test_every_part_has_an_exit_code_of_its_own_and_a_remedy() -> None:
    assert list(EXIT_CODES) == list(get_args(Part))
    assert set(REMEDIES) == set(EXIT_CODES)
    assert len(set(EXIT_CODES.values()) | {0, 1, 2}) == len(EXIT_CODES) + 3


def test_the_page_names_each_part_with_its_exit_code() -> None:
    page = (Path(__file__).parents[3] / "docs" / "console.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.MULTILINE)
    assert {name: int(code) for code, name in rows} == EXIT_CODES
