"""Measure the stages of an answer's latency, from when, and what stays None."""

from __future__ import annotations

import pytest
from tests.unit.session.telemetry_support import T0, answered, metrics, spoken_turn, waterfall

from gemini_live_runtime.latency import STAGES
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry
from gemini_live_runtime.session.metrics.waterfall import Waterfall


@pytest.fixture
def with_speaker() -> SessionTelemetry:
    """Return the telemetry of a session that plays its sound."""
    return SessionTelemetry(T0)


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


def test_speech_answered_in_text_alone_is_measured_to_that(telemetry: SessionTelemetry) -> None:
    telemetry.voice_ended(T0 + 1)
    telemetry.turn_started(T0 + 1, 1, "voice")
    telemetry.first_model_frame(T0 + 1.25)
    telemetry.turn_completed(T0 + 2)
    assert telemetry.snapshot(T0 + 3)["last_response_latency_ms"] == 250
    assert waterfall(telemetry).total_ms == pytest.approx(250)


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


def test_with_a_local_mark_alone_the_network_is_taken_out_of_the_servers_time(telemetry: SessionTelemetry) -> None:
    telemetry.round_trip(80)
    spoken_turn(telemetry, 1, T0 + 5, 0.5, "local_voice")
    stages = waterfall(telemetry)
    assert (stages.uplink_ms, stages.server_ms, stages.downlink_ms) == pytest.approx((40, 420, 40))


def test_a_local_mark_of_long_ago_is_not_the_end_that_the_server_tells(telemetry: SessionTelemetry) -> None:
    telemetry.voice_ended(T0 + 2)
    telemetry.voice_ended(T0 + 12, "server_vad")
    telemetry.turn_started(T0 + 12, 1, "voice")
    telemetry.model_audio(T0 + 12.3, 10)
    telemetry.turn_completed(T0 + 13)
    assert waterfall(telemetry).end_of_speech_s == pytest.approx(12)


def test_the_time_for_which_the_agent_was_held_is_left_out(with_speaker: SessionTelemetry) -> None:
    with_speaker.text_sent(T0 + 1)
    with_speaker.turn_started(T0 + 1, 1, "typed")
    with_speaker.released(T0 + 5.5, 4.0)
    with_speaker.model_audio(T0 + 5.8, 10)
    with_speaker.on_playback_started(T0 + 5.9)
    with_speaker.turn_completed(T0 + 7)
    assert waterfall(with_speaker).server_ms == pytest.approx(800)
    assert waterfall(with_speaker).total_ms == pytest.approx(900)


def test_of_a_hold_that_began_before_the_input_only_the_time_behind_it_is_left_out(
    with_speaker: SessionTelemetry,
) -> None:
    with_speaker.text_sent(T0 + 3)
    with_speaker.turn_started(T0 + 3, 1, "typed")
    with_speaker.released(T0 + 5, 4.0)
    with_speaker.model_audio(T0 + 5.2, 10)
    with_speaker.on_playback_started(T0 + 5.3)
    with_speaker.turn_completed(T0 + 7)
    assert waterfall(with_speaker).total_ms == pytest.approx(300)


def test_an_answer_that_came_while_the_agent_was_held_was_not_delayed_by_that(
    with_speaker: SessionTelemetry,
) -> None:
    with_speaker.text_sent(T0 + 1)
    with_speaker.turn_started(T0 + 1, 1, "typed")
    with_speaker.model_audio(T0 + 2, 10)
    with_speaker.on_playback_started(T0 + 2.1)
    with_speaker.released(T0 + 6, 4.5)
    with_speaker.turn_completed(T0 + 7)
    assert waterfall(with_speaker).total_ms == pytest.approx(1100)
