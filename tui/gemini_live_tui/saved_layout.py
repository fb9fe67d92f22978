"""What a console remembers from one start to the next: its arrangement. A file of its own, never the config file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MAX_BYTES = 64 * 1024


def recall(path: Path | None) -> dict[str, Any]:
    """What was remembered; nothing when there is no such file or it cannot be used."""
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
    """Keep `values` beside what else is remembered; a disk that refuses costs nothing but the memory."""
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
