"""Join agents with the engine: the classes that programs begin with.

Below, sessions know nothing of engines and engines nothing of builders. This module lies above both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gemini_live_runtime.session.definition.builder import AgentBuilder
from gemini_live_runtime.session.io import agent

if TYPE_CHECKING:
    from gemini_live_runtime.engine.embed import Connecting


class Live(AgentBuilder):
    """Agent builder that can also run its agent, in the calling process."""

    __slots__ = ()

    def connect(self, **options: Any) -> Connecting:
        """Return a context manager that runs the agent, for `async with`.

        `options` are those of `engine.embed.connect`. Raises `AgentError` for an agent that cannot be used.
        """
        # Imported on use: an agent can be defined and checked without the engine.
        from gemini_live_runtime.engine.embed import connect

        return connect(self.plan(), **options)


class Agent(agent.Agent):
    """Agent of a class of its own that can also run itself, in the calling process.

    A derived class may have tools among its methods, each with `@tool`, and override `on_enter` and `on_exit`. What the
    arguments cannot say, `define` adds with the builder.
    """

    def connect(self, **options: Any) -> Connecting:
        """Return a context manager that runs the agent, for `async with`.

        `options` are those of `engine.embed.connect`.
        """
        # Imported on use: an agent can be defined and checked without the engine.
        from gemini_live_runtime.engine.embed import connect

        return connect(self.plan(), **options)
