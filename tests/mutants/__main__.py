"""`python -m tests.mutants`: apply each mutation to a copy of the tree and see that its tests fail.

Exit code 0 when every mutation was noticed; 1 when one survived, broke something else, or its text is gone.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).parents[2]
TESTS = ("conftest.py", "session", "unit/session", "agents", "support", "data/speech")
NEEDED = ("runtime", "tui", "themes", *(f"tests/{part}" for part in TESTS))
LONGEST_S = 60.0
"""Seconds after which tests are taken to hang, which is a way of noticing."""

NOTICED, SURVIVED = "noticed", "SURVIVED"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutation: noticed, noticed by a hang, survived, or why it says nothing."""

    mutation: Mutation
    outcome: str
    seconds: float
    by: str = ""

    @property
    def good(self) -> bool:
        """Whether it was noticed."""
        return self.outcome == NOTICED


class Tree:
    """A copy of what the session-level tests need; the working tree is never touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in NEEDED:
            source, target = ROOT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy(source, target)
        # The session's tests need none of the plug-ins that pyproject.toml sets up; without them pytest starts faster.
        (folder / "pytest.ini").write_text("[pytest]\npythonpath = runtime tui .\n")
        shutil.copy(ROOT / "tests" / "allowed_skips.toml", folder / "tests")

    def run(self, files: Sequence[str], *, write_bytecode: bool = False) -> tuple[int | None, str]:
        """Run test files; the exit code (None: they hung), and what pytest printed."""
        paths = [f"tests/session/test_{file}.py" for file in files]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider", *paths]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "runtime"),
            "PYTHONHASHSEED": "0",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        if not write_bytecode:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
        return process.returncode, output

    def mutated(self, mutation: Mutation) -> Result:
        """Apply, run, put back."""
        path = self.folder / mutation.path
        source = path.read_text()
        began = time.monotonic()
        path.write_text(source.replace(mutation.old, mutation.new))
        self._forget_bytecode(path)
        try:
            code, output = self.run(mutation.tests.split())
        finally:
            path.write_text(source)
            self._forget_bytecode(path)
        seconds = time.monotonic() - began
        if code is None:
            return Result(mutation, NOTICED, seconds, f"a hang of {LONGEST_S:g} s")
        if code == 1:
            return Result(mutation, NOTICED, seconds, _first_failure(output))
        if code == 0:
            return Result(mutation, SURVIVED, seconds)
        return Result(mutation, f"BROKEN (pytest exit code {code})", seconds, output.strip().splitlines()[-1])

    def _forget_bytecode(self, path: Path) -> None:
        # Its time stamp may be the same to the second: a cached module must not outlive the mutation.
        for cached in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            cached.unlink()


def _first_failure(output: str) -> str:
    failed = [line for line in output.splitlines() if line.startswith("FAILED ")]
    return failed[0].partition("::")[2].partition(" - ")[0] if failed else ""


def unmatched(mutations: Sequence[Mutation], root: Path = ROOT) -> list[str]:
    """A sentence for each mutation whose text is no longer in its file, or no longer once."""
    problems = [mutation.problem((root / mutation.path).read_text()) for mutation in mutations]
    return [problem for problem in problems if problem]


def main() -> int:
    """Run the mutations; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("-k", default="", help="only mutations whose part or file contains this")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    options = parser.parse_args()
    chosen = [each for each in MUTATIONS if options.k in each.part or options.k in each.file]
    problems = unmatched(chosen)
    for problem in problems:
        print(f"NO LONGER MATCHES {problem}")
    if problems or not chosen:
        print("Bring tests/mutants/mutations.py up to date" if problems else f"There is no mutation like {options.k}")
        return 1
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        results = _run(chosen, Path(folder), options.jobs)
    bad = [result for result in results if not result.good]
    print(f"\n{len(results) - len(bad)} of {len(results)} noticed in {time.monotonic() - began:.0f} s")
    for result in bad:
        print(f"{result.outcome}: {result.mutation.part} ({result.mutation.file})")
    return 1 if bad or len(results) < len(chosen) else 0


def _run(chosen: Sequence[Mutation], folder: Path, jobs: int) -> list[Result]:
    trees: queue.Queue[Tree] = queue.Queue()
    first = Tree(folder / "1")
    code, output = first.run(sorted({file for each in chosen for file in each.tests.split()}), write_bytecode=True)
    if code != 0:
        print(output)
        print("The tests fail without any mutation")
        return []
    trees.put(first)
    for number in range(2, jobs + 1):
        shutil.copytree(first.folder, folder / str(number), symlinks=True)
        copy = object.__new__(Tree)
        copy.folder = folder / str(number)
        trees.put(copy)

    def one(mutation: Mutation) -> Result:
        tree = trees.get()
        try:
            result = tree.mutated(mutation)
        finally:
            trees.put(tree)
        print(
            f"{result.outcome:9} {result.seconds:5.1f} s  {mutation.file:18} {mutation.part:60} {result.by}", flush=True
        )
        return result

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, chosen))


if __name__ == "__main__":
    sys.exit(main())
