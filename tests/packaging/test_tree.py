"""No committed file names the machine it was written on, or a package index."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.packaging.tree import ROOT, committed_files

FOLDERS = rb"root|home|work|workspace|Users|opt|mnt|srv"
MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:" + FOLDERS + rb")/\w")
TEMPORARY_PATH = re.compile(rb"(?<![\w.:-])/tmp\b")
"""A fixed temporary directory; `${TMPDIR:-/tmp}` asks the environment first and is allowed."""

INDEX = re.compile(
    rb"\b(?:pypi|testpypi|test\.pypi|pythonhosted)\.org|--(?:extra-)?index-url|--find-links", re.IGNORECASE
)


def lines_with(pattern: re.Pattern[bytes]) -> list[str]:
    """Return the lines of this project's text files (but this) that match `pattern`."""
    files = [file for file in committed_files() if ROOT / file != Path(__file__).resolve()]
    contents = ((file, (ROOT / file).read_bytes()) for file in files)
    lines = (
        (file, number, line)
        for file, content in contents
        if b"\0" not in content
        for number, line in enumerate(content.splitlines(), 1)
    )
    return [f"{file}:{number}: {line[:200]!r}" for file, number, line in lines if pattern.search(line)]


@pytest.mark.parametrize("pattern", [MACHINE_PATH, TEMPORARY_PATH, INDEX], ids=["home", "temporary", "index"])
def test_no_path_of_a_machine_and_no_package_index_is_committed(pattern: re.Pattern[bytes]) -> None:
    assert lines_with(pattern) == []


def test_no_two_test_files_have_the_same_name() -> None:
    # Test folders are no packages: pytest imports files by their base names, which must be unique.
    names = Counter(file.name for file in committed_files() if file.parts[0] == "tests" and file.match("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_folder_of_this_very_checkout_is_not_committed() -> None:
    assert lines_with(re.compile(re.escape(str(ROOT).encode()) + rb"\b")) == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (MACHINE_PATH, b'DATA = Path("/home/ann/data")'),
        (MACHINE_PATH, b"cd /work/main && make"),
        (TEMPORARY_PATH, b'open("/tmp/x.wav")'),
        (INDEX, b"https://files.pythonhosted.org/packages/x.whl"),
        (INDEX, b"pip install --extra-index-url https://index.example/simple x"),
    ],
)
def test_the_search_finds_what_it_looks_for(pattern: re.Pattern[bytes], line: bytes) -> None:
    assert pattern.search(line)
