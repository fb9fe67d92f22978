"""Track the dialogue's tool calls that wait for results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gemini_live_runtime.local.parts import ToolRequest
from gemini_live_runtime.local.scripts.script_types import ScriptedCall
from gemini_live_runtime.local.scripts.template import fill, fill_argument
from gemini_live_runtime.local.scripts.tool_output import output_of
from gemini_live_runtime.local.understanding.matching import SlotValue
from gemini_live_runtime.records import frozen_record, record

_ONE_SLOT = re.compile(r"\w+")
"""Name of a slot: "{first} {last}" has two, "{told.left}" has none."""

_ONE_FACT = re.compile(r"\{(?:known|told)\.\w+\}")

MAX_OPEN_CALLS = 64
"""Most open calls kept; the oldest are dropped."""


@record
class OpenCall:
    """Open call; calls of one `group` were made and are answered together."""

    request: ToolRequest
    intent: str
    """Intent's name, "" for a tool called by its name."""
    slots: Mapping[str, SlotValue]
    group: int


@frozen_record
class Outcome:
    """Results of calls made together; `call` is None for unknown calls."""

    call: OpenCall | None
    results: tuple[tuple[ToolRequest, Mapping[str, Any]], ...]

    @property
    def given_up(self) -> str:
        """First tool that timed out, "" for none."""
        return next((request.name for request, response in self.results if response.get("timeout") is True), "")

    @property
    def outputs(self) -> list[tuple[str, Any]]:
        """Tools and their outputs, in the order of the calls."""
        return [(request.name, output_of(response)) for request, response in self.results]

    @property
    def result(self) -> Any:
        """Output of a single call, or the fields of all outputs together."""
        outputs = [output for _, output in self.outputs]
        if len(outputs) == 1:
            return outputs[0]
        return {key: value for output in outputs if isinstance(output, Mapping) for key, value in output.items()}


class OpenCalls:
    """Open calls of one conversation."""

    def __init__(self) -> None:
        self._calls: list[OpenCall] = []
        self._groups = 0

    def add(self, requests: Iterable[ToolRequest], intent: str, slots: Mapping[str, SlotValue]) -> None:
        """Add calls made together for one intent."""
        self._groups += 1
        made = [OpenCall(request, intent, slots, self._groups) for request in requests]
        self._calls = [*self._calls, *made][-MAX_OPEN_CALLS:]

    def drop(self, requests: Iterable[ToolRequest]) -> None:
        """Forget calls that are not made after all."""
        for request in requests:
            call = next((call for call in self._calls if call.request == request), None)
            if call is not None:
                self._calls.remove(call)

    def take(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> list[Outcome]:
        """Group `results` by calls, in order; close the calls unless `more` follow."""
        outcomes: dict[int, Outcome] = {}
        for number, (request, response) in enumerate(results, 1):
            call = next((call for call in self._calls if call.request == request), None)
            if call is not None and not more:
                self._calls.remove(call)
            # Unknown calls get a group of their own, by a negative number.
            group = call.group if call is not None else -number
            before = outcomes[group].results if group in outcomes else ()
            outcomes[group] = Outcome(call, (*before, (request, response)))
        return list(outcomes.values())

    def snapshot(self) -> list[dict[str, Any]]:
        """Return the state as JSON for `restore`."""
        return [
            {
                "name": call.request.name,
                "args": dict(call.request.args),
                "intent": call.intent,
                "slots": dict(call.slots),
                "group": call.group,
            }
            for call in self._calls
        ]

    def restore(self, state: Iterable[Mapping[str, Any]]) -> None:
        """Continue from a `snapshot`."""
        self._calls = [
            OpenCall(ToolRequest(item["name"], item["args"]), item["intent"], item["slots"], item["group"])
            for item in state
        ]
        self._groups = max((call.group for call in self._calls), default=0)


def lacks_facts(call: ScriptedCall, facts: Mapping[str, Any]) -> bool:
    """Return True when an argument is a fact that nothing has told yet."""
    templates = (value for value in call.args.values() if isinstance(value, str))
    return any(fill(template, facts) is None for template in templates if _ONE_FACT.fullmatch(template))


def arguments_of(
    call: ScriptedCall, slots: Mapping[str, SlotValue], facts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a scripted call's arguments, filled from `slots` and `facts`."""
    args: dict[str, Any] = {}
    for name, template in call.args.items():
        if not isinstance(template, str):
            args[name] = template
            continue
        inner = template.strip("{}").removesuffix("?")
        if (_ONE_SLOT.fullmatch(inner) and template == f"{{{inner}}}") or template == f"{{{inner}?}}":
            # A template of a single slot keeps the value's type.
            if inner in slots:
                args[name] = slots[inner]
            continue
        text = fill_argument(template.replace("?}", "}"), {**(facts or {}), **slots})
        if text is not None:
            args[name] = int(text) if text.isascii() and text.isdigit() and "{told." in template else text
    return args
