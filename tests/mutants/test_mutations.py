"""The list of mutations keeps up with the session."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.mutants.__main__ import unmatched
from tests.mutants.mutations import MUTATIONS

SESSION = Path(__file__).parents[1] / "session"


def test_the_text_of_every_mutation_is_in_its_file_once() -> None:
    assert unmatched(MUTATIONS) == []


def test_every_mutation_names_tests_that_exist() -> None:
    named = {file for mutation in MUTATIONS for file in mutation.tests.split()}
    assert [file for file in sorted(named) if not (SESSION / f"test_{file}.py").exists()] == []


def test_no_mutation_is_listed_twice() -> None:
    assert [part for part, count in Counter(each.part for each in MUTATIONS).items() if count > 1] == []


def test_every_mutation_changes_something() -> None:
    assert [each.part for each in MUTATIONS if each.old == each.new] == []
