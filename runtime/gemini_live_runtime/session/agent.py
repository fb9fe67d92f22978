"""What a person talks to: an agent's definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.declaration import Tool, tool

DEFAULT_MODEL = "gemini-3.8-live"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent: instruction, tools and voice. Plain functions among `tools` are declared as they are.

    `phrases` are things one can say, shown to the person. With `manual_activity` the model does not listen for the
    end of speech: opening the microphone begins the user's turn and closing it ends it.
    """

    name: str
    instruction: str
    tools: Sequence[Any] = ()
    model: str = DEFAULT_MODEL
    local_model: str = ""
    """Model name on the embedded server; "" is `local-<name>`. The server's script of that name holds the dialogue."""
    voice: str = ""
    phrases: Sequence[str] = ()
    description: str = ""
    manual_activity: bool = False
    declared: tuple[Tool, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        """Validate; raises `AgentError` naming the field."""
        if not isinstance(self.name, str) or not self.name.strip():
            raise AgentError("An agent needs a name", field="name", value=self.name)
        if not isinstance(self.instruction, str) or not self.instruction.strip():
            raise AgentError(f"Agent {self.name} needs an instruction", field="instruction", value=self.instruction)
        declared = []
        for item in self.tools:
            if isinstance(item, Tool):
                declared.append(item)
            elif callable(item):
                declared.append(tool(item))
            else:
                raise AgentError(
                    f"Agent {self.name}: {item!r} is not a tool",
                    remedy="Give functions, or tools made with @tool",
                    field="tools",
                )
        names = [item.name for item in declared]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise AgentError(f"Agent {self.name} has two tools named {', '.join(twice)}", field="tools")
        object.__setattr__(self, "declared", tuple(declared))
