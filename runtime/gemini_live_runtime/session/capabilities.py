"""What a model can do, by its name: how text travels, how tools may answer, which settings it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gemini_live_runtime.tools.declaration import Tool


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Of one model with one set of tools."""

    text_is_realtime: bool = False
    """Mid-session text must travel as realtime input; client content only seeds the history."""
    async_tools: bool = True
    scheduling: Mapping[str, str] = field(default_factory=dict)
    """How the answers of non-blocking tools are scheduled, by tool name."""

    def scheduling_of(self, name: str) -> str | None:
        """The scheduling to send with the answer of tool `name`; None for a blocking one."""
        return self.scheduling.get(name)


def capabilities_of(model: str, tools: tuple[Tool, ...]) -> Capabilities:
    """Capabilities of `model` (a bare name, `models/NAME` or a Vertex path)."""
    name = model.rsplit("/", 1)[-1]
    only_sync = "3.1-flash-live" in name
    return Capabilities(
        text_is_realtime=only_sync,
        async_tools=not only_sync,
        scheduling={} if only_sync else {t.name: t.scheduling or "WHEN_IDLE" for t in tools if not t.blocking},
    )
