"""The view shows the open question with the whole call, and each answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.consent_fold import MAX_CALL
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.plain import PlainWriter


def view_of(*payloads: ev.Payload) -> SessionView:
    view = SessionView()
    for number, payload in enumerate(payloads, 1):
        apply(view, ev.Event(number, float(number), 1, 0, payload))
    return view


def asked(**args: Any) -> ev.ConsentAsked:
    return ev.ConsentAsked(id="q1", tool="pay", call_id="c1", args=args, reason="The agent asks.", expires_s=30.0)


def given(
    by: ev.ConsentBy = "operator", *, yes: bool = True, ident: str = "q1", remembered: bool = False
) -> ev.Payload:
    return ev.ConsentGiven(id=ident, tool="pay", call_id="c1", yes=yes, by=by, remembered=remembered)


def test_an_open_question_has_the_call_with_all_its_arguments() -> None:
    card = view_of(asked(euros=7, text="a " * 200 + "rm -rf")).harness.consent
    assert card is not None
    assert card.text.startswith('pay(euros=7, text="a a')
    assert card.text.endswith('rm -rf")')
    assert not card.is_cut


def test_arguments_cannot_write_on_the_screen_by_themselves() -> None:
    card = view_of(asked(text="\x1b[2Jgone\nMay it?\u202e")).harness.consent
    assert card is not None
    assert not set("\x1b\n\u202e") & set(card.text)


def test_a_call_that_is_too_long_to_be_shown_says_so() -> None:
    card = view_of(asked(text="x" * 5000)).harness.consent
    assert card is not None
    assert card.is_cut
    assert card.text.endswith(f"({5000 + len('pay(text=') + 3 - MAX_CALL:,} more characters)")


def test_its_answer_closes_it_and_that_of_another_does_not() -> None:
    assert view_of(asked(), given(ident="q2")).harness.consent is not None
    assert view_of(asked(), given()).harness.consent is None


@pytest.mark.parametrize(
    "end",
    [
        ev.SessionEnded(reason="hung up", exit_code=0),
        ev.SessionResumed(after="crash", wall=0.0, record="off", program="test", kept=1),
    ],
    ids=lambda end: end.type,
)
def test_no_question_outlives_its_engine(end: ev.Payload) -> None:
    assert view_of(asked(), end).harness.consent is None


def test_a_view_that_is_kept_comes_back_with_its_question() -> None:
    view = view_of(asked(euros=7))
    assert SessionView.from_json(view.to_json()).harness == view.harness


def test_question_and_answer_are_lines_of_plain_output() -> None:
    writer = PlainWriter()
    events = (asked(euros=7), given(yes=False, by="time"), given(remembered=True))
    lines = [line for number, one in enumerate(events, 1) for line in writer.feed(ev.Event(number, 0.0, 1, 0, one))]
    assert lines == [
        "notice: warning: May pay(euros=7) run? The agent asks.",
        "notice: info: pay was not run: nobody agreed in time",
        "notice: info: pay may run: the operator agreed, and that is remembered",
    ]


def test_a_question_that_is_asked_aloud_says_how_far_it_is_and_why_only_keys_answer() -> None:
    aloud = replace(asked(), voice=True, question="Shall I\u202e pay?")
    card = view_of(aloud).harness.consent
    assert card is not None
    assert (card.voice, card.question) == ("asking", "Shall I pay?")
    listening = ev.ConsentVoice(id="q1", state="listening")
    card = view_of(aloud, listening).harness.consent
    assert card is not None
    assert card.voice == "listening"
    view = view_of(aloud, listening, ev.ConsentVoice(id="q1", state="off", reason="the model spoke"))
    card = view.harness.consent
    assert card is not None
    assert (card.voice, card.voice_reason) == ("off", "the model spoke")
    assert "by key only: the model spoke" in view.blocks[-1].text


def test_a_question_that_is_not_asked_aloud_has_the_reason_and_one_without_wording_has_none() -> None:
    card = view_of(replace(asked(), voice_reason="the microphone is off")).harness.consent
    assert card is not None
    assert (card.voice, card.voice_reason) == ("off", "the microphone is off")
    card = view_of(asked()).harness.consent
    assert card is not None
    assert (card.voice, card.voice_reason) == ("", "")


def test_the_voice_of_another_question_changes_nothing() -> None:
    view = view_of(asked(), ev.ConsentVoice(id="q2", state="off", reason="x"))
    assert view.harness.consent is not None
    assert view.harness.consent.voice == ""


@pytest.mark.parametrize(
    ("yes", "told"), [(True, "pay may run: the user said yes"), (False, "was not run: the user said no")]
)
def test_an_answer_by_voice_is_told_with_its_words(yes: bool, told: str) -> None:
    answer = replace(given("voice", yes=yes), said="well\u202e then")
    text = view_of(asked(), answer).blocks[-1].text
    assert told in text
    assert "(\u201cwell then\u201d)" in text
