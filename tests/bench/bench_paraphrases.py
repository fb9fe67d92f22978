"""Measure how much of people's own words the bundled agents understand.

    .venv/bin/python tests/bench/bench_paraphrases.py

Types the sentences of the newest sets of tests/data/paraphrases, and has a synthetic voice say those of the last one;
`make soak` types all of them. Three voices say sentences that no dialogue understands.

Targets: 85 % typed and 75 % spoken are understood, none leads to a wrong action, and no foreign one to a call.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.paraphrases.measuring import NAMES, figures, measure_all  # noqa: E402
from tests.support.recogniser_evaluation import by_default, count_foreign  # noqa: E402
from tests.support.synthetic_speech import have_voices  # noqa: E402

from gemini_live_runtime.clock import run_virtual  # noqa: E402

TYPED, SPOKEN = 0.85, 0.75
"""Least shares of sentences that are understood."""

VOICE = "flite:slt"
NEWEST = NAMES[-8:]
"""Four sets, each of an open and a held half: about five minutes."""

LAST = NAMES[-2:]


def main() -> int:
    """Print a line for each file of sentences; 1 when a target is missed."""
    print(f"{'sentences':<20} {'understood':>10} {'target':>7} {'wrong actions':>14}")
    are_met = [_is_met(name, "", TYPED) for name in NEWEST]
    if have_voices() and importlib.util.find_spec("pocketsphinx") is not None:
        are_met += [_is_met(name, VOICE, SPOKEN) for name in LAST]
        foreign = run_virtual(count_foreign(make=by_default))
        told = f"{foreign.said} said, {foreign.unheard} not heard, {foreign.asked} asked about"
        print(f"{'foreign, spoken':<39} {foreign.acted:>14}   ({told})", flush=True)
        are_met.append(not foreign.acted)
    else:
        print("Nothing is spoken: flite, espeak-ng or the recogniser (extra: local) is not installed.")
    return 0 if all(are_met) else 1


def _is_met(name: str, voice: str, target: float) -> bool:
    share, wrong = figures(measure_all(name, voice))
    label = f"{name}, {'spoken' if voice else 'typed'}"
    print(f"{label:<20} {share:>10.0%} {target:>7.0%} {wrong:>14}", flush=True)
    return share >= target and not wrong


if __name__ == "__main__":
    sys.exit(main())
