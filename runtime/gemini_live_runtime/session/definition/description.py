"""Describe an agent's parts: names, conditions in words, source locations."""

from __future__ import annotations

from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.extraction import TurnExtractor, as_extractor
from gemini_live_runtime.conversation.phase_machine import first_line
from gemini_live_runtime.conversation.phases import Phase
from gemini_live_runtime.session.definition.known_agents import known_agents
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.temporal import TemporalRegistry
from gemini_live_runtime.state.watchers import WatcherRegistry
from gemini_live_runtime.tools.declaration import Tool


def describe(plan: SessionPlan) -> ev.AgentDescribed:
    """Return the event that describes the parts of a checked agent."""
    definition = plan.definition
    return ev.AgentDescribed(
        agent=plan.name,
        instruction=definition.instruction,
        phases=tuple(map(_phase, definition.phases)),
        initial_phase=plan.initial_phase,
        watchers=tuple(
            {
                "name": watcher.name,
                "when": watcher.text,
                "keys": watcher.keys,
                "blocking": watcher.blocking,
                "defined_at": watcher.defined_at,
            }
            for watcher in WatcherRegistry(definition.watchers).status
        ),
        patterns=tuple(
            {"name": pattern.name, "when": pattern.text, "defined_at": pattern.defined_at}
            for pattern in TemporalRegistry(definition.patterns).status(0.0)
        ),
        computed=tuple(
            {"key": item.key, "inputs": item.inputs, "defined_at": item.defined_at} for item in definition.computed
        ),
        keys=tuple(
            {"key": key.key, "type": key.json_schema(), "description": key.description} for key in definition.state_keys
        ),
        tools=tuple(map(_tool, plan.declared)),
        extractors=tuple(_extractor(as_extractor(item)) for item in definition.extractors),
        hands_over_to=tuple(name for name in known_agents(plan) if name != plan.name),
    )


def _phase(phase: Phase) -> dict[str, Any]:
    source = phase.instruction.source
    goal = first_line(source) if isinstance(source, str) else f"text from {_code_name(function_name(source))}"
    return {
        "name": phase.name,
        "goal": goal,
        "needs": tuple(need.key for need in phase.needs),
        "requires": tuple(need.key for need in phase.requires),
        "tools": phase.tools,
        "terminal": phase.terminal,
        "ways": tuple(
            {"to": way.to, "when": way.when.text, "because": way.because, "defined_at": way.defined_at}
            for way in phase.transitions
        ),
        "defined_at": phase.defined_at,
    }


def _code_name(name: str) -> str:
    """Return "code (agent.py:8)" for "lambda (agent.py:8)"."""
    return f"code{name.removeprefix('lambda')}" if name.startswith("lambda") else name


def _tool(tool: Tool) -> dict[str, Any]:
    mode = "background" if tool.mode.is_background else "blocking" if tool.blocking else "not blocking"
    return {"name": tool.name, "description": tool.description, "mode": mode, "defined_at": tool.defined_at}


def _extractor(extractor: TurnExtractor) -> dict[str, Any]:
    trigger = extractor.trigger
    words = f"every {trigger.every} turns" if trigger.every else trigger.event
    only = ", ".join(sorted(trigger.only))
    fields = getattr(extractor, "fields", None) or tuple(rule.field for rule in extractor.promotions)
    return {
        "name": extractor.name,
        "trigger": f"{words} ({only})" if only else words,
        "fields": tuple(fields),
        "defined_at": str(getattr(extractor, "defined_at", "")),
    }
