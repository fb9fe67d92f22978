"""Start the embedded server as a program, for clients of other environments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.patience import PATIENCE_S

RUNTIME = Path(__file__).parents[2] / "runtime"
CONCIERGE = RUNTIME / "gemini_live_runtime/agents/dialogues/concierge.toml"


@pytest.fixture(scope="module")
def clean_environment() -> dict[str, str]:
    """Return the environment without settings of Google's clients."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "GEMINI_"))}


@pytest.fixture(scope="module")
def live_server(clean_environment: dict[str, str]) -> Iterator[str]:
    """Yield the URL of a server that ends with the module."""
    server = subprocess.Popen(
        [sys.executable, "-m", "gemini_live_runtime.local", "--exit-with-parent", "--script", str(CONCIERGE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**clean_environment, "PYTHONPATH": str(RUNTIME)},
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield json.loads(server.stdout.readline())["url"]
    finally:
        server.stdin.close()
        server.wait(timeout=PATIENCE_S)
        server.stdout.close()
