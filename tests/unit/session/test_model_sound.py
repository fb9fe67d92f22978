"""Sound of the model is converted in bounded pieces and stays in order."""

from __future__ import annotations

import asyncio

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.session.io.model_sound import PIECE_BYTES, ModelSound


class Played:
    """Record of what reached the device."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []
        self.sound = ModelSound(
            lambda gen, pcm: self.calls.append((gen, len(pcm))), lambda gen: self.calls.append((gen, 0))
        )


def test_ten_megabytes_at_another_rate_leave_the_loop_free_and_stay_in_order() -> None:
    async def main() -> None:
        played, turns = Played(), 0
        played.sound.play(1, bytes(4_000_000), 8000)
        played.sound.end_of_turn(1)
        played.sound.play(2, bytes(480), 24_000)
        while (2, 480) not in played.calls:
            turns += 1
            await asyncio.sleep(0)
        assert turns >= 4_000_000 // PIECE_BYTES
        assert max(size for _, size in played.calls) <= 4 * PIECE_BYTES
        assert played.calls[-2:] == [(1, 0), (2, 480)]
        assert sum(size for gen, size in played.calls if gen == 1) > 11_900_000

    run_virtual(main())


def test_what_waits_of_a_generation_that_is_cut_is_dropped_and_later_ones_are_played() -> None:
    async def main() -> None:
        played = Played()
        played.sound.play(1, bytes(1_000_000), 8000)
        played.sound.cut(2)
        played.sound.play(2, bytes(480), 24_000)
        played.sound.end_of_turn(2)
        await asyncio.sleep(1)
        assert played.calls == [(2, 480), (2, 0)]
        played.sound.play(3, bytes(1_000_000), 8000)
        played.sound.close()
        await asyncio.sleep(1)
        assert len(played.calls) == 2

    run_virtual(main())


def test_usual_sound_is_played_at_once() -> None:
    played = Played()
    played.sound.play(1, bytes(10_000_000), 24_000)
    played.sound.end_of_turn(1)
    assert played.calls == [(1, 10_000_000), (1, 0)]


def test_the_loop_goes_on_while_the_converter_is_imported_and_the_sound_stays_in_order() -> None:
    async def main() -> None:
        played = Played()
        played.sound.play(1, bytes(4800), 8000)
        played.sound.play(1, bytes(480), 24_000)
        played.sound.end_of_turn(1)
        assert played.calls == []
        await asyncio.sleep(1)
        assert [gen for gen, _ in played.calls] == [1, 1, 1]
        assert played.calls[1] == (1, 480)

    run_virtual(main())


def test_once_the_converter_is_imported_sound_at_another_rate_is_played_at_once() -> None:
    async def main() -> None:
        played = Played()
        played.sound.play(1, bytes(480), 8000)
        await asyncio.sleep(1)
        played.sound.play(2, bytes(480), 16_000)
        assert [gen for gen, _ in played.calls] == [1, 2]

    run_virtual(main())
