"""Print how much of people's own words the bundled agents understand.

`python -m tests.paraphrases [NAME] [--spoken flite|espeak]`. Of held sentences only figures are
printed.
"""

from __future__ import annotations

import argparse
from collections import Counter

from tests.paraphrases.measuring import NAMES, Judged, figures, measure_all

VOICES = {"flite": "flite:slt", "espeak": "espeak:en-us"}
KINDS = ("call", "asks", "answers", "refuses", "any", "state")


def main() -> int:
    """Measure one file of sentences; 1 when an agent did something unasked."""
    parser = argparse.ArgumentParser(prog="python -m tests.paraphrases", description=__doc__)
    parser.add_argument("name", nargs="?", choices=NAMES, default="open")
    parser.add_argument("--agent", default="", help="one agent only")
    parser.add_argument("--spoken", default="", metavar="VOICE", help="say them: flite, espeak or PROGRAM:NAME")
    chosen = parser.parse_args()
    voice = VOICES.get(chosen.spoken, chosen.spoken)
    judged = measure_all(chosen.name, voice, chosen.agent)
    if not chosen.name.startswith("held"):
        for one in judged:
            if not one.is_right:
                tell(one)
    groups = [("agent", lambda one: one.line["agent"]), ("kind", kind_of)]
    for title, group in groups:
        total, right, wrong = (
            Counter(map(group, chosen_ones))
            for chosen_ones in (judged, [j for j in judged if j.is_right], [j for j in judged if j.is_wrong])
        )
        print(f"{title:<16} {'understood':>10} {'':>10} {'wrong actions':>14}")
        for name in total:
            share = right[name] / total[name]
            print(f"{name:<16} {share:>10.0%} {right[name]:>4} of {total[name]:<2} {wrong[name]:>14}")
    share, wrong_all = figures(judged)
    print(f"{chosen.name}: {share:.0%} of {len(judged)} right, {wrong_all} wrong actions")
    return 1 if wrong_all else 0


def kind_of(one: Judged) -> str:
    """Return the kind of outcome that a sentence has."""
    return next(kind for kind in KINDS if kind in one.line)


def tell(one: Judged) -> None:
    """Print a sentence that was not understood, with what followed."""
    line = one.line
    wanted = {key: value for key, value in line.items() if key in KINDS}
    print(f"{'WRONG' if one.is_wrong else 'missed'} {line['agent']}: {line['say']!r} after {line.get('before', [])}")
    print(f"    wanted {wanted}\n    got {list(one.turn.calls)} {sorted(one.turn.changed)} {one.turn.answer!r}")
    if one.turn.heard != line["say"]:
        print(f"    heard {one.turn.heard!r}")


if __name__ == "__main__":
    raise SystemExit(main())
