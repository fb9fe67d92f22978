"""The scripted dialogue: what was said becomes an answer or a tool call, and a tool's answer becomes words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gemini_live_runtime.local.grammar import Grammar, build_grammar
from gemini_live_runtime.local.matching import Match, Matcher, SlotValue, Words
from gemini_live_runtime.local.parts import Reply, ToolRequest
from gemini_live_runtime.local.script import Intent, Pattern, Script, ScriptedCall, SlotRef
from gemini_live_runtime.local.template import describe, fill
from gemini_live_runtime.local.tools_by_name import arguments_for, named_tools
from gemini_live_runtime.local.words import name_words, split_words, spoken_number

MAX_SAID = 50
"""Utterances remembered; the oldest goes first."""

MAX_OPEN_CALLS = 64
"""Calls whose results are still awaited that are remembered; the oldest goes first."""

_RECALLED = 3
_FEW = 3
_MISSES_ALLOWED = 2
_TOOL_NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 60, 100)


@dataclass(frozen=True, slots=True)
class Pending:
    """A question that is open: which intent asks for which slot, and what is filled in already."""

    intent: str
    slot: str
    slots: Mapping[str, SlotValue]
    misses: int = 0


@dataclass(frozen=True, slots=True)
class _OpenCall:
    request: ToolRequest
    intent: str
    """"" when the tool was called by its name."""
    slots: Mapping[str, SlotValue]


class ScriptedDialogue:
    """Plays a `Script`. One instance a conversation; `snapshot` and `restore` move it to another connection."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._matcher = Matcher(script.slots, script.filler)
        self._intents = {intent.name: intent for intent in script.intents}
        self._tools: dict[str, Mapping[str, Any]] = {}
        self._pending: Pending | None = None
        self._said: list[str] = []
        self._last_reply = ""
        self._turns = 0
        self._open: list[_OpenCall] = []

    @property
    def greeting(self) -> str:
        """What to say when the model is to speak first."""
        return self._script.greeting

    @property
    def grammar(self) -> Grammar:
        """What can be said at this point: every spoken phrase, the tools' names, answers to an open question."""
        patterns = [pattern for intent in self._script.intents for pattern in intent.say]
        if self._pending is not None:
            patterns += self._script.slots[self._pending.slot].answer
        scripted = {intent.call.tool for intent in self._script.intents if intent.call}
        choices = {name: _spoken_choices(schema) for name, schema in self._tools.items() if name not in scripted}
        return build_grammar(patterns, self._script.slots, choices)

    @property
    def pronunciations(self) -> Mapping[str, tuple[str, ...]]:
        """ARPAbet that the script gives for words."""
        return self._script.pronunciations

    def declare(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        """The tools that the client declared: name to JSON schema of the parameters."""
        self._tools = dict(tools)

    def hear(self, text: str, *, typed: bool) -> Reply:
        """The answer to an utterance; "" is one that was not understood. Typed and spoken words mean the same."""
        self._turns += 1
        words = Words(text)
        reply = self._answer(words)
        if text.strip():
            self._said = [*self._said, text.strip()][-MAX_SAID:]
        return self._remember(reply)

    def results(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]]) -> Reply:
        """The answer once calls have their results. A response with a true `timeout` is a call that was given up."""
        parts = [self._told(request, response) for request, response in results]
        return self._remember(Reply(text=" ".join(part for part in parts if part)))

    def snapshot(self) -> dict[str, Any]:
        """JSON state from which `restore` continues."""
        pending = self._pending
        return {
            "pending": None
            if pending is None
            else {
                "intent": pending.intent,
                "slot": pending.slot,
                "slots": dict(pending.slots),
                "misses": pending.misses,
            },
            "said": list(self._said),
            "last_reply": self._last_reply,
            "turns": self._turns,
            "open": [
                {"name": c.request.name, "args": dict(c.request.args), "intent": c.intent, "slots": dict(c.slots)}
                for c in self._open
            ],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `snapshot` of the same script; an open question that this script lacks is dropped."""
        pending = state.get("pending")
        self._pending = None
        if pending and pending["intent"] in self._intents and pending["slot"] in self._script.slots:
            self._pending = Pending(**pending)
        self._said = [str(item) for item in state.get("said", [])][-MAX_SAID:]
        self._last_reply = str(state.get("last_reply", ""))
        self._turns = int(state.get("turns", 0))
        self._open = [
            _OpenCall(ToolRequest(item["name"], item["args"]), item["intent"], item["slots"])
            for item in state.get("open", [])
        ]

    # --- from words to what is meant ------------------------------------------------------------------------------

    def _answer(self, words: Words) -> Reply:
        best = self._best_intent(words)
        if self._pending is not None and (best is None or best[1].cost > 0):
            answer = self._pending_answer(words)
            if answer is not None and (best is None or answer.cost <= best[1].cost or self._free_text_pending()):
                return self._filled(self._pending, answer)
        by_name = named_tools(words, list(self._tools))
        if best is not None:
            call = best[0].call
            # A tool whose name was said goes first, unless the script knows better how to call it.
            if not by_name or (call is not None and call.tool in [tool.name for tool in by_name]):
                return self._act(best[0], dict(best[1].slots))
            if call is not None and call.tool in self._tools and best[1].cost == 0:
                return self._act(best[0], dict(best[1].slots))
        if by_name:
            self._pending = None
            tool = by_name[0]
            request = ToolRequest(tool.name, arguments_for(self._tools[tool.name], tool.rest))
            return self._call(request, "", {})
        return self._not_understood()

    def _best_intent(self, words: Words) -> tuple[Intent, Match] | None:
        best: tuple[Intent, Match] | None = None
        for intent in self._script.intents:
            for pattern in (*intent.say, *intent.typed):
                match = self._matcher.match(pattern, words)
                if match is not None and (best is None or match.cost < best[1].cost):
                    best = intent, match
        return best

    def _pending_answer(self, words: Words) -> Match | None:
        assert self._pending is not None
        slot = self._pending.slot
        patterns: tuple[Pattern, ...] = (*self._script.slots[slot].answer, (SlotRef(slot),))
        matches = [match for pattern in patterns if (match := self._matcher.match(pattern, words)) is not None]
        return min(matches, key=lambda match: match.cost, default=None)

    def _free_text_pending(self) -> bool:
        return self._pending is not None and self._script.slots[self._pending.slot].kind == "text"

    def _filled(self, pending: Pending, answer: Match) -> Reply:
        return self._act(self._intents[pending.intent], {**pending.slots, **answer.slots})

    def _not_understood(self) -> Reply:
        pending = self._pending
        fallback = self._fill(self._script.fallback, {})
        if pending is None:
            return Reply(text=fallback)
        if pending.misses + 1 >= _MISSES_ALLOWED:
            self._pending = None
            return Reply(text=fallback)
        self._pending = Pending(pending.intent, pending.slot, pending.slots, pending.misses + 1)
        return Reply(text=f"I didn't catch that. {self._script.slots[pending.slot].ask}")

    # --- from what is meant to what is done -----------------------------------------------------------------------

    def _act(self, intent: Intent, slots: dict[str, SlotValue]) -> Reply:
        self._pending = None
        call = intent.call
        if call is None:
            return Reply(text=self._reply_of(intent, slots, {}))
        if call.tool not in self._tools:
            return Reply(text=self._fill(self._script.unavailable, {"tool": _tool_title(call.tool)}))
        missing = next((name for name in call.needs if name not in slots), None)
        if missing is not None:
            self._pending = Pending(intent.name, missing, slots)
            return Reply(text=self._script.slots[missing].ask)
        return self._call(ToolRequest(call.tool, _arguments(call, slots)), intent.name, slots)

    def _call(self, request: ToolRequest, intent: str, slots: Mapping[str, SlotValue]) -> Reply:
        self._open = [*self._open, _OpenCall(request, intent, slots)][-MAX_OPEN_CALLS:]
        return Reply(calls=(request,))

    def _take(self, request: ToolRequest) -> _OpenCall | None:
        found = next((call for call in self._open if call.request == request), None)
        if found is not None:
            self._open.remove(found)
        return found

    def _told(self, request: ToolRequest, response: Mapping[str, Any]) -> str:
        call = self._take(request)
        if response.get("timeout") is True:
            return self._fill(self._script.timeout, {"tool": _tool_title(request.name)})
        result = _unwrap(response)
        intent = self._intents.get(call.intent) if call else None
        if intent is not None and call is not None:
            text = self._reply_of(intent, call.slots, result)
            if text:
                return text
        facts = {"tool": _tool_title(request.name), "result": result}
        if isinstance(result, Mapping) and result.get("error"):
            return self._fill(self._script.failed, facts)
        return self._fill(self._script.told, {**facts, "result": describe(result)})

    def _reply_of(self, intent: Intent, slots: Mapping[str, SlotValue], result: Any) -> str:
        facts = {**self._facts(), **slots, "result": result}
        unconditional = []
        for line in intent.reply:
            text = line.fits(facts)
            if text is None:
                continue
            if line.when or intent.call is not None:
                return text
            unconditional.append(text)
        # Several answers that always fit take turns.
        return unconditional[self._turns % len(unconditional)] if unconditional else ""

    def _facts(self) -> dict[str, Any]:
        return {
            "examples": _listed(self._script.examples),
            "some_examples": _listed(self._some_examples()),
            "said": "; and ".join(self._said[-_RECALLED:]),
            "last_reply": self._last_reply,
        }

    def _some_examples(self) -> list[str]:
        """A few examples, others each turn: all of them take too long to hear after every slip."""
        examples = self._script.examples
        count = min(_FEW, len(examples))
        return [examples[(self._turns * count + offset) % len(examples)] for offset in range(count)]

    def _fill(self, template: str, facts: Mapping[str, Any]) -> str:
        return fill(template, {**self._facts(), **facts}) or ""

    def _remember(self, reply: Reply) -> Reply:
        if reply.text:
            self._last_reply = reply.text
        return reply


def _arguments(call: ScriptedCall, slots: Mapping[str, SlotValue]) -> dict[str, Any]:
    args: dict[str, Any] = {}
    for name, template in call.args.items():
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


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])}, or {texts[-1]}" if len(texts) > 1 else "".join(texts)


def _tool_title(name: str) -> str:
    return " ".join(name_words(name)) or name


def _spoken_choices(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """What may follow a tool's name in speech: its enum values, numbers when it takes one."""
    properties = schema.get("properties")
    choices: list[str] = []
    for raw in properties.values() if isinstance(properties, Mapping) else ():
        if not isinstance(raw, Mapping):
            continue
        values = raw.get("enum")
        if isinstance(values, Sequence) and not isinstance(values, str):
            choices += [" ".join(split_words(str(value).replace("_", " "))) for value in values]
        elif str(raw.get("type", "")).lower() in ("integer", "number"):
            choices += [spoken_number(value) for value in _TOOL_NUMBERS]
    return tuple(dict.fromkeys(choice for choice in choices if choice))
