"""Print a session as lines: final, in order, not to be forged by hostile text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.plain import PlainWriter

LABELS = ("user", "model", "thought", "tool", "notice", "state", "session", "log")


def lines(*payloads: ev.Payload | tuple[int, ev.Payload], times: bool = False) -> list[str]:
    writer = PlainWriter(times=times)
    out: list[str] = []
    for seq, item in enumerate(payloads, 1):
        turn, payload = item if isinstance(item, tuple) else (1, item)
        out += writer.feed(ev.Event(seq, seq * 61.25, turn, turn, payload))
    return out + writer.rest()


def said(side: ev.Side, text: str) -> ev.Payload:
    return ev.TranscriptDelta(side=side, text=text)


DONE = ev.TurnCompleted(outcome="complete")


def test_a_turn_reads_as_a_dialogue():
    assert lines(
        said("user", "What is "), said("user", "new?"), said("model", " Not "), said("model", "much."), DONE
    ) == [
        "user: What is new?",
        "model: Not much.",
    ]


def test_typed_text_appears_when_it_was_sent():
    assert lines(ev.TextSent(text="hi")) == ["user: hi"]


def test_an_interrupted_answer_shows_what_was_not_heard():
    cut = ev.TurnInterrupted(
        by="server", cut_below=2, heard_samples=1, unheard_samples=1, heard_text="It is", unheard_text=" sunny"
    )
    assert lines(said("model", "It is sunny"), cut) == ["model: It is [interrupted, not heard: sunny]"]


def test_a_tool_call_is_one_line_with_its_answer():
    called = ev.ToolCalled(call_id="1", name="weather", args={"city": "Oslo"})
    answered = ev.ToolFinished(call_id="1", name="weather", status="ok", result={"c": 3}, ms=12.4, delivered=True)
    assert lines(called, said("model", "One moment."), answered, DONE) == [
        'tool: weather(city="Oslo") -> ok, 12 ms {"c": 3}',
        "model: One moment.",
    ]


def test_a_call_that_a_dead_engine_cut_has_no_duration():
    called = ev.ToolCalled(call_id="1", name="pay", args={})
    cut = ev.ToolFinished(call_id="1", name="pay", status="error", result={"error": "cut"}, ms=None, delivered=False)
    assert lines(called, cut) == ['tool: pay() -> error {"error": "cut"}']


def test_states_can_be_left_out():
    writer = PlainWriter(states=False)
    payloads = (ev.SessionState(word="listening", reason="ready"), ev.TextSent(text="hi"), ev.SessionEnded(reason="x"))
    out = [line for seq, one in enumerate(payloads, 1) for line in writer.feed(ev.Event(seq, seq, 1, 1, one))]
    assert out == ["user: hi", "session: ended, x"]


def test_notices_and_states_and_logs_have_lines():
    assert lines(
        ev.SessionState(word="listening", reason="ready"),
        ev.Notice(level="warning", code="x", text="No microphone.", remedy="Plug one in"),
        ev.Log(source="stdout", level="info", text="hello"),
        ev.SessionEnded(reason="hung up"),
    ) == [
        "state: listening (ready)",
        "notice: warning: No microphone. Plug one in",
        "log: stdout info: hello",
        "session: ended, hung up",
    ]


def test_what_a_session_that_broke_off_was_saying_is_not_lost():
    called = ev.ToolCalled(call_id="1", name="weather", args={})
    assert lines(called, said("model", "I was just")) == [
        "tool: weather() -> no answer",
        "model: I was just [broken off]",
    ]


def test_times_are_minutes_and_seconds_of_the_session():
    assert lines(ev.TextSent(text="a"), ev.TextSent(text="b"), times=True) == ["01:01.2 user: a", "02:02.5 user: b"]


def test_text_with_several_lines_is_indented_and_cannot_pass_for_another_speaker():
    assert lines(ev.TextSent(text="one\nmodel: two")) == ["user: one\n    model: two"]


@given(st.lists(st.tuples(st.sampled_from(["user", "model"]), st.text(max_size=30)), max_size=20))
def test_every_line_begins_with_a_label_and_holds_nothing_a_terminal_obeys(deltas):
    out = lines(*(said(side, text) for side, text in deltas), ev.SessionEnded(reason="x\x1b[2J\ny"))
    for text in out:
        first, *more = text.split("\n")
        assert first.split(":")[0] in LABELS
        assert all(line.startswith("    ") for line in more)
        assert not any(ord(char) < 32 and char not in "\n\t" for char in text)


def test_many_notices_in_a_turn_do_not_cut_the_answer_in_two():
    noise = [ev.Notice(level="info", code="x", text=f"{number}") for number in range(30)]
    out = lines(said("model", "One "), *noise, said("model", "answer."), DONE)
    assert [line for line in out if line.startswith("model")] == ["model: One answer."]
