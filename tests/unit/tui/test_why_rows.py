"""Explanations and previews as lines."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.collection import PAID, PLAN, tree

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_view import TransitionStatus
from gemini_live_runtime.journal.fold.packing import pack
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_tui.editors.preview_rows import edit_lines, phase_lines
from gemini_live_tui.painting.glyphs import UNICODE
from gemini_live_tui.painting.runs import laid_out, plain, width_of
from gemini_live_tui.panes.why_rows import Reason, explained, lines_of, reason_of, reason_of_transition


def before(*payloads: ev.Payload) -> SessionView:
    view = SessionView()
    for seq, payload in enumerate(payloads, 1):
        apply(view, ev.Event(seq, float(seq), 1, 1, payload))
    return view


def wrote(key: str, value: Any, old: Any = None, **more: Any) -> ev.StateChanged:
    given = {"origin": "extractor", "by": "Said", "mutation": 1, "added": old is None, **more}
    return ev.StateChanged(key=key, old=old, new=value, **given)


def at(payload: ev.Payload) -> ev.Event:
    return ev.Event(99, 99.0, 4, 1, payload)


def text(reason: Reason | None) -> str:
    assert reason is not None
    return f"{reason.title}\n{plain(lines_of(reason, UNICODE))}"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("words", "You said as many words as the agent takes for an interruption."),
        ("duration", "Your voice lasted long enough for our own voice detector to pass it on as speech."),
        ("server", "The server's voice detector heard you speak."),
        ("typed", "A text was typed, which always interrupts the answer."),
        ("key", "A key, a command or code of the agent stopped it."),
    ],
)
def test_a_cut_names_its_rule_in_plain_words(rule: Any, says: str) -> None:
    heard = {"cut_below": 2, "heard_samples": 36_000, "unheard_samples": 84_000, "heard_text": "", "unheard_text": ""}
    said = text(reason_of(at(ev.TurnInterrupted(by="voice", rule=rule, **heard)), before()))
    assert said.splitlines() == ["The answer was cut", f"rule  {rule}", says, "1.5 s of 5.0 s had been heard."]
    assert not explained(at(ev.TurnInterrupted(by="device", **heard)))


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("duration", "A voice of 0.4 s over the answer was too short to interrupt it: that takes 2.0 s."),
        ("words", "A voice of 0.4 s over the answer had 1 word: it takes 2 to interrupt."),
        ("protected", "The answer may not be interrupted: the model got silence in place of the microphone's sound."),
        (
            "false",
            "A voice of 0.4 s over the answer had no words: the answer, paused meanwhile, went on from where it was.",
        ),
    ],
)
def test_an_answer_that_was_not_cut_names_its_rule_too(rule: Any, says: str) -> None:
    ignored = ev.InterruptionIgnored(rule=rule, of=1, voice_s=0.4, words=int(rule == "words"), needed=2.0)
    assert text(reason_of(at(ignored), before())).splitlines() == ["The answer was not cut", f"rule  {rule}", says]


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        ("", "It never began: it was interrupted, or another answer or agent took its place."),
        ("The link was given up", "The link was given up."),
    ],
)
def test_a_speech_that_never_began_says_what_kept_it_from_that(problem: str, says: str) -> None:
    speech: dict[str, Any] = {"id": "speech-3", "source": "reply", "reason": "generate_reply"}
    assert not explained(at(ev.SpeechChanged(status="asked", **speech)))
    waited = before(ev.SpeechChanged(status="queued", **speech))
    dropped = ev.SpeechChanged(status="dropped", problem=problem, protected=True, **speech)
    assert text(reason_of(at(dropped), waited)).splitlines() == [
        "generate_reply was dropped",
        says,
        "It waited for 1 min 38 s.",
        "source  reply",
        "speech  speech-3",
    ]


def handed_off(by: Any, reason: str = "", **more: Any) -> ev.AgentHandedOff:
    return ev.AgentHandedOff(previous="desk", agent="specialist", by=by, reason=reason, **more)


def test_a_hand_off_names_the_call_that_asked_for_it_its_wait_and_what_the_model_knows() -> None:
    calls = (
        ev.ToolCalled(call_id="1", name="escalate", args={"issue": "no signal"}),
        ev.ToolCalled(call_id="2", name="look_up", args={"of": "router"}),
    )
    event = at(handed_off("tool", "escalate", via="connection", chat="keep", waited_s=1.234))
    assert explained(event)
    assert text(reason_of(event, before(*calls))).splitlines() == [
        "desk to specialist",
        "The tool escalate returned the agent.",
        'called with {"issue": "no signal"}',
        "It waited 1.2 s until the model had finished speaking.",
        "The model was told by another connection, with the agent's instruction and tools.",
        "It knows what was said before.",
    ]


@pytest.mark.parametrize(
    ("by", "reason", "says"),
    [
        ("program", "update_agent", "The program asked for it."),
        ("operator", "asked for", "The operator asked for it."),
        ("task", "desk", "A task of desk begins."),
        ("task", "survey is done", "For a task: survey is done."),
        ("tool", "escalate", "The tool escalate returned the agent."),
    ],
)
def test_a_hand_off_says_who_asked_for_it(by: Any, reason: str, says: str) -> None:
    said = text(reason_of(at(handed_off(by, reason, via="instruction", chat="fresh")), before())).splitlines()
    assert said[1:] == [
        says,
        "It did not have to wait for the model to finish speaking.",
        "The model was told by a new instruction on the same connection.",
        "It is not told what was said before.",
    ]


def test_a_restored_agent_is_explained_without_a_wait() -> None:
    said = text(reason_of(at(handed_off("restored")), before())).splitlines()
    assert said[1:] == [
        "The session was taken up again; this agent spoke last in it.",
        "It knows what was said before.",
    ]


def test_a_hand_off_that_was_refused_says_why_and_one_that_waits_needs_no_explanation() -> None:
    asked = ev.HandoffRequested(agent="specialist", by="operator", reason="asked for")
    assert not explained(at(asked))
    refused = ev.HandoffRequested(agent="specialist", by="operator", reason="asked for", problem="The session is over")
    assert text(reason_of(at(refused), before())).splitlines() == [
        "specialist did not take over",
        "The operator asked for it.",
        "The session is over",
        "The present agent goes on.",
    ]


def test_a_transition_shows_its_guard_and_the_change_that_turned_it() -> None:
    view = before(wrote("app:other", 1), wrote("app:understood", True), wrote("app:noise", 2))
    guard = tree(
        "to verify", True, children=(tree("app:understood is true", True, ("app:understood", True, "x Said")),)
    )
    entered = ev.PhaseEntered(
        phase="verify", previous="notice", trigger="guard", because="they understood", explanation=guard, seconds=16.3
    )
    said = text(reason_of(at(entered), view))
    assert said == "\n".join(
        [
            "notice to verify",
            "because they understood",
            "It was in notice for 16 s.",
            "",
            "What decided",
            "✓ yes to verify",
            "  ✓ yes app:understood is true",
            "        app:understood = true  by x Said",
            "",
            "What triggered it",
            "app:understood  not set → true",
            "  at 00:02 in turn 1, by extractor Said, event 2",
        ]
    )


def test_an_operators_transition_says_so() -> None:
    entered = ev.PhaseEntered(phase="paid", previous="plan", trigger="operator", because="asked for")
    assert "The operator took it here." in text(reason_of(at(entered), before()))


def test_a_way_that_is_not_gone_says_what_is_missing() -> None:
    way = TransitionStatus("plan", "requirement missing", "", pack(tree("x", True)), missing=("app:monthly", "app:day"))
    said = text(reason_of_transition(way, before(wrote("app:day", "Monday")).agent_view))
    assert "plan requires what is not there yet" in said
    assert "○ open app:monthly is not set" in said
    assert 'app:day = "Monday"  by extractor Said' in said


def test_a_refused_finding_says_why_it_did_not_become_state() -> None:
    decided = ev.PromotionDecided(
        extractor="Said", field="owed", key="app:owed", value=5, accepted=False, reason="the tool knows better"
    )
    said = text(reason_of(at(decided), before(wrote("app:owed", 300, origin="tool", by="verify"))))
    assert "found owed = 5" in said
    assert "It did not become state: the tool knows better" in said
    assert "app:owed = 300  by tool verify" in said


def test_a_refused_tool_says_what_is_allowed() -> None:
    entered = ev.PhaseEntered(phase="notice", trigger="initial", tools=("wait",))
    called = ev.ToolCalled(call_id="c", name="pay", args={"amount": 5})
    finished = ev.ToolFinished(
        call_id="c", name="pay", status="refused", result={"error": "not in this phase"}, ms=0.0, delivered=True
    )
    said = text(reason_of(at(finished), before(entered, called)))
    for part in ("pay was refused", "not in this phase", '{"amount": 5}', "allowed in notice: wait"):
        assert part in said


def test_a_nudge_says_what_is_open() -> None:
    acted = ev.RepairActed(phase="verify", action="nudge", unfulfilled=("user:name",), attempt=2)
    said = text(reason_of(at(acted), before()))
    assert "nudged to ask again" in said
    assert "○ open user:name is not set" in said


def test_a_blocked_transition_says_what_it_requires() -> None:
    blocked = ev.PhaseBlocked(phase="negotiate", target="plan", missing=("app:plan",), preparing=("load",))
    said = text(reason_of(at(blocked), before()))
    for part in ("negotiate to plan waits", "preparing load", "app:plan is not set"):
        assert part in said


@pytest.mark.parametrize(
    "payload",
    [
        ev.PromotionDecided(extractor="x", field="f", key="k", value=1, accepted=True, reason=""),
        ev.ToolFinished(call_id="c", name="n", status="ok", result={}, ms=1.0, delivered=True),
        ev.TurnStarted(by="voice"),
    ],
)
def test_what_needs_no_explaining_has_none(payload: ev.Payload) -> None:
    assert not explained(at(payload))
    assert reason_of(at(payload), before()) is None


def test_lines_are_folded_to_a_width() -> None:
    way = TransitionStatus("paid", "guard is false", "nothing is left " * 9, pack(PAID))
    rows = list(laid_out(lines_of(reason_of_transition(way, before().agent_view), UNICODE), 40))
    assert all(width_of(row) <= 40 for row in rows)


# -- previews --------------------------------------------------------------------------------------------------------


def test_an_edit_shows_everything_that_follows_from_it() -> None:
    preview = ev.EditPreviewed(
        command_id="c",
        values=({"key": "app:plan", "old": None, "new": "gold", "added": True, "removed": False},),
        derived=({"key": "derived:left", "old": 300, "new": 250, "added": False, "removed": False},),
        watchers=(
            {"name": "anger", "key": "app:anger", "old": 0.3, "new": 0.9, "muted": False},
            {"name": "quiet", "key": "app:anger", "old": 0.3, "new": 0.9, "muted": True},
        ),
        patterns=(
            {"name": "angry", "how": "begins", "text": "app:anger > 0.7 for 30 s", "wait_s": 30.0},
            {"name": "gone", "how": "ends", "before": "2 of 3 turns", "after": "0 of 3 turns"},
            {"name": "edits", "how": "moves", "before": "0 of 3", "after": "1 of 3 in 0.0 s"},
            {"name": "twice", "how": "fires", "times": 2, "because": "2 edit.applied within 60 s: 2 of 2"},
        ),
        guards=({"to": "paid", "before": "guard is false", "after": "ready"},),
        phase="paid",
        unknown=("what anger does",),
    )
    assert plain(edit_lines(preview, UNICODE)).split("\n") == [
        '◆ app:plan  not set → "gold"',
        "◆ derived:left  300 → 250  computed",
        "● watcher anger fires  app:anger 0.3 → 0.9",
        "● watcher quiet would fire, but is muted  app:anger 0.3 → 0.9",
        "● pattern angry would start to hold, fires in 30 s if it stays so  app:anger > 0.7 for 30 s",
        "● pattern gone would stop holding  2 of 3 turns → 0 of 3 turns",
        "● pattern edits would progress  0 of 3 → 1 of 3 in 0.0 s",
        "● pattern twice would fire now, 2 times  2 edit.applied within 60 s: 2 of 2",
        "✓ transition to paid: blocked → ready",
        "▶ the conversation goes to paid",
        "? can't preview: what anger does",
    ]


def test_an_edit_without_consequences_says_so() -> None:
    value = {"key": "app:plan", "old": 1, "new": 2, "added": False, "removed": False}
    assert "Nothing else changes." in plain(edit_lines(ev.EditPreviewed(command_id="c", values=(value,)), UNICODE))
    same = {**value, "new": 1}
    assert "Nothing changes" in plain(edit_lines(ev.EditPreviewed(command_id="c", values=(same,)), UNICODE))


def test_an_edit_that_cannot_be_made_says_why() -> None:
    assert plain(edit_lines(ev.EditPreviewed(command_id="c", problem="app:owed is a number"), UNICODE)) == (
        "✗ no  app:owed is a number"
    )


def test_many_consequences_are_counted() -> None:
    values = tuple({"key": f"app:{n}", "old": 0, "new": 1, "added": False, "removed": False} for n in range(20))
    assert "and 14 more" in plain(edit_lines(ev.EditPreviewed(command_id="c", values=values), UNICODE))


def test_going_to_a_phase_shows_what_it_lacks_and_what_it_brings() -> None:
    preview = ev.PhasePreviewed(
        command_id="c", phase="plan", instruction="Read the plan.", missing=("app:monthly",), way=PLAN,
        tools_removed=("pay",), clears=("app:agreed",), runs=("greet",), prompts=True,
    )  # fmt: skip
    said = plain(phase_lines(preview, UNICODE))
    for part in (
        "lacks app:monthly, which it requires",
        "✗ no  app:monthly is set",
        "tools removed  pay",
        "keys removed   app:agreed",
        "code that runs greet",
        "the model speaks first",
        "instruction    Read the plan.",
    ):
        assert part in said
    assert "no transition leads there" in plain(phase_lines(ev.PhasePreviewed(command_id="c", phase="x"), UNICODE))


def test_an_instruction_that_cannot_be_made_is_shown_with_its_phase_and_harmlessly() -> None:
    unknown = ("instruction of plan: it raised ValueError: \x1b[31mno\u202e price\n\x07",)
    said = plain(phase_lines(ev.PhasePreviewed(command_id="c", phase="plan", unknown=unknown), UNICODE))
    assert said.split("\n") == [
        "no transition leads there from here",
        "? can't preview: instruction of plan: it raised ValueError: no price",
    ]
