"""Run a module of the tests in a process of its own, and read what it tells."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def told_by(module: str, *options: str) -> dict[str, Any]:
    """Run `python -m module options`, and return the JSON object that it prints."""
    command = [sys.executable, "-m", module, *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    told: dict[str, Any] = json.loads(ended.stdout)
    return told
