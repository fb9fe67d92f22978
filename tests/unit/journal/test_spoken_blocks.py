"""Test which words of a view's blocks have been heard."""

from __future__ import annotations

import json

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.heard_words import AHEAD_S, lit_chars, next_word_s
from gemini_live_runtime.journal.fold.session_fold import apply, fold
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.plain import PlainWriter

RATE = 24_000
WORDS = ("Once ", "upon ", "a ", "time ", "there ", "was ", "a ", "fox.")


class Session:
    """Session whose answers speak a word in each half second."""

    def __init__(self, *, output: str = "Speakers") -> None:
        self.events: list[ev.Event] = []
        self.opens(0.0, output)

    def opens(self, t: float, output: str = "Speakers", *, again: bool = False) -> None:
        rates = {"input_rate": 48_000, "output_rate": 48_000, "echo_canceller": "x"}
        self.at(t, ev.AudioOpened(input="Desk", output=output, again=again, **rates), gen=0)

    def at(self, t: float, *payloads: ev.Payload, gen: int = 1) -> None:
        for payload in payloads:
            self.events.append(ev.Event(len(self.events) + 1, t, 1, gen, payload))

    def answer(self, t: float, gen: int = 1) -> None:
        self.words(t, 0, len(WORDS), gen)

    def words(self, t: float, first: int, end: int, gen: int = 1) -> None:
        for number in range(first, end):
            delta = ev.TranscriptDelta(side="model", text=WORDS[number], sample=number * 12_000, samples=12_000)
            self.at(t, delta, gen=gen)

    def hears(self, t: float, samples: int, of: int = 1) -> None:
        self.at(t, ev.PlaybackHeard(of=of, first=max(0, samples - 12_000), count=12_000))

    @property
    def view(self) -> SessionView:
        return fold(self.events)

    @property
    def blocks(self) -> list[tuple[str, str | None]]:
        """Text of each block of the model, and what was heard of it before a cut."""
        return [
            (block.text.rstrip(), None if block.heard is None else block.text[: block.heard].rstrip())
            for block in self.view.blocks
            if block.kind == "model"
        ]

    def lit(self, t: float, block: int = -1) -> str:
        view = self.view
        return view.blocks[block].text[: lit_chars(view.blocks[block], view.playhead, t)].rstrip()


def test_an_answer_that_arrives_is_ahead_until_it_is_played_and_its_words_light_up_one_by_one() -> None:
    session = Session()
    session.answer(1.0)
    assert session.lit(9.0) == ""
    session.at(1.2, ev.PlaybackStarted())
    assert session.lit(1.2) == ""
    assert session.lit(1.4) == "Once"
    session.hears(1.8, 12_000)
    assert session.lit(1.81) == "Once upon"
    assert session.lit(2.2) == "Once upon"
    assert session.lit(2.31) == "Once upon a"
    session.hears(2.3, 24_000)
    session.hears(5.8, 8 * 12_000)
    session.at(5.8, ev.PlaybackDrained(of=1))
    assert session.lit(0.0) == "".join(WORDS)
    assert session.view.playhead is None
    assert session.view.blocks[-1].places == ()


def test_in_a_pause_no_word_lights_up_and_after_it_the_next_ones_do() -> None:
    session = Session()
    session.answer(1.0)
    session.hears(2.0, 16_800)
    session.at(2.1, ev.PlaybackPaused(of=1, at=19_200))
    # What was heard before the pause is told in it.
    session.hears(2.2, 19_440)
    assert session.lit(5.0) == session.lit(2.2) == "Once upon"
    view = session.view
    assert next_word_s(view.blocks[-1], view.playhead, 2.2) is None
    assert SessionView.from_json(view.to_json()).playhead == view.playhead
    session.at(6.0, ev.PlaybackResumed(of=1, at=19_440))
    assert session.lit(6.0) == "Once upon"
    assert session.lit(6.3) == "Once upon a"


def test_the_time_to_the_next_word_is_known_and_without_a_report_nothing_is_taken_to_go_on() -> None:
    session = Session()
    session.answer(1.0)
    session.hears(2.0, 16_800)
    view = session.view
    assert next_word_s(view.blocks[-1], view.playhead, 2.0) == pytest.approx(0.3)
    assert next_word_s(view.blocks[-1], view.playhead, 2.0 + AHEAD_S) is None
    assert session.lit(1000.0) == session.lit(2.0 + AHEAD_S) == "Once upon a"


def test_a_next_answer_waits_behind_the_one_that_is_played() -> None:
    session = Session()
    session.answer(1.0)
    session.at(1.4, ev.TurnCompleted(outcome="complete"))
    session.answer(1.5, gen=2)
    session.hears(2.0, 30_000)
    assert session.lit(2.0, 0) == "Once upon a"
    assert session.lit(2.0, 1) == ""
    session.at(6.0, ev.PlaybackStarted(), gen=2)
    session.hears(6.6, 12_000, of=2)
    assert session.lit(6.6, 0) == "".join(WORDS)


def test_what_was_not_heard_of_an_interrupted_answer_is_told_by_the_interruption_alone() -> None:
    session = Session()
    session.answer(1.0)
    session.hears(2.0, 24_000)
    cut = {"cut_below": 2, "heard_samples": 24_000, "unheard_samples": 72_000}
    session.at(2.1, ev.TurnInterrupted(by="server", heard_text="Once upon", unheard_text=" a time...", **cut))
    (block,) = session.view.blocks
    assert (block.interrupted, block.heard, block.places) == (True, len("Once upon"), ())
    assert session.view.playhead is None


def test_the_rest_of_an_answer_whose_loudspeaker_is_lost_is_marked() -> None:
    session = Session()
    session.answer(1.0)
    session.hears(2.0, 24_000)
    session.at(2.0, ev.AudioLost(direction="output", reason="The loudspeaker was disconnected."))
    block = session.view.blocks[0]
    assert (block.interrupted, block.text[: block.heard], block.places) == (False, "Once upon", ())
    session.at(3.0, ev.SessionEnded(reason="x"))
    writer = PlainWriter()
    lines = [line for event in session.events for line in writer.feed(event)]
    assert "model: Once upon [not heard: a time there was a fox.]" in lines


def lost(session: Session, t: float, heard: int) -> None:
    """Lose the loudspeaker after `heard` words have been heard."""
    session.hears(t, heard * 12_000)
    cut = {"cut_below": 0, "heard_samples": heard * 12_000, "unheard_samples": 24_000}
    words = "".join(WORDS[:heard])
    session.at(t, ev.TurnInterrupted(by="device", heard_text=words.rstrip(), unheard_text="x", **cut))
    session.at(t, ev.AudioLost(direction="output", reason="The loudspeaker was disconnected."))


def test_what_is_heard_of_an_answer_after_its_lost_loudspeaker_is_back_is_shown_as_heard() -> None:
    session = Session()
    session.words(1.0, 0, 4)
    lost(session, 2.0, 2)
    session.words(3.0, 4, 6)
    session.opens(4.0, again=True)
    assert session.blocks == [("Once upon a time there was", "Once upon")]
    session.hears(5.1, 6 * 12_000)
    session.words(5.2, 6, 8)
    assert session.blocks == [("Once upon a time there", "Once upon"), ("was a fox.", None)]
    assert session.lit(5.11) == "was a"
    session.at(7.0, ev.TurnCompleted(outcome="complete"))
    session.at(7.0, ev.PlaybackDrained(of=1))
    assert session.lit(0.0) == "was a fox."
    assert all(block.done and not block.places for block in session.view.blocks)
    writer = PlainWriter()
    lines = [line for event in session.events for line in writer.feed(event)]
    assert [line for line in lines if line.startswith("model")] == [
        "model: Once upon [interrupted, not heard: a time there]",
        "model: was a fox.",
    ]


def test_an_answer_that_is_heard_from_the_middle_of_a_long_piece_of_text_on_is_divided_there() -> None:
    session = Session()
    text = "".join(WORDS)
    session.at(1.0, ev.TranscriptDelta(side="model", text=text, sample=0, samples=len(text) * 3_000))
    lost(session, 2.0, 2)
    session.opens(3.0, again=True)
    first = 3_000 * text.index("there")
    session.at(4.0, ev.PlaybackHeard(of=1, first=first, count=3_000))
    assert session.blocks == [("Once upon a time", "Once upon"), ("there was a fox.", None)]
    assert session.view.blocks[-1].places == ((0, first, 3_000 * len("there was a fox.")),)


def test_an_answer_of_which_nothing_was_heard_before_is_whole() -> None:
    session = Session()
    session.words(1.0, 0, 8)
    lost(session, 2.0, 0)
    session.opens(3.0, again=True)
    session.at(4.0, ev.PlaybackHeard(of=1, first=0, count=3_000))
    assert session.blocks == [("Once upon a time there was a fox.", None)]
    assert not session.view.blocks[0].interrupted


def test_a_loudspeaker_that_is_lost_and_back_twice_in_an_answer_leaves_two_gaps() -> None:
    session = Session()
    session.words(1.0, 0, 8)
    lost(session, 2.0, 2)
    session.opens(3.0, again=True)
    session.hears(4.0, 4 * 12_000)
    lost(session, 4.5, 5)
    session.opens(5.0, again=True)
    session.hears(6.0, 8 * 12_000)
    assert session.blocks == [("Once upon a", "Once upon"), ("time there was a", "time there"), ("fox.", None)]


def test_an_answer_that_is_cut_off_while_its_loudspeaker_is_lost_stays_unheard() -> None:
    session = Session()
    session.words(1.0, 0, 8)
    lost(session, 2.0, 2)
    cut = {"cut_below": 2, "heard_samples": 24_000, "unheard_samples": 72_000}
    session.at(3.0, ev.TurnInterrupted(by="typed", heard_text="Once upon", unheard_text=" a time...", **cut))
    block = session.view.blocks[0]
    assert (block.text[: block.heard], block.places, block.done) == ("Once upon", (), True)


def test_without_a_loudspeaker_and_in_older_recordings_all_text_is_shown_as_said() -> None:
    silent = Session(output="")
    silent.answer(1.0)
    older = Session()
    older.at(1.0, ev.TranscriptDelta(side="model", text="Once upon a time"))
    for session in (silent, older):
        session.hears(2.0, 12_000)
        (block,) = session.view.blocks
        assert block.places == ()
        assert session.view.playhead is None
        assert session.lit(0.0) == block.text


def test_a_complete_generation_stretches_what_was_placed_by_its_length() -> None:
    session = Session()
    session.answer(1.0)
    before = session.view.blocks[-1].places
    session.at(1.1, ev.GenerationCompleted(samples=16 * 12_000))
    after = session.view.blocks[-1].places
    assert [first for _, first, _ in after] == [2 * first for _, first, _ in before]


def test_a_view_with_words_ahead_survives_json_and_goes_on_as_before() -> None:
    session = Session()
    session.answer(1.0)
    session.hears(2.0, 24_000)
    view = session.view
    restored = SessionView.from_json(json.loads(json.dumps(view.to_json())))
    assert restored.blocks == view.blocks
    assert restored.playhead == view.playhead
    drained = ev.Event(len(session.events) + 1, 3.0, 1, 1, ev.PlaybackDrained(of=1))
    apply(restored, drained)
    assert restored.blocks[-1].places == ()
