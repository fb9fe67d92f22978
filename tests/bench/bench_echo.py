"""Compare echo cancellers in the rooms of CI and in rooms drawn anew.

    .venv/bin/python -m tests.bench echo
    ECHO_SEED=4711 ECHO_ROOMS=24 .venv/bin/python tests/bench/bench_echo.py

Eleven rooms take about three minutes of processor time. Each room is printed as it is done; after `MAX_S` seconds the
table is that of the rooms until then, since `python -m tests.bench` ends a bench after fifteen minutes. On a machine
that is busy with other work, ECHO_MAX_S=7200 lets the file, run by itself, reach its end.

Voices, texts, delays, reverberation, levels (SER -10 to +10 dB), clipping, jumps and drift are drawn by the room's
number, so a canceller cannot be tuned to them. The loudspeaker is paused while the canceller asks for it, and
its echo follows. Cuts and pauses are counted in all answers without a person: between turns, and in long ones
with and without a jump or drift.

Exit status: 0 when every target is met in the new rooms, 1 otherwise.
"""

from __future__ import annotations

import os
import secrets
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.rooms.scenes import draw_room, make_scene  # noqa: E402
from tests.rooms.scores import Scores, run, score  # noqa: E402
from tests.rooms.voices import has_voices  # noqa: E402

from gemini_live_runtime.audio.echo.cancellers import Aec3, EchoCanceller  # noqa: E402
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller  # noqa: E402
from gemini_live_runtime.audio.echo.echo_path import EchoPath  # noqa: E402

CI_ROOMS = range(202, 208)
"""Rooms with each of the levels that are drawn."""

MAX_S = 780.0
"""Seconds after which no room is waited for."""

TARGETS = (
    ("ERLE 1-3 s", "erle_1_3", 28.0, +1),
    ("> 10 s", "erle_10", 32.0, +1),
    ("jump 1-3 s", "jump_1_3", 20.0, +1),
    ("drift", "drift", 28.0, +1),
    ("SDR", "sdr_db", 12.0, +1),
    ("lost %", "lost", 2.0, -1),
    ("cuts/min", "cuts", 0.0, -1),
    ("client's", "client_cuts", 0.0, -1),
    ("marks/min", "marks", 0.0, -1),
    ("pauses/min", "false_pauses", 1.0, -1),
)


COST = 400 / 84
"""Target for the time of a frame, in times of AEC3 alone: 400 us, set on a machine where that takes 84 us."""

FIRST_MS, FIRST_P95_MS = 200.0, 300.0
"""Targets for the ms until the model is silent for a person who speaks into its first words."""


def alone(path: EchoPath | None = None) -> EchoCanceller:
    """Return AEC3 alone, which does not use what is known of the echo path."""
    return Aec3()


CANCELLERS: dict[str, Callable[[EchoPath | None], EchoCanceller]] = {"AEC3 alone": alone, "used": DualCanceller}


def main() -> int:
    """Print a table for each set of rooms; judge the new ones."""
    if not has_voices():
        raise SystemExit("espeak-ng and flite are needed to draw voices")
    seed = int(os.environ.get("ECHO_SEED", secrets.randbelow(1_000_000)))
    limit = float(os.environ.get("ECHO_MAX_S", MAX_S))
    ends = time.monotonic() + limit
    # Where time is short, half of it is for each table.
    table("rooms of CI", CI_ROOMS, time.monotonic() + limit / 2)
    count = int(os.environ.get("ECHO_ROOMS", "5"))
    met = table(f"rooms drawn anew (ECHO_SEED={seed})", range(seed, seed + count), ends)
    used, one = frame_costs((DualCanceller, alone))
    print(
        f"one frame of 10 ms: {used * 1e6:.0f} us, AEC3 alone {one * 1e6:.0f} us: {used / one:.2f}x "
        f"(target <= {COST:.2f}x  {'ok' if used / one <= COST else 'MISSED'})"
    )
    return 0 if met and used / one <= COST else 1


def table(title: str, seeds: Sequence[int], ends: float) -> bool:
    """Print the scores of all; return True when the used one meets the targets.

    Rooms count that are done by `ends`, in monotonic seconds.
    """
    print(title, flush=True)
    scores = scored_rooms(seeds, ends)
    if not scores:
        return False
    met = len(scores) == len(seeds)
    print(f"{'':32}" + "".join(f"{name:>11}" for name, *_ in TARGETS) + f"{'caught':>9}")
    for name in CANCELLERS:
        rooms = [scored[name] for scored in scores]
        values = [figure(rooms, field) for _, field, *_ in TARGETS]
        caught = f"{sum(room.caught for room in rooms)}/{sum(room.utterances for room in rooms)}"
        print(f"  {name:30}" + "".join(f"{value:11.1f}" for value in values) + f"{caught:>9}", flush=True)
        if name == "used":
            met &= all(sign * value >= sign * at for value, (_, _, at, sign) in zip(values, TARGETS, strict=True))
            print(f"    {of_first_words(rooms)}")
            for level in sorted({room.room.ser_db for room in rooms}):
                print(f"    {of_level(rooms, level)}")
    print("  target" + " " * 24 + "".join(f"{at:11.1f}" for *_, at, _ in TARGETS), flush=True)
    return met


def scored_rooms(seeds: Sequence[int], ends: float) -> list[dict[str, Scores]]:
    """Print and return the scores of the rooms that are done by `ends`."""
    scores: list[dict[str, Scores]] = []
    pool = ProcessPoolExecutor()
    rooms = [pool.submit(score_room, seed) for seed in seeds]
    try:
        for room in rooms:
            scores.append(room.result(max(0.0, ends - time.monotonic())))
            print(f"  {scores[-1]['used'].room}: {of_room(scores[-1]['used'])}", flush=True)
    except TimeoutError:
        print(f"  no time was left for {len(rooms) - len(scores)} of {len(rooms)} rooms", flush=True)
    pool.shutdown(cancel_futures=True)
    return scores


def figure(rooms: Sequence[Scores], field: str) -> float:
    """Return the mean of a score, or the marks or cuts a minute."""
    if field in ("cuts", "client_cuts", "false_pauses"):
        return sum(getattr(room, field) for room in rooms) / sum(room.answer_minutes for room in rooms)
    if field == "marks":
        return sum(room.marks for room in rooms) / sum(room.minutes for room in rooms)
    return statistics.fmean(getattr(room, field) for room in rooms) * (100 if field == "lost" else 1)


def of_level(rooms: Sequence[Scores], level: float) -> str:
    """Return what a person gets whose level over the echo is `level` dB."""
    those = [room for room in rooms if room.room.ser_db == level]
    lost, sdr = statistics.fmean(room.lost for room in those), statistics.fmean(room.sdr_db for room in those)
    return f"SER {level:+3.0f} dB, {len(those):2} rooms: {lost:5.1%} lost, SDR {sdr:4.1f} dB"


def of_first_words(rooms: Sequence[Scores]) -> str:
    """Return how soon the model is silent for a person in its first words."""
    texts = []
    for call, times in (("first", [room.first_ms for room in rooms]), ("later", [room.again_ms for room in rooms])):
        for side, values in zip(("silent", "server", "client"), map(sorted, zip(*times, strict=True)), strict=True):
            worst = values[round(0.95 * (len(values) - 1))]
            texts.append(f"{call} call, {side} {statistics.median(values):.0f} ms (p95 {worst:.0f})")
    return f"first words: {'; '.join(texts)}; target {FIRST_MS:.0f} ({FIRST_P95_MS:.0f})"


def of_room(scores: Scores) -> str:
    """Return the marks and cuts in a room, and what is lost of a person's words."""
    return f"{scores.lost:.1%} lost, marks and cuts: {', '.join(scores.where) or 'none'}"


def score_room(seed: int) -> dict[str, Scores]:
    """Return the scores of all cancellers in the room of a seed."""
    return {name: score(make, draw_room(seed)) for name, make in CANCELLERS.items()}


def frame_costs(makers: Sequence[Callable[[EchoPath | None], EchoCanceller]]) -> list[float]:
    """Return the seconds of a frame with each canceller: the best of interleaved runs."""
    scene = make_scene("double", draw_room(CI_ROOMS[0]))
    times: list[list[float]] = [[] for _ in makers]
    for _ in range(5):
        for make, taken in zip(makers, times, strict=True):
            canceller = make(None)
            began = time.thread_time()
            run(canceller, scene)
            taken.append((time.thread_time() - began) / (len(scene.far) / 160))
    return [min(taken) for taken in times]


if __name__ == "__main__":
    sys.exit(main())
