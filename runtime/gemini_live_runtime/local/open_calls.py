"""Tool calls that a dialogue has made and whose results it will be outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gemini_live_runtime.local.matching import SlotValue
from gemini_live_runtime.local.parts import ToolRequest
from gemini_live_runtime.local.script_types import ScriptedCall
from gemini_live_runtime.local.template import fill

MAX_OPEN_CALLS = 64
"""Calls whose results are still awaited that are remembered; the oldest goes first."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call under way. Calls of one `group` were made together, and are outcomes together."""

    request: ToolRequest
    intent: str
    """"" when the tool was called by its name."""
    slots: Mapping[str, SlotValue]
    group: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results that came together of calls that were made together. `call` is None for calls nobody remembers."""

    call: OpenCall | None
    results: tuple[tuple[ToolRequest, Mapping[str, Any]], ...]

    @property
    def given_up(self) -> str:
        """The first tool that did not answer in time, "" when all did."""
        return next((request.name for request, response in self.results if response.get("timeout") is True), "")

    @property
    def outputs(self) -> list[tuple[str, Any]]:
        """Tools and what they brought, in the order of the calls."""
        return [(request.name, _unwrap(response)) for request, response in self.results]

    @property
    def result(self) -> Any:
        """The output of the one call, or the fields of all together."""
        outputs = [output for _, output in self.outputs]
        if len(outputs) == 1:
            return outputs[0]
        return {key: value for output in outputs if isinstance(output, Mapping) for key, value in output.items()}


class OpenCalls:
    """The calls of one conversation whose results are awaited."""

    def __init__(self) -> None:
        self._calls: list[OpenCall] = []
        self._groups = 0

    def add(self, requests: Iterable[ToolRequest], intent: str, slots: Mapping[str, SlotValue]) -> None:
        """Calls made together for one intent."""
        self._groups += 1
        made = [OpenCall(request, intent, slots, self._groups) for request in requests]
        self._calls = [*self._calls, *made][-MAX_OPEN_CALLS:]

    def take(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> list[Outcome]:
        """What `results` are of, in their order; the calls are no longer open, unless there is `more` to come."""
        outcomes: dict[int, Outcome] = {}
        for number, (request, response) in enumerate(results, 1):
            call = next((call for call in self._calls if call.request == request), None)
            if call is not None and not more:
                self._calls.remove(call)
            # Negative numbers are groups of their own.
            group = call.group if call is not None else -number
            before = outcomes[group].results if group in outcomes else ()
            outcomes[group] = Outcome(call, (*before, (request, response)))
        return list(outcomes.values())

    def snapshot(self) -> list[dict[str, Any]]:
        """JSON state from which `restore` continues."""
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


def arguments_of(call: ScriptedCall, slots: Mapping[str, SlotValue]) -> dict[str, Any]:
    """A scripted call's arguments, filled from `slots`."""
    args: dict[str, Any] = {}
    for name, template in call.args.items():
        if not isinstance(template, str):
            args[name] = template
            continue
        inner = template.strip("{}").removesuffix("?")
        if template == f"{{{inner}}}" or template == f"{{{inner}?}}":
            # A slot alone keeps its type.
            if inner in slots:
                args[name] = slots[inner]
            continue
        text = fill(template.replace("?}", "}"), slots)
        if text is not None:
            args[name] = text
    return args


def _unwrap(response: Mapping[str, Any]) -> Any:
    """A response's own output: "output" alone stands for the whole, as the protocol has it."""
    for key in ("output", "result"):
        if set(response) == {key}:
            return response[key]
    return response
