"""Metrics of a session: what is measured, from when, and what stays None."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.latency import STAGES, rounded_stages
from gemini_live_runtime.session.metrics.distribution import Distribution
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry, TurnMetrics
from gemini_live_runtime.session.metrics.waterfall import Waterfall

T0 = 100.0
"""Start of the sessions in these tests, in clock seconds."""


@pytest.fixture
def telemetry() -> SessionTelemetry:
    """Return the telemetry of a session without a speaker."""
    found = SessionTelemetry(T0)
    found.speaker_changed(False)
    return found


@pytest.fixture
def with_speaker() -> SessionTelemetry:
    """Return the telemetry of a session that plays its sound."""
    return SessionTelemetry(T0)


def spoken_turn(
    telemetry: SessionTelemetry, number: int, at: float, latency: float = 0.3, source: str = "server_vad"
) -> None:
    """Report a second of speech until `at`, an answer of three chunks, and its end.

    The turn is completed 2 s later.
    """
    telemetry.voice_started(at - 1, source)  # type: ignore[arg-type]
    telemetry.voice_ended(at, source)  # type: ignore[arg-type]
    telemetry.turn_started(at + 0.1, number, "voice")
    for chunk in range(3):
        telemetry.model_audio(at + latency + chunk * 0.01, 1000)
    telemetry.turn_completed(at + 2)


def metrics(telemetry: SessionTelemetry) -> TurnMetrics:
    last = telemetry.turn_metrics()
    assert last is not None
    return last


def waterfall(telemetry: SessionTelemetry) -> Waterfall:
    return metrics(telemetry).waterfall


def test_a_fresh_session_has_counted_nothing(telemetry: SessionTelemetry) -> None:
    figures = telemetry.snapshot(T0)
    assert figures["uptime_secs"] == figures["audio_chunks_out"] == figures["response_count"] == 0
    assert figures["last_response_latency_ms"] == figures["min_response_latency_ms"] == 0
    assert figures["audio_throughput_kbps"] == 0.0
    assert figures["response_latency"]["p50_ms"] is None
    assert figures["cost_usd"] is None
    assert telemetry.turn_metrics() is None


def test_audio_is_counted_in_chunks_kilobytes_and_over_time(telemetry: SessionTelemetry) -> None:
    for _ in range(3):
        telemetry.model_audio(T0, 1000, cut=True)
    figures = telemetry.snapshot(T0 + 2.9)
    assert (figures["audio_chunks_out"], figures["audio_kbytes_out"], figures["uptime_secs"]) == (3, 2, 2)
    assert figures["audio_throughput_kbps"] == 1.0


def test_one_answer_is_one_latency_from_the_end_of_voice_to_its_first_chunk(telemetry: SessionTelemetry) -> None:
    spoken_turn(telemetry, 1, T0 + 10)
    figures = telemetry.snapshot(T0 + 20)
    assert (figures["response_count"], figures["audio_chunks_out"]) == (1, 3)
    assert figures["last_response_latency_ms"] == 300
    spoken_turn(telemetry, 2, T0 + 20, 0.5)
    figures = telemetry.snapshot(T0 + 30)
    assert (figures["response_count"], figures["avg_response_latency_ms"], figures["turn_count"]) == (2, 400, 2)
    assert (figures["min_response_latency_ms"], figures["max_response_latency_ms"]) == (300, 500)


@pytest.mark.parametrize("source", ["server_vad", "local_voice"])
def test_a_latency_says_what_it_was_measured_from(telemetry: SessionTelemetry, source: str) -> None:
    spoken_turn(telemetry, 1, T0 + 10, source=source)
    assert metrics(telemetry).latency_source == source
    figures = telemetry.snapshot(T0 + 20)
    assert (figures["response_latency_source"], figures["latency_sources"]) == (source, {source: 1})


def test_the_latency_begins_where_the_voice_was_heard_last_and_not_at_the_servers_mark(
    telemetry: SessionTelemetry,
) -> None:
    telemetry.voice_ended(T0 + 1.0, "local_voice")
    telemetry.voice_ended(T0 + 1.4, "server_vad")
    telemetry.turn_started(T0 + 1.5, 1, "voice")
    telemetry.model_audio(T0 + 1.9, 10)
    telemetry.turn_completed(T0 + 2)
    assert metrics(telemetry).latency_ms == pytest.approx(900)
    assert metrics(telemetry).latency_source == "local_voice"
    assert waterfall(telemetry).end_of_speech_s == pytest.approx(1.0)


def test_typed_text_is_measured_to_the_first_frame_of_any_kind_and_apart(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0 + 1, 1, "typed")
    telemetry.text_sent(T0 + 1)
    telemetry.first_model_frame(T0 + 1.2)
    telemetry.first_model_frame(T0 + 1.3)
    telemetry.model_audio(T0 + 1.4, 10)
    telemetry.turn_completed(T0 + 2)
    figures = telemetry.snapshot(T0 + 3)
    assert figures["text_latency"]["count"] == 1
    assert figures["text_latency"]["last_ms"] == 200
    assert figures["response_count"] == 0
    assert metrics(telemetry).latency_source == "typed"


def test_speech_answered_in_text_alone_is_measured_to_that(telemetry: SessionTelemetry) -> None:
    telemetry.voice_ended(T0 + 1)
    telemetry.turn_started(T0 + 1, 1, "voice")
    telemetry.first_model_frame(T0 + 1.25)
    telemetry.turn_completed(T0 + 2)
    assert telemetry.snapshot(T0 + 3)["last_response_latency_ms"] == 250
    assert waterfall(telemetry).total_ms == pytest.approx(250)


def test_a_back_channel_during_an_answer_is_no_latency(telemetry: SessionTelemetry) -> None:
    spoken_turn(telemetry, 1, T0 + 10)
    telemetry.turn_started(T0 + 20, 2, "model")
    telemetry.model_audio(T0 + 20, 10)
    telemetry.voice_started(T0 + 21)
    telemetry.voice_ended(T0 + 21.2)
    telemetry.model_audio(T0 + 21.3, 10)
    telemetry.turn_completed(T0 + 22)
    telemetry.turn_started(T0 + 23, 3, "model")
    telemetry.model_audio(T0 + 23, 10)
    telemetry.turn_completed(T0 + 24)
    assert telemetry.snapshot(T0 + 30)["response_count"] == 1
    assert metrics(telemetry).latency_ms is None


def test_the_answer_to_an_interruption_is_measured_from_the_interrupting_words(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0 + 1, 1, "model")
    telemetry.model_audio(T0 + 1, 10)
    telemetry.voice_started(T0 + 2)
    telemetry.voice_ended(T0 + 3)
    telemetry.interrupted(T0 + 3.1)
    telemetry.turn_completed(T0 + 3.1)
    assert metrics(telemetry).interrupted
    telemetry.turn_started(T0 + 3.2, 2, "voice")
    telemetry.model_audio(T0 + 3.3, 10, cut=True)
    telemetry.model_audio(T0 + 3.6, 10)
    telemetry.turn_completed(T0 + 5)
    assert metrics(telemetry).latency_ms == pytest.approx(600)
    assert metrics(telemetry).duration_ms == pytest.approx(3000)
    figures = telemetry.snapshot(T0 + 6)
    assert (figures["interruptions"], figures["response_count"]) == (1, 1)


def test_a_turn_that_goes_on_after_an_interruption_has_the_latency_of_its_last_answer(
    telemetry: SessionTelemetry,
) -> None:
    telemetry.voice_ended(T0 + 1)
    telemetry.turn_started(T0 + 1, 1, "voice")
    telemetry.model_audio(T0 + 1.5, 10)
    telemetry.interrupted(T0 + 2, 1)
    telemetry.voice_ended(T0 + 3)
    telemetry.model_audio(T0 + 3.2, 10)
    telemetry.turn_completed(T0 + 4)
    figures = telemetry.snapshot(T0 + 6)
    assert (figures["response_count"], figures["last_response_latency_ms"]) == (1, 200)


def test_a_pause_in_the_users_words_is_not_their_end(telemetry: SessionTelemetry) -> None:
    telemetry.voice_started(T0 + 1)
    telemetry.voice_ended(T0 + 2)
    telemetry.voice_started(T0 + 2.5)
    telemetry.voice_ended(T0 + 3)
    telemetry.turn_started(T0 + 3, 1, "voice")
    telemetry.model_audio(T0 + 3.4, 10)
    telemetry.turn_completed(T0 + 5)
    assert metrics(telemetry).latency_ms == pytest.approx(400)
    assert metrics(telemetry).duration_ms == pytest.approx(4000)


def test_a_noise_long_ago_is_not_what_the_model_answers(telemetry: SessionTelemetry) -> None:
    telemetry.voice_started(T0 + 1)
    telemetry.voice_ended(T0 + 2)
    telemetry.turn_started(T0 + 40, 1, "model")
    telemetry.model_audio(T0 + 40, 10)
    telemetry.turn_completed(T0 + 41)
    assert metrics(telemetry).latency_ms is None
    assert metrics(telemetry).duration_ms == pytest.approx(1000)


def test_an_answer_faster_than_the_local_mark_is_measured_when_the_mark_comes(telemetry: SessionTelemetry) -> None:
    telemetry.voice_started(T0 + 1)
    telemetry.turn_started(T0 + 1.5, 1, "voice")
    telemetry.model_audio(T0 + 2.2, 10)
    telemetry.voice_ended(T0 + 2.3, spoken_until=T0 + 2.0)
    telemetry.turn_completed(T0 + 3)
    assert metrics(telemetry).latency_ms == pytest.approx(200)
    assert telemetry.snapshot(T0 + 4)["response_count"] == 1


def test_a_turn_lasts_from_its_first_activity_and_idle_time_is_in_no_turn(telemetry: SessionTelemetry) -> None:
    spoken_turn(telemetry, 1, T0 + 10)
    spoken_turn(telemetry, 2, T0 + 500)
    figures = telemetry.snapshot(T0 + 600)
    assert figures["avg_turn_duration_ms"] == 3000
    assert figures["turn_duration"]["max_ms"] == 3000


def test_the_end_of_voice_within_a_turn_does_not_begin_the_next(telemetry: SessionTelemetry) -> None:
    telemetry.voice_started(T0 + 1)
    telemetry.turn_started(T0 + 1.5, 1, "voice")
    telemetry.voice_ended(T0 + 2)
    telemetry.model_audio(T0 + 2.5, 10)
    telemetry.turn_completed(T0 + 3)
    spoken_turn(telemetry, 2, T0 + 5)
    assert metrics(telemetry).duration_ms == pytest.approx(3000)


def test_percentiles_are_by_nearest_rank() -> None:
    values = Distribution()
    for ms in (300, 100, 500, 200, 400):
        values.add(ms)
    assert values.mean == 300
    assert values.percentiles(50, 90, 99) == (300, 500, 500)
    assert values.percentiles(0, 20, 21, 100) == (100, 100, 200, 500)


def test_the_histogram_has_eighteen_buckets_with_inclusive_bounds() -> None:
    values = Distribution()
    for ms in (50, 51, 999, 9000):
        values.add(ms)
    histogram = values.to_json(histogram=True)["histogram"]
    assert len(histogram) == 18
    assert [bucket for bucket in histogram if bucket[1]] == [[50, 1], [100, 1], [1000, 1], [None, 1]]


def test_percentiles_look_at_the_last_256_values_and_extremes_at_all() -> None:
    values = Distribution()
    for ms in [2000] * 256 + [200] * 256:
        values.add(ms)
    figures = values.to_json()
    assert (figures["p50_ms"], figures["p99_ms"], figures["max_ms"], figures["min_ms"]) == (200, 200, 2000, 200)
    assert (figures["count"], figures["mean_ms"]) == (512, 1100)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=400), st.integers(1, 100))
def test_a_percentile_is_a_value_that_enough_values_do_not_exceed(numbers: list[int], percent: int) -> None:
    values = Distribution()
    for number in numbers:
        values.add(number)
    recent = numbers[-256:]
    (found,) = values.percentiles(percent)
    assert found in recent
    assert sum(number <= found for number in recent) * 100 >= percent * len(recent)
    assert sum(number < found for number in recent) * 100 < percent * len(recent)


def test_with_the_servers_mark_and_a_round_trip_every_stage_is_known(
    with_speaker: SessionTelemetry,
) -> None:
    with_speaker.round_trip(80)
    with_speaker.voice_ended(T0 + 5.0, "local_voice")
    with_speaker.voice_ended(T0 + 5.5, "server_vad")
    with_speaker.turn_started(T0 + 5.5, 1, "voice")
    with_speaker.model_audio(T0 + 5.9, 10)
    with_speaker.on_playback_started(T0 + 6.0, device_latency_ms=12.0)
    with_speaker.turn_completed(T0 + 8)
    stages = waterfall(with_speaker)
    assert [getattr(stages, f"{name}_ms") for name in STAGES] == pytest.approx([420, 40, 400, 40, 100, 12])
    assert stages.total_ms == pytest.approx(1012)
    assert stages.end_of_speech_s == pytest.approx(5.0)
    figures = with_speaker.snapshot(T0 + 9)
    assert {name: stage["last_ms"] for name, stage in figures["stages"].items()} == pytest.approx(
        {"hang_over": 420, "uplink": 40, "server": 400, "downlink": 40, "buffer": 100, "speaker": 12, "total": 1012}
    )
    assert figures["round_trip"]["last_ms"] == 80


def test_an_activity_end_of_ours_ends_the_hang_over(with_speaker: SessionTelemetry) -> None:
    with_speaker.round_trip(100)
    with_speaker.voice_ended(T0 + 5.2, spoken_until=T0 + 5.0)
    with_speaker.committed(T0 + 5.6)
    with_speaker.turn_started(T0 + 5.6, 1, "voice")
    with_speaker.model_audio(T0 + 6.0, 10)
    with_speaker.turn_completed(T0 + 8)
    stages = waterfall(with_speaker)
    assert stages.hang_over_ms == pytest.approx(600)
    assert (stages.uplink_ms, stages.server_ms, stages.downlink_ms) == pytest.approx((50, 300, 50))
    assert (stages.buffer_ms, stages.speaker_ms, stages.total_ms) == (None, None, None)


def test_stages_that_cannot_be_measured_are_none_and_never_zero(with_speaker: SessionTelemetry) -> None:
    with_speaker.voice_ended(T0 + 5.0)
    with_speaker.turn_started(T0 + 5.1, 1, "voice")
    with_speaker.model_audio(T0 + 6.0, 10)
    with_speaker.on_playback_started(T0 + 6.05)
    with_speaker.turn_completed(T0 + 8)
    stages = waterfall(with_speaker)
    assert (stages.hang_over_ms, stages.uplink_ms, stages.downlink_ms, stages.speaker_ms) == (None,) * 4
    assert (stages.server_ms, stages.buffer_ms) == pytest.approx((1000, 50))
    assert with_speaker.snapshot(T0 + 9)["stages"]["uplink"]["count"] == 0


def test_without_a_local_mark_the_servers_is_the_zero_and_hides_the_network(telemetry: SessionTelemetry) -> None:
    telemetry.round_trip(80)
    spoken_turn(telemetry, 1, T0 + 5)
    stages = waterfall(telemetry)
    assert (stages.hang_over_ms, stages.uplink_ms, stages.downlink_ms) == (None,) * 3
    assert stages.server_ms == pytest.approx(300)


def test_a_turn_that_the_model_began_has_no_end_of_speech(with_speaker: SessionTelemetry) -> None:
    with_speaker.turn_started(T0 + 1, 1, "model")
    with_speaker.model_audio(T0 + 1, 10)
    with_speaker.on_playback_started(T0 + 1.1, turn=1)
    with_speaker.turn_completed(T0 + 2)
    stages = waterfall(with_speaker)
    assert stages == Waterfall(buffer_ms=stages.buffer_ms)
    assert stages.buffer_ms == pytest.approx(100)


def test_typed_text_has_no_hang_over_even_with_noise_in_the_room(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0 + 1, 1, "typed")
    telemetry.text_sent(T0 + 1)
    telemetry.first_model_frame(T0 + 1.4)
    telemetry.voice_ended(T0 + 1.5, spoken_until=T0 + 1.3)
    telemetry.turn_completed(T0 + 2)
    stages = waterfall(telemetry)
    assert (stages.source, stages.hang_over_ms, stages.server_ms) == ("typed", None, pytest.approx(400))


def test_playback_after_the_completion_belongs_to_the_completed_turn(with_speaker: SessionTelemetry) -> None:
    spoken_turn(with_speaker, 1, T0 + 5)
    with_speaker.on_playback_started(T0 + 8, turn=1, device_latency_ms=10)
    with_speaker.on_playback_started(T0 + 9, turn=1)
    assert waterfall(with_speaker).total_ms == pytest.approx(3010)
    with_speaker.turn_started(T0 + 10, 2, "typed")
    with_speaker.on_playback_started(T0 + 11)
    assert with_speaker.snapshot(T0 + 12)["stages"]["total"]["count"] == 1


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3000),
            st.sampled_from(
                [
                    "started",
                    "ended",
                    "server_ended",
                    "committed",
                    "text",
                    "frame",
                    "audio",
                    "cut",
                    "playback",
                    "interrupted",
                    "turn",
                    "done",
                    "trip",
                    "speaker",
                    "no_speaker",
                ]
            ),
        ),
        max_size=40,
    )
)
def test_whatever_happens_stages_are_not_negative_and_explain_the_whole(steps: list[tuple[int, str]]) -> None:
    telemetry, now, number, completed = SessionTelemetry(T0), T0, 0, 0
    is_open = False
    for wait, step in steps:
        now += wait / 1000
        if step == "turn" and not is_open:
            number, is_open = number + 1, True
            telemetry.turn_started(now, number, "voice")
        elif step == "done":
            completed, is_open = completed + is_open, False
            telemetry.turn_completed(now)
        elif step == "started":
            telemetry.voice_started(now)
        elif step == "ended":
            telemetry.voice_ended(now, spoken_until=now - 0.3)
        elif step == "server_ended":
            telemetry.voice_ended(now, "server_vad")
        elif step == "committed":
            telemetry.committed(now)
        elif step == "text":
            telemetry.text_sent(now)
        elif step == "frame":
            telemetry.first_model_frame(now)
        elif step in ("audio", "cut"):
            telemetry.model_audio(now, 100, cut=step == "cut")
        elif step == "playback":
            telemetry.on_playback_started(now, device_latency_ms=5)
        elif step == "interrupted":
            telemetry.interrupted(now)
        elif step == "trip":
            telemetry.round_trip(wait)
        elif step in ("speaker", "no_speaker"):
            telemetry.speaker_changed(step == "speaker")
        figures = telemetry.snapshot(now)
        json.dumps(figures, allow_nan=False)
        assert figures["turn_count"] == completed
        last = telemetry.turn_metrics()
        if last is None:
            continue
        printed = last.waterfall.stages()
        total = printed.pop("total")
        json.dumps(printed, allow_nan=False)
        assert total in (None, round(sum(ms or 0 for ms in printed.values()), 1))
        assert (total is None) == (last.latency_ms is None)
        if total is not None:
            assert sum(rounded_stages(printed).values()) == round(total)
            assert last.waterfall.first_byte_ms is not None
            assert last.waterfall.first_byte_ms <= total + 0.05
        assert last.duration_ms >= 0
        stages = {name: getattr(last.waterfall, f"{name}_ms") for name in STAGES}
        assert all(ms is None or ms >= -1e-6 for ms in stages.values())
        total = last.waterfall.total_ms
        if total is not None and stages["server"] is not None:
            assert sum(ms or 0 for ms in stages.values()) == pytest.approx(total, abs=1e-3)


def test_tokens_of_a_turn_are_its_last_report_and_turns_add_up(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0, 1, "typed")
    telemetry.model_audio(T0, 10)
    telemetry.usage({"TEXT": 10}, {"AUDIO": 1}, 0.001, totals={"total": 11})
    telemetry.usage({"TEXT": 10, "AUDIO": 4}, {"AUDIO": 6}, 0.002, totals={"total": 20, "cached_content": 3})
    telemetry.turn_completed(T0 + 1)
    assert metrics(telemetry).prompt == {"TEXT": 10, "AUDIO": 4}
    telemetry.turn_started(T0 + 2, 2, "typed")
    telemetry.model_audio(T0 + 2, 10)
    telemetry.turn_completed(T0 + 3)
    telemetry.usage({"TEXT": 30}, {"AUDIO": 5}, 0.005, totals={"total": 35}, prices_as_of="2026-11")
    assert metrics(telemetry).response == {"AUDIO": 5}
    figures = telemetry.snapshot(T0 + 4)
    assert figures["tokens_by_modality"] == {
        "TEXT": {"prompt": 40, "response": 0},
        "AUDIO": {"prompt": 4, "response": 11},
    }
    assert (figures["total_token_count"], figures["cached_content_token_count"]) == (35, 3)
    assert (figures["cost_usd"], figures["prices_as_of"]) == (0.005, "2026-11")


def test_usage_that_comes_after_the_next_turn_opened_is_the_interrupted_turns(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0, 1, "voice")
    telemetry.model_audio(T0, 10)
    telemetry.interrupted(T0 + 1)
    telemetry.turn_completed(T0 + 1)
    telemetry.turn_started(T0 + 1, 2, "voice")
    telemetry.usage({"TEXT": 10}, {}, None)
    telemetry.model_audio(T0 + 2, 10)
    telemetry.usage({"TEXT": 20}, {}, None)
    telemetry.turn_completed(T0 + 3)
    assert telemetry.snapshot(T0 + 4)["tokens_by_modality"]["TEXT"]["prompt"] == 30


def answered(telemetry: SessionTelemetry, number: int = 1) -> None:
    """Report a typed text at `T0 + 1`, its answer 0.2 s later, and the turn's end."""
    telemetry.turn_started(T0 + 1, number, "typed")
    telemetry.text_sent(T0 + 1)
    telemetry.model_audio(T0 + 1.2, 10)
    telemetry.turn_completed(T0 + 1.3)


def test_the_first_byte_is_a_figure_of_its_own(with_speaker: SessionTelemetry) -> None:
    answered(with_speaker)
    with_speaker.on_playback_started(T0 + 1.4, device_latency_ms=20)
    assert waterfall(with_speaker).first_byte_ms == pytest.approx(200)
    assert metrics(with_speaker).latency_ms == pytest.approx(420)
    figures = with_speaker.snapshot(T0 + 2)
    assert (figures["first_byte"]["p95_ms"], figures["text_latency"]["p95_ms"]) == (200, 420)


def test_a_latency_is_counted_when_the_sound_is_played_and_not_before(with_speaker: SessionTelemetry) -> None:
    answered(with_speaker)
    assert with_speaker.awaits_playback(1)
    assert with_speaker.snapshot(T0 + 2)["text_latency"]["count"] == 0
    with_speaker.on_playback_started(T0 + 1.4)
    assert not with_speaker.awaits_playback(1)
    assert with_speaker.snapshot(T0 + 2)["text_latency"]["count"] == 1


@pytest.mark.parametrize("end", ["interrupted", "speaker lost", "next turn"])
def test_an_answer_whose_sound_was_not_played_has_a_first_byte_and_no_latency(
    with_speaker: SessionTelemetry, end: str
) -> None:
    answered(with_speaker)
    if end == "interrupted":
        with_speaker.interrupted(T0 + 1.3, 1)
    elif end == "speaker lost":
        with_speaker.speaker_changed(False)
    else:
        answered(with_speaker, 2)
    assert not with_speaker.awaits_playback(1)
    found = with_speaker.turn_metrics(1)
    assert found is not None
    assert (found.latency_ms, found.waterfall.first_byte_ms) == (None, pytest.approx(200))
    figures = with_speaker.snapshot(T0 + 2)
    assert (figures["text_latency"]["count"], figures["first_byte"]["count"]) == (0, 1)


def test_typed_text_is_measured_from_the_enter_key_and_not_from_its_sending(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0 + 4, 1, "typed")
    telemetry.text_sent(T0 + 4, typed_at=T0 + 1)
    telemetry.model_audio(T0 + 4.5, 10)
    telemetry.turn_completed(T0 + 5)
    stages = waterfall(telemetry)
    assert (stages.hang_over_ms, stages.server_ms, stages.total_ms) == pytest.approx((3000, 500, 3500))


def test_the_way_of_a_typed_text_to_the_session_is_no_stage_of_its_own(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0 + 1, 1, "typed")
    telemetry.text_sent(T0 + 1.01, typed_at=T0 + 1)
    telemetry.model_audio(T0 + 1.5, 10)
    telemetry.turn_completed(T0 + 5)
    assert (waterfall(telemetry).hang_over_ms, waterfall(telemetry).total_ms) == (None, pytest.approx(500))


def test_figures_of_a_turn_are_kept_until_its_end_is_worked_through(telemetry: SessionTelemetry) -> None:
    for number in range(1, 20):
        spoken_turn(telemetry, number, T0 + 10 * number)
    kept = [number for number in range(1, 20) if telemetry.turn_metrics(number)]
    assert kept == list(range(4, 20))


def test_usage_before_any_turn_is_counted(telemetry: SessionTelemetry) -> None:
    telemetry.usage({"TEXT": 7}, {}, None)
    assert telemetry.turn_metrics() is None
    telemetry.turn_started(T0, 1, "typed")
    telemetry.turn_completed(T0 + 1)
    assert telemetry.snapshot(T0 + 4)["tokens_by_modality"] == {"TEXT": {"prompt": 7, "response": 0}}


def test_a_turn_in_figures(telemetry: SessionTelemetry) -> None:
    spoken_turn(telemetry, 3, T0 + 10)
    turn = metrics(telemetry)
    assert (turn.turn, turn.by, turn.audio_bytes) == (3, "voice", 3000)
    assert (turn.latency_ms, turn.duration_ms) == pytest.approx((300, 3000))
    assert turn.waterfall.stages()["server"] == 300.0


def test_with_a_local_mark_alone_the_network_is_taken_out_of_the_servers_time(telemetry: SessionTelemetry) -> None:
    telemetry.round_trip(80)
    spoken_turn(telemetry, 1, T0 + 5, 0.5, "local_voice")
    stages = waterfall(telemetry)
    assert (stages.uplink_ms, stages.server_ms, stages.downlink_ms) == pytest.approx((40, 420, 40))


def test_a_model_that_does_not_wait_for_the_end_of_the_words_keeps_the_turns_last_measure(
    telemetry: SessionTelemetry,
) -> None:
    telemetry.voice_ended(T0 + 1)
    telemetry.turn_started(T0 + 1, 1, "voice")
    telemetry.model_audio(T0 + 1.5, 10)
    telemetry.interrupted(T0 + 2)
    telemetry.voice_ended(T0 + 2.5)
    telemetry.voice_started(T0 + 3)
    telemetry.model_audio(T0 + 3.2, 10)
    telemetry.turn_completed(T0 + 4)
    assert metrics(telemetry).latency_ms == pytest.approx(500)


def test_a_text_whose_turn_goes_on_after_an_interruption_is_answered_by_what_comes_then(
    telemetry: SessionTelemetry,
) -> None:
    telemetry.text_sent(T0 + 1)
    telemetry.turn_started(T0 + 1, 1, "typed")
    telemetry.model_audio(T0 + 1.1, 10)
    telemetry.interrupted(T0 + 1.2)
    telemetry.model_audio(T0 + 3, 10)
    telemetry.turn_completed(T0 + 4)
    assert metrics(telemetry).latency_ms == pytest.approx(2000)
    assert not metrics(telemetry).interrupted


def test_a_back_channel_does_not_begin_the_next_turn(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0 + 1, 1, "model")
    telemetry.model_audio(T0 + 1, 10)
    telemetry.voice_started(T0 + 2)
    telemetry.voice_ended(T0 + 2.2)
    telemetry.turn_completed(T0 + 3)
    spoken_turn(telemetry, 2, T0 + 6)
    assert metrics(telemetry).duration_ms == pytest.approx(3000)


def test_words_within_a_turn_that_was_cut_later_do_not_begin_the_next(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0 + 1, 1, "voice")
    telemetry.voice_started(T0 + 2)
    telemetry.voice_ended(T0 + 3)
    telemetry.model_audio(T0 + 4, 10)
    telemetry.interrupted(T0 + 5)
    telemetry.turn_completed(T0 + 5)
    spoken_turn(telemetry, 2, T0 + 7)
    assert metrics(telemetry).duration_ms == pytest.approx(3000)


def test_words_that_the_model_talked_into_begin_the_turn_they_open(telemetry: SessionTelemetry) -> None:
    telemetry.voice_started(T0 + 1)
    telemetry.turn_started(T0 + 2, 1, "model")
    telemetry.model_audio(T0 + 2, 10)
    telemetry.interrupted(T0 + 3)
    telemetry.turn_completed(T0 + 3)
    telemetry.voice_ended(T0 + 4)
    telemetry.turn_started(T0 + 4.1, 2, "voice")
    telemetry.turn_completed(T0 + 6)
    assert metrics(telemetry).duration_ms == pytest.approx(5000)


def test_a_local_mark_of_long_ago_is_not_the_end_that_the_server_tells(telemetry: SessionTelemetry) -> None:
    telemetry.voice_ended(T0 + 2)
    telemetry.voice_ended(T0 + 12, "server_vad")
    telemetry.turn_started(T0 + 12, 1, "voice")
    telemetry.model_audio(T0 + 12.3, 10)
    telemetry.turn_completed(T0 + 13)
    assert waterfall(telemetry).end_of_speech_s == pytest.approx(12)


def test_an_answer_sounds_from_its_first_chunk_until_it_is_cut_or_over(telemetry: SessionTelemetry) -> None:
    heard: list[bool] = []
    telemetry.turn_started(T0, 1, "typed")
    heard.append(telemetry.sounding)
    telemetry.model_audio(T0 + 1, 10)
    heard.append(telemetry.sounding)
    telemetry.interrupted(T0 + 2, 1)
    heard.append(telemetry.sounding)
    telemetry.model_audio(T0 + 3, 10)
    heard.append(telemetry.sounding)
    telemetry.turn_completed(T0 + 4)
    heard.append(telemetry.sounding)

    assert heard == [False, True, False, True, False]


def test_the_sound_of_a_turn_is_what_was_counted_during_it(telemetry: SessionTelemetry) -> None:
    telemetry.turn_started(T0, 1, "typed")
    telemetry.model_audio(T0 + 1, 1000)
    telemetry.add_counter(lambda: (2, 2000))  # while the answer sounded
    telemetry.model_audio(T0 + 2, 500, cut=True)
    telemetry.turn_completed(T0 + 3)
    first = metrics(telemetry)
    telemetry.turn_started(T0 + 4, 2, "typed")
    telemetry.turn_completed(T0 + 5)

    assert (first.audio_bytes, metrics(telemetry).audio_bytes) == (3000, 0)
    figures = telemetry.snapshot(T0 + 6)
    assert (figures["audio_chunks_out"], figures["audio_kbytes_out"]) == (4, 3)
