"""The fold gives the same view for the same events, within its limits."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st
from vocabulary_strategies import sessions

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold import blocks
from gemini_live_runtime.journal.fold.session_fold import apply, fold
from gemini_live_runtime.journal.fold.view import MAX_BLOCK_CHARS, MAX_EVENT_TYPES, Dirty, SessionView
from gemini_live_runtime.text import sanitise


def stamped(*payloads: ev.Payload, turn: int = 1) -> list[ev.Event]:
    return [ev.Event(seq, float(seq), turn, 1, payload) for seq, payload in enumerate(payloads, 1)]


def model(text: str) -> ev.Payload:
    return ev.TranscriptDelta(side="model", text=text)


@given(sessions(), st.data())
def test_a_restored_snapshot_and_the_rest_give_the_same_view(session, data):
    cut = data.draw(st.integers(0, len(session)))
    snapshot = json.loads(json.dumps(fold(session[:cut]).to_json()))
    assert fold(session[cut:], SessionView.from_json(snapshot)).to_json() == fold(session).to_json()


@given(sessions())
def test_two_folds_agree(session):
    assert fold(session) == fold(session)


@given(sessions(), st.data())
def test_a_snapshot_is_not_disturbed_by_what_comes_after_it_nor_disturbs_it(session, data):
    cut = data.draw(st.integers(0, len(session)))
    view = fold(session[:cut])
    before = view.snapshot()
    fold(session[cut:], view)
    assert before == fold(session[:cut])
    assert view == fold(session[cut:], before) == fold(session)


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in (*value, *value.values()):
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


@given(sessions())
def test_a_view_has_nothing_that_a_terminal_obeys(session):
    for shown in strings(fold(session).to_json()):
        assert sanitise(shown) == shown


@given(sessions())
def test_an_event_that_changes_blocks_marks_the_transcript(session):
    view = SessionView()
    for event in session:
        before = json.dumps(view.to_json()["blocks"])
        dirty = apply(view, event)
        if json.dumps(view.to_json()["blocks"]) != before:
            assert dirty & (Dirty.TRANSCRIPT | Dirty.NOTICES)


@given(sessions())
def test_a_changed_block_has_a_new_revision(session):
    view, seen = SessionView(), {}
    for event in session:
        apply(view, event)
        for block in view.blocks:
            content = (block.text, block.done, block.interrupted, block.heard, block.status, block.detail, block.ms)
            before = seen.get(block.id)
            assert before is None or before[0] == content or before[1] != block.rev
            seen[block.id] = (content, block.rev)


@given(sessions())
def test_the_count_of_characters_is_right(session):
    view = fold(session)
    assert view.block_chars == sum(len(block.text) + len(block.detail) for block in view.blocks)


def test_blocks_above_the_limit_are_dropped_and_counted(monkeypatch):
    monkeypatch.setattr(blocks, "MAX_BLOCKS", 50)
    view = fold(stamped(*[ev.TextSent(text=str(number)) for number in range(500)]))
    assert len(view.blocks) <= 50
    assert len(view.blocks) + view.blocks_forgotten == 500
    assert view.blocks[-1].text == "499"


def test_text_above_the_limit_is_dropped_and_counted(monkeypatch):
    monkeypatch.setattr(blocks, "MAX_CHARS", 1000)
    view = fold(stamped(*[ev.TextSent(text="x" * 90) for _ in range(100)], model("y" * 5000)))
    assert [block.kind for block in view.blocks] == ["model"]
    assert view.blocks_forgotten == 100
    assert view.block_chars == 5000


def test_an_endless_paragraph_is_split():
    view = fold(stamped(*[model("x" * 1000)] * 120))
    assert [len(block.text) for block in view.blocks] == [MAX_BLOCK_CHARS, MAX_BLOCK_CHARS, 20_000]
    assert [block.done for block in view.blocks] == [True, True, False]


def test_marks_that_come_in_many_pieces_do_not_pile_up() -> None:
    view = fold(stamped(model("e"), *[model("\u0301" * 8)] * 50, model("!")))
    assert view.blocks[0].text == "e" + "\u0301" * 8 + "!"


def test_event_types_counted_by_name_are_bounded():
    view = fold(stamped(*[ev.Unknown(name=f"type-{number}", data=None) for number in range(2000)]))
    assert len(view.events_by_type) <= MAX_EVENT_TYPES + 1
    assert sum(view.events_by_type.values()) == 2000


def test_text_after_a_call_is_below_the_call():
    called = ev.ToolCalled(call_id="1", name="t", args={})
    view = fold(stamped(model("Let me check."), called, model(" It is noon.")))
    assert [(block.kind, block.text) for block in view.blocks] == [
        ("model", "Let me check."),
        ("tool", "t()"),
        ("model", "It is noon."),
    ]


def test_the_heard_part_of_an_answer_around_a_call_fills_its_paragraphs_in_order():
    called = ev.ToolCalled(call_id="1", name="t", args={})
    cut = ev.TurnInterrupted(
        by="server", cut_below=1, heard_samples=1, unheard_samples=1, heard_text="one two", unheard_text=" three"
    )
    view = fold(stamped(model("one "), called, model("two three"), cut))
    assert [(block.text, block.heard) for block in view.blocks if block.kind == "model"] == [
        ("one ", 4),
        ("two three", 3),
    ]


def test_an_interrupted_answer_keeps_its_heard_part():
    cut = ev.TurnInterrupted(
        by="operator", cut_below=2, heard_samples=1, unheard_samples=1, heard_text=" one", unheard_text=" two"
    )
    (block,) = fold(stamped(model(" one"), model(" two"), cut)).blocks
    assert (block.text, block.heard, block.interrupted, block.done) == ("one two", 3, True, True)


def test_fields_that_a_later_version_added_are_ignored_in_a_snapshot():
    value = fold(stamped(model("x"))).to_json()
    value["later"] = 1
    value["blocks"][0]["later"] = 2
    assert SessionView.from_json(value).blocks[0].text == "x"


def test_the_view_shows_the_real_recording_mode_after_a_disk_failure():
    started = ev.SessionStarted(
        session_id="s1", agent="a", model="m", backend="b", wall=0.0, record="audio", mode="voice", program="p"
    )
    other = ev.RecordingTrimmed(session_ids=("old",), bytes_freed=1, reason="x")
    own = ev.RecordingTrimmed(session_ids=("s1",), bytes_freed=0, reason="x")
    failed = ev.Notice(level="error", code="audio-recording-stopped", text="x")
    lost = ev.Notice(level="error", code="journal-stopped", text="x")
    assert fold(stamped(started, other)).record == "audio"
    assert fold(stamped(started, own)).record == "text"
    assert fold(stamped(started, failed)).record == "text"
    assert fold(stamped(started, failed, lost)).record == "off"


def test_a_view_says_whether_the_disk_takes_the_session_file_now() -> None:
    started = ev.SessionStarted(
        session_id="s1", agent="a", model="m", backend="b", wall=0.0, record="audio", mode="voice", program="p"
    )
    failed = ev.Notice(level="error", code="journal-failed", text="x")
    recovered = ev.Notice(level="info", code="journal-recovered", text="x")
    failing = fold(stamped(started, failed))
    assert failing.recording_fails
    assert SessionView.from_json(failing.to_json()) == failing
    assert not fold(stamped(started, failed, recovered)).recording_fails
    assert fold(stamped(started, failed, recovered, failed)).recording_fails
    removed = ev.Notice(level="error", code="journal-removed", text="x")
    assert fold(stamped(started, removed)).record == "off"


def test_late_text_of_an_interrupted_answer_joins_its_unheard_part() -> None:
    view = SessionView()
    delta = {"side": "model", "channel": "speech"}
    payloads = [
        (ev.TurnStarted(by="typed"), 1, 1),
        (ev.TranscriptDelta(text="Once upon a time", **delta), 1, 1),
        (
            ev.TurnInterrupted(
                by="operator",
                cut_below=2,
                heard_samples=10,
                unheard_samples=10,
                heard_text="Once upon",
                unheard_text=" a time",
            ),
            1,
            1,
        ),
        (ev.TurnCompleted(outcome="interrupted"), 1, 1),
        (ev.TranscriptDelta(text=" there was a fox", **delta), 1, 1),
        (ev.TurnStarted(by="typed"), 2, 1),
        (ev.TranscriptDelta(text=" in the wood", **delta), 1, 1),
        (ev.TranscriptDelta(text="Noon.", **delta), 2, 2),
    ]
    for number, (payload, turn, gen) in enumerate(payloads, start=1):
        apply(view, ev.Event(number, 0.0, turn, gen, payload))
    models = [block for block in view.blocks if block.kind == "model"]
    assert [(block.text, block.heard) for block in models] == [
        ("Once upon a time there was a fox in the wood", len("Once upon")),
        ("Noon.", None),
    ]


def test_a_switch_of_devices_is_noted_and_the_first_devices_are_not() -> None:
    rates = {"input_rate": 48_000, "output_rate": 48_000, "echo_canceller": "x"}
    view = SessionView()
    apply(view, ev.Event(1, 0.0, 0, 0, ev.AudioOpened(input="Desk", output="Speakers", **rates)))
    assert view.blocks == []
    apply(view, ev.Event(2, 1.0, 0, 0, ev.AudioOpened(input="Headset", output="", **rates)))
    assert [block.text for block in view.blocks] == ["Microphone: Headset. Speaker: none."]
    apply(view, ev.Event(3, 2.0, 0, 0, ev.AudioOpened(input="Headset", output="", **rates)))
    assert len(view.blocks) == 1


def refusal(reason: str, command: str = "mode.set") -> ev.Payload:
    return ev.CommandRefused(command_id="c", command=command, reason=reason)


def test_a_refusal_that_comes_again_at_once_is_one_line():
    no_microphone = refusal("Staying in text mode. No microphone is open")
    view = fold(stamped(no_microphone, no_microphone, refusal("Busy"), no_microphone))
    assert [block.text for block in view.blocks] == [no_microphone.reason, "Busy", no_microphone.reason]


def test_an_interruption_that_came_too_late_leaves_no_line():
    assert fold(stamped(refusal("There is nothing to interrupt", "interrupt"))).blocks == []
