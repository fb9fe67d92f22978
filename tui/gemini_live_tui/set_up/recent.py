"""Remember recently used agents of the user in a private file."""

from __future__ import annotations

import json
import time
from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.records import record

MAX_AGENTS = 12
"""Agents remembered; the least recently used one is dropped."""

MAX_REFERENCE = 1000
MAX_BYTES = 64 * 1024


@record
class RecentAgent:
    """Reference of an agent, as `run` takes it, and when it was used."""

    reference: str
    used: float
    """Time of the last use, in Unix seconds."""
    folder: str = ""
    """Working directory of the start, for a module: it can be imported from there only."""

    @property
    def problem(self) -> str:
        """Reason why it cannot be started now, or ""; checked on each access."""
        place = self.reference.rpartition(":")[0]
        if place.endswith(".py"):
            return "" if Path(place).is_file() else "the file is gone"
        return "" if self.folder in ("", str(Path.cwd())) else f"a module, found from {self.folder} only"


def recent_agents() -> list[RecentAgent]:
    """Return the remembered agents, the latest first.

    Returns an empty list when the file is missing or damaged.
    """
    try:
        kept = json.loads(paths.read_regular(_path(), MAX_BYTES))["agents"]
        agents = [
            RecentAgent(reference, used, folder)
            for entry in kept
            if isinstance(reference := entry.get("reference"), str)
            and isinstance(used := entry.get("used"), int | float)
            and isinstance(folder := entry.get("folder", ""), str)
            and 0 < len(reference) <= MAX_REFERENCE
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    return sorted(agents, key=lambda agent: -agent.used)[:MAX_AGENTS]


def remember(reference: str, now: float | None = None) -> None:
    """Put an agent at the head of the list; ignore a file that cannot be written."""
    place, _, attribute = reference.rpartition(":")
    folder = ""
    if place.endswith(".py"):
        reference = f"{Path(place).resolve()}:{attribute}"
    else:
        folder = str(Path.cwd())
    others = [agent for agent in recent_agents() if agent.reference != reference]
    agents = [RecentAgent(reference, time.time() if now is None else now, folder), *others][:MAX_AGENTS]
    entries = [{"reference": agent.reference, "used": agent.used, "folder": agent.folder} for agent in agents]
    try:
        paths.private_dir(_path().parent)
        paths.write_private(_path(), {"agents": entries})
    except (OSError, UsageError):
        return


def _path() -> Path:
    return paths.state_dir() / "recent-agents.json"
