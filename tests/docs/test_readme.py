"""The README's own files run as they stand and print what their comments say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FILE = re.compile(r"^```python\n# (\S+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def test_the_program_of_the_readme_prints_what_it_says(tmp_path: Path) -> None:
    files = dict(_FILE.findall((ROOT / "README.md").read_text("utf-8")))
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    path = os.pathsep.join(str(ROOT / part) for part in ("tui", "runtime"))
    ran = subprocess.run(
        [sys.executable, "one_call.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    promised = _PRINTED.findall(files["one_call.py"])
    assert len(promised) == 2
    assert (ran.returncode, ran.stdout.splitlines()) == (0, promised), ran.stderr
