"""Define an agent without phases or state: an instruction and tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gemini_live_runtime.errors import caller_place
from gemini_live_runtime.session.definition.definition import DEFAULT_MODEL, Definition
from gemini_live_runtime.session.definition.plan import SessionPlan, make_plan
from gemini_live_runtime.tools.declaration import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Agent without phases or state: instruction, tools and voice.

    `Live` builds agents that can do more. Plain functions among `tools` are declared. `phrases` are examples of what
    the user can say; the console shows them. With `manual_activity` the server does not detect the end of speech:
    opening the microphone begins the user's turn and closing it ends it. Raises one `AgentError` that lists every
    fault.
    """

    name: str
    instruction: str
    tools: Sequence[Any] = ()
    model: str = DEFAULT_MODEL
    local_model: str = ""
    """Model name on the embedded server; "" is `local-<name>`. The server's script of that name has the dialogue."""
    voice: str = ""
    phrases: Sequence[str] = ()
    description: str = ""
    manual_activity: bool = False
    defined_at: str = field(default_factory=caller_place, compare=False, repr=False)
    _plan: SessionPlan = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Validate."""
        definition = Definition(
            name=self.name,
            instruction=self.instruction,
            tools=tuple(self.tools),
            model=self.model,
            local_model=self.local_model,
            voice=self.voice,
            phrases=tuple(self.phrases),
            description=self.description,
            turn_taking="push-to-talk" if self.manual_activity else "server",
            built_at=self.defined_at,
        )
        object.__setattr__(self, "_plan", make_plan(definition))

    @property
    def declared(self) -> tuple[Tool, ...]:
        """Tools with their schemas."""
        return self._plan.declared

    def plan(self) -> SessionPlan:
        """Return the plan that sessions are made from."""
        return self._plan
