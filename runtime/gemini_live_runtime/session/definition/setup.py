"""Compose the wire's setup message from an agent's plan."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime.session.core.turn_options import TurnDetection
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.ports.capabilities import Capabilities
from gemini_live_runtime.tools.declaration import Tool
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.messages import Behavior, FunctionDeclaration, Setup


def setup_of(
    plan: SessionPlan,
    model: str,
    *,
    capabilities: Capabilities,
    instruction: str = "",
    voice: str = "",
    handle: str = "",
    turns: TurnDetection | None = None,
) -> Setup:
    """Return the setup message that makes `model` speak as the agent.

    `instruction` and `voice` replace the agent's own when not empty; `handle` resumes an earlier session. `turns` is
    who finds the user's turns now, if it is no longer as the plan has it.
    """
    definition = plan.definition
    detection = turns or plan.turn_options.detection
    setup = compose.build_setup(
        model,
        instruction=instruction or definition.instruction,
        tools=compose.tool_list(_declaration(tool, capabilities) for tool in plan.declared),
        voice=voice or definition.voice,
        handle=handle,
    )
    is_ours = detection == "client" and definition.turn_rules.are_ours
    realtime_input = definition.server_detection.realtime_input(
        automatic=detection == "server", interruptible=not is_ours
    )
    return replace(setup, realtime_input_config=realtime_input)


def _declaration(tool: Tool, capabilities: Capabilities) -> FunctionDeclaration:
    behavior = None
    if capabilities.async_tools:
        # Newer models take tools as non-blocking by default.
        behavior = Behavior.BLOCKING if tool.blocking else Behavior.NON_BLOCKING
    return FunctionDeclaration(
        name=tool.name,
        description=tool.description or None,
        parameters_json_schema=tool.parameters if tool.parameters.get("properties") else None,
        behavior=behavior,
    )
