"""The Makefile runs lanes of tests beside each other and loses no result."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests import conftest
from tests.packaging.tree import ROOT
from tests.support.patience import PATIENCE_S


def make(folder: Path, recipe: str) -> subprocess.CompletedProcess[str]:
    """Run a recipe that may use the Makefile's variables."""
    path = folder / "Makefile"
    path.write_text(f"include {ROOT}/Makefile\nrecipe:\n\t@{recipe}\n")
    command = ["make", "--no-print-directory", "-f", str(path), "recipe"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_the_output_of_the_quiet_lane_comes_after_that_of_the_other(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    quiet = f"sh -c 'echo one; echo two >&2; : >{gate}; echo three'"
    shown = f"sh -c 'echo first; until [ -e {gate} ]; do :; done; echo last'"
    finished = make(tmp_path, f"$(call beside,{quiet},{shown})")
    assert (finished.returncode, finished.stdout.split()) == (0, ["first", "last", "one", "two", "three"])


@pytest.mark.parametrize(("quiet", "shown"), [("false", "true"), ("true", "false"), ("false", "false")])
def test_a_failure_of_either_lane_fails_both(tmp_path: Path, quiet: str, shown: str) -> None:
    assert make(tmp_path, f"$(call beside,{quiet},{shown})").returncode != 0


def test_a_lane_that_fails_does_not_hide_the_output_of_the_other(tmp_path: Path) -> None:
    assert make(tmp_path, "$(call beside,echo passed,false)").stdout.split() == ["passed"]


def test_the_lowest_versions_are_tested_with_files_that_exist(tmp_path: Path) -> None:
    named = make(tmp_path, "echo $(LOWEST)").stdout.split()
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_lanes_hold_every_file_of_tests_once(tmp_path: Path) -> None:
    lanes = make(tmp_path, "echo $(FAST) $(REST) $(ALONE)").stdout.split()
    held = [file for name in lanes for file in (sorted((ROOT / name).rglob("test_*.py")) or [ROOT / name])]
    twice = {str(file.relative_to(ROOT)) for file in held if held.count(file) > 1}
    missing = {str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("test_*.py") if file not in held}
    # It is ignored in the fast lane.
    assert twice == {"tests/unit/local/test_recogniser_accuracy.py"}
    assert missing == set()


def test_no_lane_names_a_folder_behind_one_of_its_files(tmp_path: Path) -> None:
    # pytest takes no further files of such a folder.
    lanes = make(tmp_path, "echo $(REST)").stdout.split()
    assert [name for name in lanes if any(other.startswith(f"{name}/") for other in lanes)] == []


def test_each_worker_collects_other_files_first_and_runs_the_tests_in_the_order_given() -> None:
    for worker, first in enumerate((["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"])):
        config: Any = SimpleNamespace(args=["a", "b", "c"], invocation_params=SimpleNamespace(dir=ROOT))
        config.stash, config.workerinput = pytest.Stash(), {"workerid": f"gw{worker}", "workercount": 3}
        conftest.pytest_configure(config)
        assert config.args == first
        items: Any = [SimpleNamespace(path=ROOT / folder / f"test_{n}.py") for folder in first for n in range(2)]
        conftest.pytest_collection_modifyitems(config, items)
        assert [str(item.path.relative_to(ROOT)) for item in items] == [
            f"{folder}/test_{n}.py" for folder in "abc" for n in range(2)
        ]
