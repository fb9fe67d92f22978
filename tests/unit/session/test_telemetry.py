"""Metrics of a session: what is measured, from when, and what stays None."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.session.telemetry_support import T0, metrics, spoken_turn

from gemini_live_runtime.latency import STAGES, rounded_stages
from gemini_live_runtime.session.metrics.distribution import Distribution
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry


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
