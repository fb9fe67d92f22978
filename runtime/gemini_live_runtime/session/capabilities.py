"""What a model can do, by its name: how text travels, how tools may answer, which settings it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Route: TypeAlias = Literal["context_update", "system_content", "user_note", "reconnect"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Of one model."""

    text_is_realtime: bool = False
    """Mid-session text must travel as realtime input; client content only seeds the history."""
    async_tools: bool = True
    instruction_route: Route = "user_note"
    """How a new instruction reaches the model in mid-session."""


def capabilities_of(model: str, *, vertex: bool = False) -> Capabilities:
    """Capabilities of `model` (a bare name, `models/NAME` or a Vertex path)."""
    name = model.rsplit("/", 1)[-1]
    only_sync = "3.1-flash-live" in name
    return Capabilities(
        text_is_realtime=only_sync,
        async_tools=not only_sync,
        instruction_route=_instruction_route(name, vertex),
    )


def _instruction_route(
    name: str, vertex: bool
) -> Literal["context_update", "system_content", "user_note", "reconnect"]:
    if "3.1-flash-live" in name:
        # Client content only seeds the history there, and text as input would be answered.
        return "reconnect"
    if name.startswith("local-") or "3.8-live" in name:
        return "context_update"
    # The Developer API rejects the role "system".
    return "system_content" if vertex else "user_note"
