"""Look up a model's capabilities by its name: routes of text, kinds of tools."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import record

Route: TypeAlias = Literal["context_update", "system_content", "user_note", "reconnect"]


@record
class Capabilities:
    """Capabilities of one model."""

    text_is_realtime: bool = False
    """True when text during a session must travel as realtime input: client content only seeds the history."""
    context_mid_session: bool = True
    """True when the model takes context without answering it, and speaks on a prompt without text."""
    async_tools: bool = True
    """True when the model can go on speaking while a tool runs."""
    instruction_route: Route = "user_note"
    """Best route of a new instruction during a session."""
    instruction_routes: frozenset[Route] = frozenset(get_args(Route))
    """Every route of a new instruction that works."""
    connection_limit_s: float | None = None
    """Seconds after which the server ends a connection, whether or not it has said so; None without a known limit."""

    def route(self, wanted: Route | Literal["auto"] = "auto", *, model: str = "This model") -> Route:
        """Return the route of new instructions: `wanted`, or for "auto" the model's best.

        Raises `AgentError` for a route that the model does not support: the server would refuse or ignore the message.
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
    """Return the capabilities of `model`: a name, `models/NAME` or a Vertex path."""
    name = model.rsplit("/", 1)[-1]
    only_sync = "3.1-flash-live" in name
    route, *others = _instruction_routes(name, vertex)
    return Capabilities(
        text_is_realtime=only_sync,
        context_mid_session=not only_sync,
        async_tools=not only_sync,
        instruction_route=route,
        instruction_routes=frozenset((route, *others)),
        connection_limit_s=_connection_limit_s(name),
    )


def _connection_limit_s(name: str) -> float | None:
    """Return the documented 10 minutes, for 3.8 the 58 minutes that were seen."""
    if name.startswith("local-"):
        return None
    return 58 * 60.0 if "3.8-live" in name else 10 * 60.0


def _instruction_routes(name: str, vertex: bool) -> tuple[Route, ...]:
    """Return the routes that the model supports, the best one first."""
    if "3.1-flash-live" in name:
        # Client content only seeds this model's history, and it would answer an instruction sent as text.
        return ("reconnect",)
    if name.startswith("local-"):
        return ("context_update", "system_content", "user_note", "reconnect")
    # The Developer API rejects the role "system".
    content: tuple[Route, ...] = ("system_content", "user_note") if vertex else ("user_note",)
    return (*(("context_update",) if "3.8-live" in name else ()), *content, "reconnect")
