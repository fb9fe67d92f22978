"""Make each mutation in a process of its own and check that its tests fail.

Exit code 0 when the tests noticed every mutation; 1 when one survived, broke the run, or names what is not there.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutation import Mutation
from tests.mutants.mutations import MUTATIONS
from tests.mutants.plugin import VARIABLE

ROOT = Path(__file__).parents[2]
SESSION_TESTS = ROOT / "tests" / "session"
LONGEST_S = 60.0
"""Seconds after which tests count as hanging, which is a way of noticing."""

NOTICED, SURVIVED = "noticed", "SURVIVED"


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a mutation: noticed (`by` a test or a hang), survived, or broken."""

    mutation: Mutation
    outcome: str
    seconds: float
    by: str = ""

    @property
    def good(self) -> bool:
        """True when a test noticed."""
        return self.outcome == NOTICED


def run_tests(files: Sequence[str], part: str = "") -> tuple[int | None, str]:
    """Run session tests, with a mutation if named; return exit code and output.

    The exit code is None when the tests with a mutation hung.
    """
    paths = [str(path) for file in files for path in SESSION_TESTS.rglob(f"test_{file}.py")]
    options = ["-c", "tests/mutants/pytest.ini", "--rootdir", str(ROOT), "-p", "tests.mutants.plugin"]
    environment = {
        **{name: value for name, value in os.environ.items() if name not in (VARIABLE, "PYTEST_ADDOPTS", "CI")},
        "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("runtime", "tui", ".")),
        "PYTHONHASHSEED": "0",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        **({VARIABLE: part} if part else {}),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", *options, *paths],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LONGEST_S if part else None)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""
    return process.returncode, output


def check(mutation: Mutation) -> Result:
    """Run the tests of a mutation and print how it went."""
    began = time.monotonic()
    code, output = run_tests(mutation.tests.split(), mutation.part)
    seconds = time.monotonic() - began
    match code:
        case None:
            result = Result(mutation, NOTICED, seconds, f"a hang of {LONGEST_S:g} s")
        case 0:
            result = Result(mutation, SURVIVED, seconds)
        case 1:
            result = Result(mutation, NOTICED, seconds, _first_failure(output))
        case _:
            result = Result(mutation, f"BROKEN ({code})", seconds, output.strip().splitlines()[-1])
    print(f"{result.outcome:9} {seconds:5.1f} s  {mutation.module:24} {mutation.part:60} {result.by}", flush=True)
    return result


def _first_failure(output: str) -> str:
    failed = [line for line in output.splitlines() if line.startswith("FAILED ")]
    return failed[0].partition("::")[2].partition(" - ")[0] if failed else ""


def chosen_from(text: str, every: int) -> list[Mutation]:
    """Return every `every`-th of the mutations whose part or module contains `text`."""
    return [each for each in MUTATIONS if text in each.part or text in each.module][::every]


def main() -> int:
    """Run the mutations and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("-k", default="", help="only mutations whose part or module contains this")
    parser.add_argument("--every", type=int, default=1, help="a sample: only every n-th of them")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    options = parser.parse_args()
    chosen = chosen_from(options.k, options.every)
    problems = [problem for problem in (each.problem() for each in chosen) if problem]
    for problem in problems:
        print(f"NOT FOUND {problem}")
    if problems or not chosen:
        print("Bring tests/mutants/mutations_of_*.py up to date" if problems else f"No mutation contains {options.k!r}")
        return 1
    code, output = run_tests(sorted({file for each in chosen for file in each.tests.split()}))
    if code != 0:
        print(f"{output}\nThe tests fail without any mutation")
        return 1
    began = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(check, chosen))
    bad = [result for result in results if not result.good]
    print(f"\n{len(results) - len(bad)} of {len(results)} noticed in {time.monotonic() - began:.0f} s")
    for result in bad:
        print(f"{result.outcome}: {result.mutation.part} ({result.mutation.module})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
