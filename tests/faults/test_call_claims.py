"""A call that several programs want to run is run by one at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.patience import PATIENCE_S

from gemini_live_runtime.harness.call_claims import claim_call
from gemini_live_runtime.harness.store import Harness

KEY = "0" * 64

_RUNNER = """
import os, sys
from pathlib import Path
from gemini_live_runtime.harness.call_claims import claim_call

root, key, wanted = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
inside = root.parent / "inside"
print(flush=True)
sys.stdin.readline()
while wanted:
    claim = claim_call(root, key)
    if claim is None:
        os.sched_yield()
        continue
    os.close(os.open(inside, os.O_CREAT | os.O_EXCL))
    os.sched_yield()
    os.unlink(inside)
    claim.release()
    wanted -= 1
"""

_HOLDER = """
import sys
from pathlib import Path
from gemini_live_runtime.harness.call_claims import claim_call

claim = claim_call(Path(sys.argv[1]), sys.argv[2])
print(claim is not None, flush=True)
sys.stdin.read()
"""


def program(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("exists", [True, False])
def test_of_programs_that_claim_a_call_one_has_it_and_each_gets_it(tmp_path: Path, exists: bool) -> None:
    root = tmp_path / "root"
    if exists:
        Harness.open(root).close()
    programs = [program(_RUNNER, root, KEY, 150) for _ in range(3)]
    for one in programs:
        assert one.stdout is not None
        assert one.stdout.readline() == "\n"
    for one in programs:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    for one in programs:
        _, errors = one.communicate(timeout=PATIENCE_S)
        assert (one.returncode, errors) == (0, "")
    assert not (root / "calls").exists()


def test_the_claim_of_a_killed_program_is_free_and_its_file_goes(tmp_path: Path) -> None:
    holder = program(_HOLDER, tmp_path, KEY)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    assert claim_call(tmp_path, KEY) is None
    holder.kill()
    holder.communicate()
    claim = claim_call(tmp_path, KEY)
    assert claim is not None
    claim.release()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_others_and_a_full_disk_get_no_file(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear")
    assert claim_call(tmp_path, KEY) is not None
    (tmp_path / "file").write_text("")
    assert claim_call(tmp_path / "file" / "root", KEY) is not None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "letter.txt"]


def test_a_file_in_place_of_the_folder_of_claims_holds_no_call_up(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        harness.paths.calls.write_text("")
        assert claim_call(tmp_path, KEY) is not None
