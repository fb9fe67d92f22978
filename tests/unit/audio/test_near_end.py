"""A person is believed on evidence of two kinds, and for as long as one lasts."""

from __future__ import annotations

import pytest

from gemini_live_runtime.audio.near_end import NearEndWitness, PredictionDoubt

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


def test_a_prediction_that_adds_to_the_microphone_is_doubted_within_30_ms_and_for_200_ms() -> None:
    doubt = PredictionDoubt()
    assert not any(doubt.update(LOUD, 1e-2 * LOUD, LOUD) for _ in range(100))
    assert any(doubt.update(LOUD, 2 * LOUD, LOUD) for _ in range(3))
    after = [doubt.update(LOUD, 1e-2 * LOUD, LOUD) for _ in range(40)]
    assert all(after[:19])
    assert not any(after[25:])


def test_a_person_over_an_echo_predicted_rightly_is_no_reason_for_doubt() -> None:
    doubt = PredictionDoubt()
    for louder in (0.1, 1.0, 10.0):
        assert not any(doubt.update((1 + louder) * LOUD, louder * LOUD, LOUD) for _ in range(50))
