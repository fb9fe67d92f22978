"""The table of mutations matches the session, and tests notice a sample of them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.mutants.edits import drop
from tests.mutants.mutation import Mutation
from tests.mutants.mutations import MUTATIONS

TESTS = Path(__file__).parents[1]


def test_every_mutation_finds_what_it_takes_out() -> None:
    assert [problem for problem in (mutation.problem() for mutation in MUTATIONS) if problem] == []


def test_every_mutation_names_tests_that_exist() -> None:
    named = {file for mutation in MUTATIONS for file in mutation.tests.split()}
    there = {path.stem.removeprefix("test_") for path in (TESTS / "session").rglob("test_*.py")}
    assert sorted(named - there) == []


def test_no_mutation_is_listed_twice() -> None:
    assert [part for part, count in Counter(each.part for each in MUTATIONS).items() if count > 1] == []


def test_a_name_that_is_gone_is_a_problem() -> None:
    known = MUTATIONS[0]
    for module, function, edit in (
        ("no_such_module", known.function, known.edit),
        (known.module, "NoSuchClass.method", known.edit),
        (known.module, known.function, drop("no_such_call")),
    ):
        assert "a part: " in Mutation("a part", module, function, edit, known.tests).problem()


def test_a_sample_of_the_mutations_is_noticed() -> None:
    command = [sys.executable, "-m", "tests.mutants", "--every", str(len(MUTATIONS) // 3)]
    finished = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, timeout=400, check=False)
    assert finished.returncode == 0, finished.stdout
