"""A person is believed on evidence of two kinds, and for as long as one lasts."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_live_runtime.audio.echo.near_end import ClearSpeech, NearEndShare, NearEndWitness, PredictionDoubt

LOUD = 1e6
"""Mean square of a microphone, in int16 units."""


def confirmed() -> NearEndWitness:
    """Return a witness that has let a person through for 100 ms."""
    witness = NearEndWitness()
    for _ in range(10):
        witness.update(1.0, LOUD, 0.5 * LOUD, proven=True)
    assert witness.is_confirmed
    return witness


def deaf(witness: NearEndWitness, frames: int, *, share: float, proven: bool) -> None:
    """Let the louder echo suppress the person in the witness's output."""
    for _ in range(frames):
        witness.update(share, LOUD, 1e-4 * LOUD, proven=proven)


def test_a_sentence_is_believed_to_its_end_where_only_the_proven_filter_hears_it() -> None:
    witness = confirmed()
    deaf(witness, 300, share=0.9, proven=True)
    assert witness.is_confirmed
    deaf(witness, NearEndWitness.HOLD_FRAMES, share=0.0, proven=True)
    assert not witness.believes
    assert not witness.is_confirmed


@pytest.mark.parametrize(("share", "proven"), [(0.9, False), (0.2, True)])
def test_without_a_proven_filter_that_hears_it_belief_ends(share: float, proven: bool) -> None:
    witness = confirmed()
    deaf(witness, NearEndWitness.HOLD_FRAMES, share=share, proven=proven)
    assert not witness.believes


def test_the_filter_alone_confirms_nobody_and_gives_no_fresh_evidence() -> None:
    witness = NearEndWitness()
    deaf(witness, 300, share=1.0, proven=True)
    assert not witness.believes
    witness = confirmed()
    deaf(witness, NearEndWitness.FRESH_FRAMES, share=1.0, proven=True)
    assert not witness.is_fresh


def test_a_moments_evidence_is_certain_for_60_ms_only_though_it_is_believed_for_longer() -> None:
    witness = NearEndWitness()
    witness.update(1.0, LOUD, 0.5 * LOUD, proven=True)
    assert witness.is_certain
    deaf(witness, NearEndWitness.FRESH_FRAMES, share=1.0, proven=True)
    assert witness.believes
    assert not witness.is_certain
    assert confirmed().is_certain


def test_belief_ends_five_times_as_soon_where_the_prediction_explains_what_is_left() -> None:
    witness = confirmed()
    for _ in range(NearEndWitness.HOLD_FRAMES // 5):
        assert witness.believes
        witness.update(0.0, LOUD, 1e-4 * LOUD, proven=True, explained=True)
    assert not witness.is_confirmed


def test_a_prediction_that_adds_to_the_microphone_is_doubted_within_30_ms_and_for_200_ms() -> None:
    doubt = PredictionDoubt()
    assert not any(doubt.update(LOUD, 1e-2 * LOUD, LOUD, is_audible=True) for _ in range(100))
    assert any(doubt.update(LOUD, 2 * LOUD, LOUD, is_audible=True) for _ in range(3))
    after = [doubt.update(LOUD, 1e-2 * LOUD, LOUD, is_audible=True) for _ in range(40)]
    assert all(after[:19])
    assert not any(after[25:])


def test_a_pause_leaves_the_prediction_in_doubt() -> None:
    doubt = PredictionDoubt()
    for _ in range(3):
        doubt.update(LOUD, 2 * LOUD, LOUD, is_audible=True)
    assert all(doubt.update(1.0, 1e-2, 1e-2, is_audible=False) for _ in range(100))
    assert doubt.update(LOUD, 1e-2 * LOUD, LOUD, is_audible=True)


def test_a_person_over_an_echo_predicted_rightly_is_no_reason_for_doubt() -> None:
    doubt = PredictionDoubt()
    for louder in (0.1, 1.0, 10.0):
        assert not any(doubt.update((1 + louder) * LOUD, louder * LOUD, LOUD, is_audible=True) for _ in range(50))


def is_clear(*, share: float = 1.0, leftover: float = 0.005, incoherence: float = 0.9, is_loud: bool = True) -> bool:
    """Return True when speech that lasts for a second in an answer becomes clear."""
    clear = ClearSpeech()
    for _ in range(100):
        clear.update(0.0, 0.0, 0.005, 0.1, is_loud=False)
    return any(clear.update(share, share, leftover, incoherence, is_loud=is_loud) for _ in range(100))


def test_a_good_filter_hears_a_person_where_a_loud_echo_makes_the_witness_deaf() -> None:
    assert is_clear()
    witness = NearEndWitness()
    for _ in range(NearEndWitness.CONFIRMING_FRAMES):
        witness.update(1.0, LOUD, 1e-4 * LOUD, proven=True, clear=True)
    assert witness.is_fresh
    assert witness.is_confirmed


def test_speech_is_clear_after_70_ms_of_it_without_a_gap() -> None:
    clear = ClearSpeech()
    for _ in range(100):
        clear.update(0.0, 0.0, 0.005, 0.1, is_loud=False)
    heard = [clear.update(float(at % 10 != 5), 0.0, 0.005, 0.9, is_loud=True) for at in range(13)]
    assert heard == [False] * 12 + [True]


@pytest.mark.parametrize(
    "missing", [{"share": 0.5}, {"leftover": 0.05}, {"incoherence": 0.5}, {"is_loud": False}], ids=str
)
def test_nothing_is_clear_of_what_a_weak_filter_leaves_an_echo_explains_or_noise_hides(missing: dict[str, Any]) -> None:
    assert not is_clear(**missing)


def suspicious(*, share: float = 1.0, leftover: float = 0.005, incoherence: float = 0.5, is_loud: bool = True) -> int:
    """Return after how many frames of an answer a person is suspected, or 0."""
    clear = ClearSpeech()
    for _ in range(100):
        clear.update(0.0, 0.0, leftover, 0.1, is_loud=False)
    for number in range(1, 100):
        assert not clear.update(0.0, share, leftover, incoherence, is_loud=is_loud)
        if clear.suspects:
            return number
    return 0


def test_a_person_is_suspected_after_60_ms_that_are_half_like_the_echo() -> None:
    assert suspicious() == 6


@pytest.mark.parametrize(
    "missing", [{"share": 0.5}, {"leftover": 0.05}, {"incoherence": 0.3}, {"is_loud": False}], ids=str
)
def test_what_a_weak_filter_leaves_an_echo_explains_or_noise_hides_is_not_suspicious(missing: dict[str, Any]) -> None:
    assert not suspicious(**missing)


def test_what_is_left_at_the_onset_of_an_answer_is_not_clear() -> None:
    clear = ClearSpeech()
    assert not any(clear.update(1.0, 1.0, 0.005, 0.9, is_loud=True) for _ in range(29))


def good_share() -> NearEndShare:
    """Return the estimator for a filter that leaves -23 dB of a loud echo."""
    share = NearEndShare()
    for _ in range(500):
        share.update(0.005 * LOUD, LOUD)
    assert share.leftover < 0.006
    return share


def speak(share: NearEndShare, frames: int, power: float, *, confirmed: bool) -> float:
    """Let a person speak over the echo, with gaps; return the mean share in syllables."""
    shares = [
        share.update(power if at % 20 < 15 else 0.005 * LOUD, LOUD, believed=True, confirmed=confirmed)
        for at in range(frames)
    ]
    return sum(value for at, value in enumerate(shares) if 5 <= at % 20 < 15) / (frames / 2)


def test_a_long_sentence_ten_db_below_the_echo_does_not_become_echo() -> None:
    share = good_share()
    speak(share, 1_000, 0.1 * LOUD, confirmed=True)
    assert speak(share, 100, 0.1 * LOUD, confirmed=True) > 0.9


def test_a_confirmed_person_is_heard_3_db_lower() -> None:
    assert speak(good_share(), 100, 0.03 * LOUD, confirmed=False) < 0.1
    assert speak(good_share(), 100, 0.03 * LOUD, confirmed=True) > 0.3


def test_a_filter_that_gets_worse_is_expected_to_leave_more_within_seconds() -> None:
    share = good_share()
    for _ in range(400):
        share.update(0.02 * LOUD, LOUD)
    assert share.leftover > 0.015


def test_an_echo_on_a_moved_path_is_expected_within_200_ms_though_it_is_as_loud_as_a_person() -> None:
    share = good_share()
    for _ in range(20):
        share.update(0.5 * LOUD, LOUD, doubted=True)
    assert share.leftover > 0.25
    assert share.newest == 0.0


def test_a_single_frame_with_evidence_is_not_suspicious() -> None:
    witness = NearEndWitness()
    seen = []
    for share in (1.0, *[0.0] * 6, 1.0, 0.0, 1.0):
        witness.update(share, LOUD, 0.1 * LOUD, proven=True)
        seen.append(witness.suspects)
    assert seen == [False] * 9 + [True]
