"""Turns, generations and interruptions: speaker, heard part, dropped part."""

from __future__ import annotations

from tests.unit.session.core_support import MS, Bench

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import Cut, Emit
from gemini_live_runtime.tools.dispatch import Outcome


def a_whole_turn(bench: Bench) -> None:
    bench.content(inputTranscription={"text": "what time is it"})
    bench.audio(200)
    bench.content(outputTranscription={"text": "It is noon."})
    bench.content(generationComplete=True)
    gen = bench.core.state.ledger.number
    bench.drains(gen)
    bench.content(turnComplete=True)


def test_a_spoken_turn_is_opened_by_its_transcript_and_closed_by_the_server(bench: Bench) -> None:
    a_whole_turn(bench)
    assert bench.last(ev.TurnStarted).by == "voice"
    assert bench.last(ev.TurnCompleted).outcome == "complete"
    assert [e.turn for e in bench.emits(ev.TurnStarted)] == [1]
    assert bench.core.is_quiet


def test_turns_and_generations_advance_together_when_nothing_is_cut(bench: Bench) -> None:
    for _ in range(3):
        a_whole_turn(bench)
    assert [e.turn for e in bench.emits(ev.TurnCompleted)] == [1, 2, 3]
    assert bench.played == [1, 2, 3]


def test_a_model_that_speaks_unasked_opens_a_turn_of_its_own(bench: Bench) -> None:
    bench.audio(100)
    assert bench.last(ev.TurnStarted).by == "model"


def test_typed_text_opens_a_turn_and_is_sent_once() -> None:
    bench = Bench(mode="text").connect()
    bench.types("hello")
    assert bench.last(ev.TurnStarted).by == "typed"
    assert bench.last(ev.TextSent).text == "hello"
    assert bench.sent == [
        {"clientContent": {"turns": [{"role": "user", "parts": [{"text": "hello"}]}], "turnComplete": True}}
    ]


def test_text_for_a_model_that_takes_it_only_as_realtime_input_travels_so() -> None:
    bench = Bench(mode="text", model="gemini-3.1-flash-live-preview").connect()
    bench.types("hello")
    assert bench.sent == [{"realtimeInput": {"text": "hello"}}]


def test_text_typed_before_the_connection_is_ready_waits_for_it() -> None:
    bench = Bench(mode="text")
    bench.types("early")
    assert bench.sent == []
    bench.connect()
    assert len(bench.sent) == 1


def test_text_that_waited_for_a_connection_that_failed_goes_out_with_one_that_is_asked_for() -> None:
    from gemini_live_runtime.errors import UnreachableError

    bench = Bench(mode="text")
    bench.types("early")
    bench.do(bench.core.connection.on_disconnected(bench.now, UnreachableError("no network")))
    assert (bench.sent, bench.core.is_quiet) == ([], True)
    bench.connect()
    assert "early" in str(bench.sent)


def test_text_that_waited_for_a_connection_until_the_end_is_reported() -> None:
    bench = Bench(mode="text")
    bench.types("early")
    bench.do(bench.core.end(bench.now, "hung up", 0))
    assert "early" in bench.last(ev.CommandRefused).reason


def test_the_servers_interruption_cuts_the_answer_and_keeps_what_was_heard(bench: Bench) -> None:
    bench.content(inputTranscription={"text": "tell me a story"})
    bench.audio(1000)
    bench.content(outputTranscription={"text": "Once upon a time there was a fox"})
    bench.plays(1, 500)
    bench.content(interrupted=True)
    cut = bench.last(ev.TurnInterrupted)
    assert (cut.by, cut.heard_samples, cut.unheard_samples) == ("server", 500 * MS, 500 * MS)
    assert cut.heard_text + cut.unheard_text == "Once upon a time there was a fox"
    assert cut.heard_text == "Once upon a time"
    assert bench.last(ev.TurnCompleted).outcome == "interrupted"


def test_the_completion_after_an_interruption_ends_no_second_turn(bench: Bench) -> None:
    bench.audio(1000)
    bench.content(interrupted=True)
    bench.content(inputTranscription={"text": "wait"})
    bench.content(turnComplete=True)
    assert [c.outcome for c in bench.all(ev.TurnCompleted)] == ["interrupted"]
    bench.audio(100)
    bench.content(turnComplete=True)
    assert [e.turn for e in bench.emits(ev.TurnCompleted)] == [1, 2]


def test_an_answer_that_follows_an_interruption_without_completion_is_played(bench: Bench) -> None:
    bench.audio(1000)
    bench.content(interrupted=True)
    bench.audio(100)
    bench.content(turnComplete=True)
    assert bench.played == [1, 2]
    assert [c.outcome for c in bench.all(ev.TurnCompleted)] == ["interrupted", "complete"]


def test_what_still_arrives_of_a_locally_cut_answer_is_never_played(bench: Bench) -> None:
    bench.audio(1000)
    bench.order(cmd.Interrupt())
    bench.audio(1000)
    bench.audio_message(1000)
    assert bench.played == [1]
    bench.content(turnComplete=True)
    bench.audio(100)
    assert bench.played == [1, 2]


def test_a_local_cut_survives_the_servers_own_interruption_of_the_same_answer(bench: Bench) -> None:
    bench.audio(1000)
    bench.order(cmd.Interrupt())
    bench.content(interrupted=True)
    bench.content(turnComplete=True)
    assert len(bench.all(ev.TurnInterrupted)) == 1
    bench.audio(100)
    assert bench.played == [1, 2]


def test_the_transcript_of_a_cut_answer_that_still_arrives_stays_with_its_turn(bench: Bench) -> None:
    bench.audio(1000)
    bench.types("stop, what time is it")
    bench.content(outputTranscription={"text": " and then"})
    late = bench.emits(ev.TranscriptDelta)[-1]
    assert (late.turn, bench.core.state.turns.number) == (1, 2)


def test_typing_while_the_model_speaks_stops_it_and_begins_a_new_turn(bench: Bench) -> None:
    bench.audio(1000)
    bench.plays(1, 200)
    bench.types("stop")
    bench.content(interrupted=True)
    bench.content(turnComplete=True)
    bench.audio(100)
    bench.content(turnComplete=True)
    assert [c.by for c in bench.all(ev.TurnInterrupted)] == ["typed"]
    assert [c.outcome for c in bench.all(ev.TurnCompleted)] == ["interrupted", "complete"]
    assert bench.played == [1, 2]


def test_typing_when_nothing_is_said_does_not_drop_the_answer_to_it(bench: Bench) -> None:
    a_whole_turn(bench)
    bench.types("and now?")
    bench.audio(100)
    assert bench.played == [1, 2]


def test_an_answer_that_is_only_still_playing_is_cut_without_touching_the_next(bench: Bench) -> None:
    bench.audio(1000)
    bench.content(generationComplete=True)
    bench.content(turnComplete=True)
    bench.plays(1, 100)
    bench.order(cmd.Interrupt())
    assert [e.cut_below for e in bench.effects if isinstance(e, Cut)] == [2]
    bench.types("next")
    bench.audio(100)
    assert bench.played == [1, 2]


def test_what_was_heard_to_its_end_frees_the_floor_once_the_speech_behind_it_is_cut(bench: Bench) -> None:
    # What waits for the floor is asked for then: before the cut there would be two speeches at once.
    bench.audio(200)
    bench.content(generationComplete=True)
    bench.content(turnComplete=True)
    bench.audio(1000)
    bench.plays(1, 200)
    bench.order(cmd.Interrupt())
    told = [effect.payload if isinstance(effect, Emit) else effect for effect in bench.effects]
    kinds = [type(one) for one in told]
    interrupted = [one.status for one in told if isinstance(one, ev.SpeechChanged)].index("interrupted")
    speeches = [at for at, kind in enumerate(kinds) if kind is ev.SpeechChanged]
    assert speeches[interrupted] < kinds.index(Cut) < kinds.index(ev.PlaybackDrained)


def test_an_interruption_after_the_completion_stops_what_still_plays(bench: Bench) -> None:
    bench.audio(1000)
    bench.content(turnComplete=True)
    bench.plays(1, 100)
    bench.content(interrupted=True)
    assert bench.last(ev.TurnInterrupted).heard_samples == 100 * MS
    bench.content(turnComplete=True)
    bench.audio(100)
    assert bench.played == [1, 2]


def test_an_interruption_before_anything_was_generated_leaves_the_users_turn_open(bench: Bench) -> None:
    bench.content(inputTranscription={"text": "I would"})
    bench.content(interrupted=True)
    bench.content(turnComplete=True)
    bench.content(inputTranscription={"text": " like a table"})
    assert len(bench.all(ev.TurnStarted)) == 1
    assert bench.all(ev.TurnInterrupted) == []


def test_interrupting_silence_is_refused_with_a_reason(bench: Bench) -> None:
    bench.order(cmd.Interrupt())
    assert "nothing to interrupt" in bench.last(ev.CommandRefused).reason


def test_a_turn_without_any_content_is_marked_empty(bench: Bench) -> None:
    bench.content(inputTranscription={"text": "hello"})
    bench.content(turnComplete=True, turnCompleteReason="RESPONSE_REJECTED")
    completed = bench.last(ev.TurnCompleted)
    assert (completed.outcome, completed.reason) == ("empty", "RESPONSE_REJECTED")


def test_an_interaction_in_progress_is_not_over_at_its_first_completion(bench: Bench) -> None:
    bench.audio(100)
    bench.content(turnComplete=True, interactionStatus="IN_PROGRESS")
    assert bench.all(ev.TurnCompleted) == []
    bench.audio(100)
    bench.content(turnComplete=True, interactionStatus="IDLE")
    assert len(bench.all(ev.TurnCompleted)) == 1


def test_one_message_with_content_and_completion_loses_neither(bench: Bench) -> None:
    bench.content(
        modelTurn={"role": "model", "parts": [{"text": "a"}, {"text": "b"}]}, generationComplete=True, turnComplete=True
    )
    assert [d.text for d in bench.all(ev.TranscriptDelta)] == ["a", "b"]
    assert bench.last(ev.TurnCompleted).outcome == "complete"


def test_a_call_of_an_answer_that_was_cut_leaves_no_turn_open(bench: Bench) -> None:
    bench.audio(500)
    bench.order(cmd.Interrupt())
    bench.says(toolCall={"functionCalls": [{"id": "c1", "name": "t", "args": {}}]})
    bench.tool_ends(Outcome("c1", "t", "ok", {}, 1.0))
    bench.content(turnComplete=True)
    assert bench.last(ev.ToolFinished).delivered
    bench.passes(3)
    assert bench.core.is_quiet


def test_an_answer_is_owed_when_a_turn_is_complete_with_its_calls(bench: Bench) -> None:
    bench.types("hello")
    bench.says(toolCall={"functionCalls": [{"id": "c1", "name": "t", "args": {}}]})
    bench.content(turnComplete=True)
    bench.tool_ends(Outcome("c1", "t", "ok", {}, 1.0))
    assert not bench.core.is_quiet


def test_an_answer_may_follow_a_result_that_crossed_the_end_of_the_turn_on_the_wire(bench: Bench) -> None:
    bench.types("hello")
    bench.says(toolCall={"functionCalls": [{"id": "c1", "name": "t", "args": {}}]})
    bench.tool_ends(Outcome("c1", "t", "ok", {}, 1.0))
    bench.content(turnComplete=True)
    bench.passes(5)
    assert not bench.core.is_quiet
    bench.content(outputTranscription={"text": "It is done."}, turnComplete=True)
    assert bench.core.is_quiet


def test_an_answer_may_follow_a_result_while_what_was_said_before_is_still_played(bench: Bench) -> None:
    bench.audio(3000)
    bench.says(toolCall={"functionCalls": [{"id": "c1", "name": "t", "args": {}}]})
    bench.content(generationComplete=True, turnComplete=True)
    bench.tool_ends(Outcome("c1", "t", "ok", {}, 1.0))
    bench.passes(3)
    bench.drains(1)
    assert not bench.core.is_quiet
    bench.passes(10)
    assert bench.core.is_quiet


def test_silence_long_after_a_result_is_the_answer(bench: Bench) -> None:
    bench.says(toolCall={"functionCalls": [{"id": "c1", "name": "t", "args": {}}]})
    bench.tool_ends(Outcome("c1", "t", "ok", {}, 1.0))
    bench.passes(3)
    bench.content(turnComplete=True)
    assert bench.core.is_quiet


def test_typing_while_the_server_holds_the_end_of_a_played_answer_belongs_to_a_turn_of_its_own() -> None:
    bench = Bench(mode="text").connect()
    bench.types("one")
    bench.audio(500)
    bench.content(generationComplete=True)
    bench.drains(1)
    bench.types("two")
    bench.content(turnComplete=True)
    bench.audio(100)
    bench.content(generationComplete=True)
    bench.drains(2)
    bench.content(turnComplete=True)
    assert [(e.turn, e.payload.outcome) for e in bench.emits(ev.TurnCompleted)] == [(1, "complete"), (2, "complete")]
    assert bench.played == [1, 2]


def test_the_answer_to_a_text_that_was_overtaken_does_not_end_the_newer_ones_turn() -> None:
    bench = Bench(mode="text").connect()
    bench.types("one")
    bench.types("two")
    bench.audio(100)
    bench.content(interrupted=True)
    bench.content(turnComplete=True)
    assert bench.last(ev.SessionState).word in ("thinking", "interrupted")
    bench.audio(100)
    bench.content(generationComplete=True)
    bench.drains(2)
    bench.content(turnComplete=True)
    assert bench.emits(ev.TurnCompleted)[-1].turn == 2
    assert bench.core.is_quiet


def test_a_late_transcript_after_the_end_of_a_turn_is_not_waited_on_for_ever(bench: Bench) -> None:
    a_whole_turn(bench)
    bench.content(inputTranscription={"text": " please"})
    assert not bench.core.is_quiet
    bench.passes(25)
    assert bench.core.is_quiet
    assert bench.last(ev.TurnCompleted).outcome == "empty"


def test_an_unanswered_text_is_said() -> None:
    bench = Bench(mode="text").connect()
    bench.types("hello?")
    bench.passes(11)
    assert bench.last(ev.Notice).code == "answer-late"


def test_a_tool_that_gives_up_by_itself_is_still_answered(bench: Bench) -> None:
    bench.says(toolCall={"functionCalls": [{"id": "c1", "name": "t", "args": {}}]})
    bench.tool_ends(Outcome("c1", "t", "cancelled", {}, 1.0))
    assert (bench.last(ev.ToolFinished).status, bench.last(ev.ToolFinished).delivered) == ("error", True)


def test_an_interruption_after_the_end_leaves_the_next_completion_its_meaning() -> None:
    bench = Bench(mode="text").connect()
    a_whole_turn(bench)
    bench.content(interrupted=True)
    bench.types("silent one")
    bench.content(turnComplete=True)
    # It was asked again, once.
    bench.content(turnComplete=True)
    assert bench.last(ev.TurnCompleted).outcome == "empty"
    assert bench.core.is_quiet


def test_thinking_aloud_is_not_speaking() -> None:
    bench = Bench(mode="text").connect()
    bench.types("hard question")
    bench.content(modelTurn={"parts": [{"text": "Let me see", "thought": True}]})
    assert bench.word == "thinking"


def test_a_complete_answer_that_no_device_played_is_not_cut_later() -> None:
    bench = Bench(mode="text").connect()
    bench.types("one")
    bench.audio(500)
    bench.content(generationComplete=True)
    bench.do(bench.core.audio.on_playback_drained(bench.now, 1))
    bench.content(turnComplete=True)
    bench.types("two")
    bench.content(interrupted=True)
    assert bench.all(ev.TurnInterrupted) == []
