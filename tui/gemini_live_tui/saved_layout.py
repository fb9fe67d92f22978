"""Keep the pane layout between two starts, in a file apart from the config."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gemini_live_runtime.paths import private_dir, read_regular, write_private

MAX_BYTES = 64 * 1024


def recall(path: Path | None) -> dict[str, Any]:
    """Return the saved values; {} without a usable file."""
    if path is None:
        return {}
    try:
        value = json.loads(read_regular(path, MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def remember(path: Path | None, **values: Any) -> None:
    """Save `values` beside the others; a failure to write is ignored."""
    if path is None:
        return
    known = recall(path)
    if {**known, **values} == known:
        return
    try:
        private_dir(path.parent)
        write_private(path, {**known, **values})
    except (OSError, ValueError):
        return
