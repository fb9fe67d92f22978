"""The state word, tools, controls and limits, as the operator sees them."""

from __future__ import annotations

import pytest
from tests.unit.session.core_support import Bench

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError, UsageError
from gemini_live_runtime.session.core.effects import CancelTool, End, EndActivity, InterruptModel, Microphone, RunTool
from gemini_live_runtime.session.core.generation import MAX_ANSWER_CHARS
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S, INTERRUPTED_SHOWN_S, WAIT_AFTER_VOICE_S
from gemini_live_runtime.session.core.tool_calls import MAX_IDS
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.tools.declaration import tool
from gemini_live_runtime.tools.dispatch import Outcome
from gemini_live_runtime.wire.codec import from_json
from gemini_live_runtime.wire.messages import ServerMessage


def call(bench: Bench, ident: str = "call-1", name: str = "get_time") -> None:
    bench.says(toolCall={"functionCalls": [{"id": ident, "name": name, "args": {"a_b": 1}}]})


def answer(bench: Bench, ident: str = "call-1", status: str = "ok", name: str = "get_time") -> None:
    outcome = Outcome(ident, name, status, {"output": 1}, 5.0)  # type: ignore[arg-type]
    bench.tool_ends(outcome)


@pytest.mark.parametrize("tokens", [10**400, 2**63, -(2**63) - 1, 1e300])
def test_a_count_beyond_64_bits_ends_no_session(bench: Bench, tokens: float) -> None:
    fields = {"usageMetadata": {"promptTokenCount": tokens, "responseTokenCount": 2_000_000}}
    message, problems = from_json(ServerMessage, fields)
    bench.do(bench.core.server.on_message(bench.now, message))
    assert problems == ("usageMetadata.promptTokenCount: expected a whole number of 64 bits, got a number",)
    assert bench.last(ev.UsageReported).cost_usd == 2.0


def test_a_call_that_is_open_runs_once_however_many_came_since(bench: Bench) -> None:
    for ident in ["slow", *(f"c{number}" for number in range(MAX_IDS)), "slow"]:
        call(bench, ident)
    assert [effect.call_id for effect in bench.effects if isinstance(effect, RunTool)].count("slow") == 1


def test_of_an_answer_without_end_the_beginning_is_kept(bench: Bench) -> None:
    for _ in range(3):
        bench.content(outputTranscription={"text": "x" * (MAX_ANSWER_CHARS // 2 + 1)})
    answer = bench.core.state.ledger.current(1)
    assert len("".join(answer.text)) == MAX_ANSWER_CHARS


# -- words -----------------------------------------------------------------------------------------------------------


def test_deltas_carry_the_sample_at_which_they_are_spoken_and_a_cut_keeps_what_was_heard_by_it(bench: Bench) -> None:
    bench.content(outputTranscription={"text": "Once upon"})
    bench.audio(600)
    bench.content(outputTranscription={"text": " a time"})
    bench.audio(2400)
    bench.content(outputTranscription={"text": " there was"})
    bench.audio(1000)
    found = [delta.sample for delta in bench.all(ev.TranscriptDelta)]
    assert found == [0, 14_400, 72_000]
    bench.plays(1, 2900)
    bench.content(interrupted=True)
    cut = bench.last(ev.TurnInterrupted)
    assert (cut.heard_text, cut.unheard_text) == ("Once upon a time", " there was")


def test_text_that_is_not_spoken_or_belongs_to_a_cut_answer_has_no_sample(bench: Bench) -> None:
    bench.content(modelTurn={"parts": [{"text": "written"}, {"text": "thought", "thought": True}]})
    bench.content(inputTranscription={"text": "said"})
    bench.audio(100)
    bench.order(cmd.Interrupt())
    bench.content(outputTranscription={"text": " late"})
    assert [delta.sample for delta in bench.all(ev.TranscriptDelta)] == [None] * 4


def test_words_that_come_after_their_sound_was_played_are_not_waited_for(bench: Bench) -> None:
    bench.audio(500)
    bench.content(generationComplete=True)
    bench.drains(1)
    bench.content(outputTranscription={"text": "Once"})
    assert bench.last(ev.TranscriptDelta).sample is None


def test_text_that_came_before_its_sound_is_not_heard_when_playback_runs_dry(bench: Bench) -> None:
    bench.content(outputTranscription={"text": "Once upon a time there was a fox in the wood"})
    bench.audio(500)
    bench.plays(1, 500)
    bench.content(interrupted=True)
    assert bench.last(ev.TurnInterrupted).heard_text == "Once"


def test_a_complete_answer_tells_its_length_and_is_heard_whole_when_all_was_played(bench: Bench) -> None:
    bench.content(outputTranscription={"text": "Once upon a time there was a fox"})
    bench.audio(1000)
    bench.content(generationComplete=True)
    assert bench.last(ev.GenerationCompleted).samples == 24_000
    bench.plays(1, 990)
    bench.heard[1] = 24_000
    bench.content(interrupted=True)
    assert bench.last(ev.TurnInterrupted).unheard_text == ""


def test_the_word_follows_a_spoken_turn(bench: Bench) -> None:
    bench.voice(True)
    bench.voice(False)
    bench.content(inputTranscription={"text": "hello"})
    bench.audio(100)
    bench.content(generationComplete=True)
    bench.drains(1)
    bench.content(turnComplete=True)
    assert bench.words == ["connecting", "listening", "hearing", "thinking", "speaking", "listening"]


def test_the_word_is_text_in_text_mode_and_when_the_microphone_is_muted(bench: Bench) -> None:
    bench.order(cmd.SetMicrophone(on=False))
    assert (bench.word, bench.last(ev.SessionState).reason) == ("text", "microphone muted")
    bench.order(cmd.SetMicrophone(on=True))
    bench.order(cmd.SetMode(mode="text"))
    assert (bench.word, bench.last(ev.SessionState).reason) == ("text", "")


def test_interrupted_is_shown_for_a_moment_only(bench: Bench) -> None:
    bench.audio(1000)
    bench.order(cmd.Interrupt())
    assert bench.word == "interrupted"
    bench.passes(INTERRUPTED_SHOWN_S + 0.1)
    assert bench.word == "listening"


def test_a_sound_that_was_no_speech_does_not_leave_the_model_thinking_for_ever(bench: Bench) -> None:
    bench.voice(True)
    bench.voice(False)
    assert bench.word == "thinking"
    assert not bench.core.is_quiet
    bench.passes(WAIT_AFTER_VOICE_S + 0.1)
    assert bench.word == "listening"
    assert not bench.core.is_quiet
    bench.passes(ANSWER_PATIENCE_S - WAIT_AFTER_VOICE_S)
    assert bench.core.is_quiet


def test_a_typed_turn_is_thinking_until_something_of_the_answer_comes() -> None:
    bench = Bench(mode="text").connect()
    bench.types("hello")
    assert bench.word == "thinking"
    bench.content(modelTurn={"parts": [{"text": "hi"}]})
    assert bench.word == "speaking"


def test_a_lost_connection_is_an_error_with_the_servers_reason(bench: Bench) -> None:
    bench.do(
        bench.core.connection.on_disconnected(
            bench.now, ConnectionClosedError("The quota is used up", close_code=1011, reason="quota", remedy="Wait")
        )
    )
    closed = bench.last(ev.ConnectionClosed)
    assert (closed.close_code, closed.reason, closed.remedy) == (1011, "quota", "Wait")
    assert bench.word == "error"
    assert bench.last(ev.LinkGivenUp).reason == "refused"


# -- controls --------------------------------------------------------------------------------------------------------


def test_text_mode_switches_the_microphone_off_and_voice_mode_restores_it(bench: Bench) -> None:
    assert bench.core.state.taking_audio
    bench.order(cmd.SetMode(mode="text"))
    assert not bench.core.state.taking_audio
    assert [e.on for e in bench.effects if isinstance(e, Microphone)][-1] is False
    bench.order(cmd.SetMode(mode="voice"))
    assert bench.core.state.taking_audio


def test_text_mode_leaves_a_muted_microphone_muted_when_it_ends(bench: Bench) -> None:
    bench.order(cmd.SetMicrophone(on=False))
    bench.order(cmd.SetMode(mode="text"))
    bench.order(cmd.SetMode(mode="voice"))
    assert not bench.core.state.taking_audio


def test_the_end_of_a_stretch_of_audio_is_told_to_the_server_once(bench: Bench) -> None:
    bench.do(bench.core.audio.begin_stream())
    bench.order(cmd.SetMicrophone(on=False))
    bench.order(cmd.SetMode(mode="text"))
    assert bench.sent == [{"realtimeInput": {"audioStreamEnd": True}}]


def test_under_manual_activity_audio_is_bracketed_by_marks() -> None:
    bench = Bench(manual=True).connect()
    assert not bench.core.state.taking_audio
    bench.order(cmd.SetMicrophone(on=True))
    bench.do(bench.core.audio.begin_stream())
    bench.order(cmd.SetMicrophone(on=False))
    assert bench.sent == [{"realtimeInput": {"activityStart": {}}}]
    assert bench.effects.count(EndActivity()) == 1


def test_interrupting_sends_nothing_under_automatic_activity_detection(bench: Bench) -> None:
    bench.audio(1000)
    bench.order(cmd.Interrupt())
    assert bench.sent == []


def test_interrupting_marks_activity_under_manual_detection() -> None:
    bench = Bench(manual=True).connect()
    bench.audio(1000)
    bench.order(cmd.Interrupt())
    assert InterruptModel() in bench.effects


def test_without_a_microphone_a_voice_session_is_in_text_mode_and_says_why() -> None:
    bench = Bench(microphone="").connect()
    assert bench.last(ev.ControlChanged).mode == "text"
    bench.order(cmd.SetMode(mode="voice"))
    assert "No microphone" in bench.last(ev.CommandRefused).reason


def test_a_vanished_microphone_turns_into_text_mode_and_the_call_goes_on(bench: Bench) -> None:
    bench.do(bench.core.audio.on_device_lost(bench.now, "input", "The microphone vanished."))
    assert bench.last(ev.AudioLost).reason == "The microphone vanished."
    assert (bench.last(ev.ControlChanged).mode, bench.word) == ("text", "text")
    bench.types("still here")
    assert bench.sent


def test_empty_and_oversized_texts_are_refused(bench: Bench) -> None:
    bench.types("  \n")
    assert "empty" in bench.last(ev.CommandRefused).reason
    bench.types("x" * (cmd.MAX_TEXT + 1))
    assert str(cmd.MAX_TEXT) in bench.last(ev.CommandRefused).reason
    assert bench.sent == []


def test_only_so_many_texts_wait_for_the_connection() -> None:
    bench = Bench()
    for number in range(LinkPolicy().max_texts):
        bench.types(f"text {number}")
    assert len(bench.core.state.link.outbox.texts) == LinkPolicy().max_texts
    bench.types("one more")
    assert "texts are waiting" in bench.last(ev.CommandRefused).reason
    assert len(bench.core.state.link.outbox.texts) == LinkPolicy().max_texts


# -- tools -----------------------------------------------------------------------------------------------------------


def test_a_call_is_run_once_and_answered_once(bench: Bench) -> None:
    call(bench)
    assert [(e.name, e.args) for e in bench.effects if isinstance(e, RunTool)] == [("get_time", {"a_b": 1})]
    answer(bench)
    assert bench.sent == [
        {"toolResponse": {"functionResponses": [{"id": "call-1", "name": "get_time", "response": {"output": 1}}]}}
    ]
    assert bench.last(ev.ToolFinished).delivered


def test_a_call_that_arrives_twice_runs_once(bench: Bench) -> None:
    call(bench)
    bench.content(modelTurn={"parts": [{"functionCall": {"id": "call-1", "name": "get_time", "args": {}}}]})
    answer(bench)
    call(bench)
    assert len([e for e in bench.effects if isinstance(e, RunTool)]) == 1


def test_a_cancelled_call_is_cancelled_and_not_answered(bench: Bench) -> None:
    call(bench)
    bench.says(toolCallCancellation={"ids": ["call-1", "unknown"]})
    assert [e.call_id for e in bench.effects if isinstance(e, CancelTool)] == ["call-1"]
    answer(bench, status="cancelled")
    assert bench.sent == []
    assert (bench.last(ev.ToolFinished).status, bench.last(ev.ToolFinished).delivered) == ("cancelled", False)


def test_a_non_blocking_tool_answers_with_its_scheduling() -> None:
    @tool(blocking=False, scheduling="SILENT")
    def watch() -> int:
        """Watch."""
        return 1

    bench = Bench().connect()
    call(bench, name="watch")
    bench.tool_ends(Outcome("call-1", "watch", "ok", {"output": 1}, 1.0), watch.mode)
    assert bench.sent[0]["toolResponse"]["functionResponses"][0]["scheduling"] == "SILENT"


def test_a_running_tool_keeps_the_session_busy_and_thinking() -> None:
    bench = Bench(mode="text").connect()
    bench.types("time?")
    call(bench)
    assert (bench.word, bench.last(ev.SessionState).reason) == ("thinking", "running a tool")
    assert not bench.core.is_quiet


def test_when_the_connection_ends_open_calls_run_on(bench: Bench) -> None:
    call(bench)
    bench.do(bench.core.connection.on_disconnected(bench.now, ConnectionClosedError("gone", close_code=1006)))
    assert [e.call_id for e in bench.effects if isinstance(e, CancelTool)] == []
    assert bench.core.state.turns.is_open


# -- usage and limits ------------------------------------------------------------------------------------------------


def usage(bench: Bench, prompt: int, response: int) -> None:
    bench.says(
        usageMetadata={
            "promptTokenCount": prompt,
            "responseTokenCount": response,
            "totalTokenCount": str(prompt + response),
            "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": prompt}],
        }
    )


def test_usage_is_added_up_and_tokens_without_a_modality_count_as_text(bench: Bench) -> None:
    usage(bench, 1000, 500)
    usage(bench, 2000, 500)
    reported = bench.last(ev.UsageReported)
    assert (reported.prompt, reported.response) == ({"AUDIO": 2000}, {"TEXT": 500})
    assert reported.cost_usd == pytest.approx(4000 / 1e6)
    assert reported.prices_as_of == "2026-11"


def test_where_no_price_is_known_there_is_no_date_of_one() -> None:
    bench = Bench(price=None).connect()
    usage(bench, 1000, 500)
    reported = bench.last(ev.UsageReported)
    assert (reported.cost_usd, reported.prices_as_of) == (None, "")


def test_the_cost_limit_warns_at_eighty_percent_and_then_hangs_up_once() -> None:
    bench = Bench(max_cost=0.001).connect()
    usage(bench, 800, 0)
    usage(bench, 100, 0)
    usage(bench, 100, 0)
    usage(bench, 100, 0)
    assert [(e.kind, e.stage) for e in bench.all(ev.LimitReached)] == [("cost", "warning"), ("cost", "hang-up")]
    assert [e.exit_code for e in bench.effects if isinstance(e, End)] == [0]


def test_the_time_limit_warns_and_hangs_up_by_itself() -> None:
    bench = Bench(max_minutes=1.0).connect()
    bench.passes(47.0)
    assert bench.all(ev.LimitReached) == []
    bench.passes(2.0)
    assert [e.stage for e in bench.all(ev.LimitReached)] == ["warning"]
    bench.passes(12.0)
    assert [e.stage for e in bench.all(ev.LimitReached)] == ["warning", "hang-up"]


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_a_limit_that_is_not_above_zero_is_refused_by_name(value: float) -> None:
    with pytest.raises(UsageError, match="max_cost"):
        Limits(max_cost=value)


def test_nothing_is_scheduled_while_nothing_happens_once_the_user_is_away(bench: Bench) -> None:
    assert bench.core.deadline(bench.now) == 15
    bench.now += 15
    bench.do(bench.core.tick(bench.now))
    assert bench.core.deadline(bench.now) is None


def test_the_microphone_waits_for_the_connection() -> None:
    bench = Bench()
    assert [e.on for e in bench.effects if isinstance(e, Microphone)] == [False]
    bench.connect()
    assert [e.on for e in bench.effects if isinstance(e, Microphone)][-1] is True


def test_a_session_that_has_given_its_calls_up_says_that_it_runs_none() -> None:
    bench = Bench().connect()
    bench.says(toolCall={"functionCalls": [{"id": "c1", "name": "wait", "args": {}}]})
    assert bench.last(ev.SessionState).reason == "running a tool"
    bench.do(bench.core.tools.abandon(bench.now))
    assert bench.last(ev.SessionState).reason != "running a tool"
