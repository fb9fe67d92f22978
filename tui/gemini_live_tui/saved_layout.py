"""Keep the pane layout between two starts, in a file apart from the config."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MAX_BYTES = 64 * 1024


def recall(path: Path | None) -> dict[str, Any]:
    """Return the saved values; {} without a usable file."""
    if path is None:
        return {}
    try:
        if path.stat().st_size > MAX_BYTES:
            return {}
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def remember(path: Path | None, **values: Any) -> None:
    """Save `values` beside the others; a failure to write is ignored."""
    if path is None:
        return
    from gemini_live_runtime.paths import private_dir, write_private

    known = recall(path)
    if {**known, **values} == known:
        return
    try:
        private_dir(path.parent)
        write_private(path, {**known, **values})
    except (OSError, ValueError):
        return
