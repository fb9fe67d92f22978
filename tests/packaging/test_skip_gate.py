"""CI fails on a skipped test that `allowed_skips.toml` does not name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packaging.tree import ROOT

SKIPPING = "import pytest\n\ndef test_a(): pass\n\n@pytest.mark.skip(reason='no microphone')\ndef test_b(): pass\n"
ALLOWED = '[[skip]]\ntest = "test_some.py::test_b"\nreason = "it has one"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with this project's conftest and two tests, one of them skipped."""
    shutil.copy(ROOT / "tests/conftest.py", tmp_path)
    (tmp_path / "allowed_skips.toml").write_text("skip = []\n")
    (tmp_path / "test_some.py").write_text(SKIPPING)
    return tmp_path


def run(project: Path, *, ci: bool) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(project), str(project)]
    environment = {**inherited, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **({"CI": "true"} if ci else {})}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_ci_fails_on_a_skip_that_is_not_listed(project: Path) -> None:
    finished = run(project, ci=True)
    assert finished.returncode == pytest.ExitCode.TESTS_FAILED
    assert "UNLISTED SKIP test_some.py::test_b: " in finished.stdout
    assert "no microphone" in finished.stdout


def test_ci_passes_a_listed_skip(project: Path) -> None:
    (project / "allowed_skips.toml").write_text(ALLOWED)
    finished = run(project, ci=True)
    assert finished.returncode == 0, finished.stdout
    assert "UNLISTED" not in finished.stdout


def test_outside_ci_a_skip_is_reported_and_does_not_fail(project: Path) -> None:
    finished = run(project, ci=False)
    assert finished.returncode == 0, finished.stdout
    assert "UNLISTED SKIP" in finished.stdout


def test_a_file_that_skips_itself_is_not_overlooked(project: Path) -> None:
    (project / "test_other.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    (project / "allowed_skips.toml").write_text(ALLOWED)
    finished = run(project, ci=True)
    assert finished.returncode == pytest.ExitCode.TESTS_FAILED
    assert "UNLISTED SKIP test_other.py" in finished.stdout


@pytest.mark.parametrize("entry", ['test = ""\nreason = "x"', 'test = "test_some.py"', 'reason = "x"'])
def test_a_list_without_names_or_reasons_is_refused(project: Path, entry: str) -> None:
    (project / "allowed_skips.toml").write_text(f"[[skip]]\n{entry}\n")
    finished = run(project, ci=False)
    assert finished.returncode == pytest.ExitCode.USAGE_ERROR
    assert "allowed_skips.toml: an entry has no" in finished.stderr


def test_the_last_line_is_the_summary(project: Path) -> None:
    last = run(project, ci=True).stdout.strip().splitlines()[-1]
    assert last.startswith("1 passed, 1 skipped in ")
