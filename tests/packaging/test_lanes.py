"""The Makefile runs lanes of tests beside each other and loses no result."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.packaging.tree import ROOT


def make(folder: Path, recipe: str) -> subprocess.CompletedProcess[str]:
    """Run a recipe that may use the Makefile's variables."""
    path = folder / "Makefile"
    path.write_text(f"include {ROOT}/Makefile\nrecipe:\n\t@{recipe}\n")
    command = ["make", "--no-print-directory", "-f", str(path), "recipe"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


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
