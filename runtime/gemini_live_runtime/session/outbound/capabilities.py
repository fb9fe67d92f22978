"""What a model can do, by its name: how text travels, how tools may answer, which settings it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from gemini_live_runtime.errors import AgentError

Route: TypeAlias = Literal["context_update", "system_content", "user_note", "reconnect"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Of one model."""

    text_is_realtime: bool = False
    """Mid-session text must travel as realtime input; client content only seeds the history."""
    context_mid_session: bool = True
    """In mid-session it can be told something that it does not answer, and be asked to speak without being told."""
    async_tools: bool = True
    instruction_route: Route = "user_note"
    """How a new instruction reaches the model in mid-session."""
    instruction_routes: frozenset[Route] = frozenset(get_args(Route))
    """Every way in which one does."""

    def route(self, wanted: Route | Literal["auto"] = "auto", *, model: str = "This model") -> Route:
        """The route of new instructions: the one that is `wanted`, or the model's own.

        Raises `AgentError` for a route that leads nowhere: the server would refuse the message, or say nothing of it.
        """
        if wanted == "auto":
            return self.instruction_route
        if wanted not in self.instruction_routes:
            known = ", ".join(name for name in get_args(Route) if name in self.instruction_routes)
            raise AgentError(
                f"{model} takes no instruction by {wanted}",
                remedy=f"Leave instruction_route out, or use one of {known}",
                field="instruction_route",
                value=wanted,
            )
        return wanted


def capabilities_of(model: str, *, vertex: bool = False) -> Capabilities:
    """Capabilities of `model` (a bare name, `models/NAME` or a Vertex path)."""
    name = model.rsplit("/", 1)[-1]
    only_sync = "3.1-flash-live" in name
    route, *others = _instruction_routes(name, vertex)
    return Capabilities(
        text_is_realtime=only_sync,
        context_mid_session=not only_sync,
        async_tools=not only_sync,
        instruction_route=route,
        instruction_routes=frozenset((route, *others)),
    )


def _instruction_routes(name: str, vertex: bool) -> tuple[Route, ...]:
    """The routes that lead to the model, the best one first."""
    if "3.1-flash-live" in name:
        # Client content only seeds the history there, and text as input would be answered.
        return ("reconnect",)
    if name.startswith("local-"):
        return ("context_update", "system_content", "user_note", "reconnect")
    # The Developer API rejects the role "system".
    content: tuple[Route, ...] = ("system_content", "user_note") if vertex else ("user_note",)
    return (*(("context_update",) if "3.8-live" in name else ()), *content, "reconnect")
