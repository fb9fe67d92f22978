"""Judge the canceller in drawn rooms: echo stays out, a person comes through."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.rooms.loudspeaker import Loudspeaker
from tests.rooms.scenes import Kind, Scene, active, draw_room, make_scene, powers
from tests.rooms.scores import (
    Output,
    client_starts,
    client_turns,
    false_pauses,
    noticed_ms,
    own_turns,
    run,
    silent_ms,
)
from tests.rooms.voices import RATE, has_voices

from gemini_live_runtime.audio.echo.cancellers import Aec3
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.samples import FRAME, to_int16

pytestmark = pytest.mark.skipif(not has_voices(), reason="espeak-ng and flite are needed to draw voices")

ROOMS = ((204, -10.0), (201, -6.0), (202, 0.0), (203, 6.0), (205, 10.0))
"""Seeds and levels of the person over the echo, in dB."""
TURNS = (*ROOMS, (93172, -6.0))
"""In the last one AEC3 lets a single frame of an echo through, in mid-answer."""
JUMPS = (*ROOMS[2:], (205, 0.0), (206, -10.0), (610100, 6.0), (610102, -6.0), (610110, -10.0), (631000, 0.0))
"""In four of them what a filter leaves of the moved echo is as loud as a person, in the last AEC3 passes a tail."""
MOVED = ((610102, -6.0), (610131, -10.0))
"""Rooms in which the echo path of the next one is expected."""


@cache
def heard(kind: Kind, seed: int, level: float) -> tuple[Scene, Output]:
    output = run(DualCanceller(), make_scene(kind, draw_room(seed, level)))
    return output.scene, output


def beginning(scene: Scene, seconds: int) -> Scene:
    """Return the first seconds of a scene."""
    part = slice(seconds * RATE)
    return replace(scene, far=scene.far[part], echo=scene.echo[part], near=scene.near[part], noise=scene.noise[part])


def reduction(scene: Scene, output: Output, start: float) -> float:
    """Return the echo's reduction in dB from second `start` on."""
    loud = active(scene.echo, -30)
    loud[: int(start * 100)] = False
    return float(10 * np.log10(powers(scene.microphone)[loud].mean() / powers(output.clean)[loud].mean()))


@pytest.mark.parametrize(("seed", "level"), ROOMS)
def test_the_models_own_voice_marks_no_voice_of_the_user(seed: int, level: float) -> None:
    assert heard("single", seed, level)[1].marks == []


@pytest.mark.parametrize(("seed", "level"), TURNS)
def test_no_answer_of_a_conversation_interrupts_itself(seed: int, level: float) -> None:
    assert own_turns(heard("turns", seed, level)[1]) == []
    assert client_turns(heard("turns", seed, level)[1]) == []


@pytest.mark.parametrize(("seed", "level"), JUMPS)
def test_a_jump_of_the_delay_in_mid_answer_interrupts_nothing(seed: int, level: float) -> None:
    assert own_turns(heard("jump", seed, level)[1]) == []
    assert client_turns(heard("jump", seed, level)[1]) == []


@pytest.mark.parametrize(("seed", "level"), MOVED)
def test_a_call_that_expects_the_echo_of_another_room_interrupts_nothing(seed: int, level: float) -> None:
    earlier = DualCanceller()
    run(earlier, beginning(make_scene("single", draw_room(seed + 1)), 8))
    path = earlier.learned_path(0.0)
    assert path is not None
    scene = beginning(make_scene("single", draw_room(seed, level)), 4)
    assert own_turns(run(DualCanceller(path), scene)) == []


@pytest.mark.parametrize(("seed", "level"), ROOMS)
def test_the_echo_is_reduced_at_least_as_much_as_by_aec3_alone(seed: int, level: float) -> None:
    alone = run(Aec3(), make_scene("single", draw_room(seed, level)))
    assert reduction(*heard("single", seed, level), 2) > reduction(alone.scene, alone, 2) - 1


@pytest.mark.parametrize(("seed", "level"), ROOMS)
def test_a_person_who_talks_over_the_model_is_noticed(seed: int, level: float) -> None:
    scene, output = heard("double", seed, level)
    begins = int(np.flatnonzero(active(scene.near, -35))[0]) // 2
    assert any(output.speaking[begins : begins + 50])
    assert any(begins <= at * 50 <= begins + 50 for at in client_starts(output))


@pytest.mark.parametrize(("seed", "level"), ROOMS)
def test_nearly_no_word_of_a_person_is_cut_while_the_model_speaks(seed: int, level: float) -> None:
    scene, output = heard("double", seed, level)
    spoken = active(scene.near, -30)
    spoken[: 10 * 100] = False
    # The canceller answers 8 ms later.
    kept = np.maximum(powers(output.clean), np.roll(powers(output.clean), -1))
    assert float((kept[spoken] < 0.06 * powers(scene.near)[spoken]).mean()) < 0.02


def test_frames_lost_right_after_the_cut_cost_a_person_no_word() -> None:
    scene = make_scene("double", draw_room(202, 0.0))
    loudspeaker, canceller = Loudspeaker(scene), DualCanceller()
    cut, clean = 0, []
    for at in range(0, 12 * RATE, FRAME):
        canceller.render(np.zeros(FRAME, np.int16) if cut else loudspeaker.play(at))
        alone = to_int16(scene.near[at : at + FRAME] + scene.noise[at : at + FRAME])
        clean.append(canceller.capture(alone if cut else loudspeaker.hear(at)))
        loudspeaker.pause(canceller.probe.pauses)
        if not cut and canceller.probe.state == "person":
            cut = at // FRAME + 1
        elif cut and at // FRAME == cut + 10:
            canceller.on_frames_lost(-1)
    assert cut
    after = slice(cut + 10, cut + 45)
    heard = powers(np.concatenate(clean) / np.float32(32768))
    kept = np.maximum(heard, np.roll(heard, -1))[after]
    spoken = active(scene.near, -30)[after]
    assert spoken.sum() > 10
    assert not (kept[spoken] < 0.06 * powers(scene.near)[after][spoken]).any()


@pytest.mark.parametrize(("seed", "level"), ROOMS[1:])
def test_a_person_who_interrupts_the_first_words_is_noticed_within_a_second(seed: int, level: float) -> None:
    assert max(noticed_ms(heard("first", seed, level)[1])) < 1000


@pytest.mark.parametrize(("seed", "level"), ROOMS)
def test_the_model_falls_silent_within_a_syllable_of_a_person_in_mid_answer(seed: int, level: float) -> None:
    scene, output = heard("double", seed, level)
    began = float(np.flatnonzero(np.abs(scene.near) > 0.01)[0]) / RATE
    assert silent_ms(output, began) < 250


@pytest.mark.parametrize(("seed", "level"), [(7001, -6.0), (7005, 0.0)])
def test_a_person_is_found_although_frames_are_lost_while_the_model_is_paused(seed: int, level: float) -> None:
    scene = beginning(make_scene("double", draw_room(seed, level)), 12)
    began = int(np.flatnonzero(np.abs(scene.near) > 0.01)[0]) // FRAME
    canceller, loudspeaker = DualCanceller(), Loudspeaker(scene)
    states = []
    for number in range(began + 60):
        if number in (began + 20, began + 21):
            assert canceller.probe.state == "paused"
            canceller.on_frames_lost()
        canceller.render(loudspeaker.play(number * FRAME))
        canceller.capture(loudspeaker.hear(number * FRAME))
        loudspeaker.pause(canceller.probe.pauses)
        states.append(canceller.probe.state)
    assert "person" in states[began:]


@pytest.mark.parametrize(("seed", "level"), ROOMS)
def test_the_model_is_paused_for_an_echo_three_times_in_five_answers_at_most(seed: int, level: float) -> None:
    assert len(false_pauses(heard("turns", seed, level)[1])) <= 3
