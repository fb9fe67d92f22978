"""Every public name and every known fault has a session test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from tests.session.names import ABSENT_FAULTS, ASKED_FOR, COVERED, VOICE_SESSION

import gemini_live_runtime

HERE = Path(__file__).parent
NAMES = ASKED_FOR.replace("\n", " ").replace(" ", "").split(",")


@cache
def in_file(file: str) -> set[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse(next(HERE.rglob(f"test_{file}.py")).read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {node.name for node in functions if node.name.startswith("test_")}


def test_every_name_that_was_asked_for_has_a_test_and_no_other_is_listed() -> None:
    assert set(COVERED) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_imported_from_the_package_itself(name: str) -> None:
    assert getattr(gemini_live_runtime, name) is not None


@pytest.mark.parametrize("name", NAMES)
def test_the_test_of_a_name_exists_and_its_file_uses_the_name(name: str) -> None:
    file, _, test = COVERED[name].partition("::")
    assert test in in_file(file)
    uses = re.findall(rf"\b{name}\b", next(HERE.rglob(f"test_{file}.py")).read_text())
    assert len(uses) >= 2, "it is imported and not used"


@pytest.mark.parametrize("number", range(1, 21))
def test_the_absence_of_a_known_fault_is_shown_by_tests_that_exist(number: int) -> None:
    assert ABSENT_FAULTS[number]
    for where in ABSENT_FAULTS[number]:
        file, _, test = where.partition("::")
        assert test in in_file(file), where


@pytest.mark.parametrize("ability", VOICE_SESSION)
def test_each_ability_of_a_voice_session_has_tests_that_exist(ability: str) -> None:
    assert VOICE_SESSION[ability]
    for where in VOICE_SESSION[ability]:
        file, _, test = where.partition("::")
        assert test in in_file(file), where
