"""JSON schemas as a Live session takes them.

The service closes a session in the handshake over a declaration it cannot read: references, a union of types, a list
without the type of its items, choices that are not texts. What has an equal in the smaller language is rewritten; what
has none is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gemini_live_runtime.errors import AgentError

_KEPT = (
    "description",
    "default",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
)
_FORMATS = {
    "string": ("date-time", "enum"),
    "number": ("float", "double"),
    "integer": ("int32", "int64"),
}
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
_MAX_DEPTH = 32


def narrowed(schema: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """The schema of a tool's arguments in the language of a Live session.

    References are inlined and `X or null` is X; a top-level property that may be null is not required. Raises
    `AgentError` naming the tool and the parameter for what has no equal there.
    """
    if schema.get("type", "object") != "object":
        raise AgentError(f"Tool {tool}: its parameters must be an object", field="parameters", value=schema.get("type"))
    definitions = schema.get("$defs") or schema.get("definitions") or {}
    narrower = _Narrower(tool, definitions if isinstance(definitions, Mapping) else {})
    return narrower.top(schema)


class _Narrower:
    def __init__(self, tool: str, definitions: Mapping[str, Any]) -> None:
        self._tool = tool
        self._definitions = definitions
        self._nullable: set[str] = set()

    def top(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        if "$ref" in schema:
            schema = self._follow(schema, "", ())[0]
        properties = schema.get("properties")
        items = properties.items() if isinstance(properties, Mapping) else ()
        result: dict[str, Any] = {
            "type": "object",
            "properties": {str(name): self.node(item, str(name), ()) for name, item in items},
        }
        required = [name for name in _names(schema, result) if name not in self._nullable]
        if required:
            result["required"] = required
        return result

    def node(self, schema: Any, path: str, refs: tuple[str, ...]) -> dict[str, Any]:
        """One schema; `refs` are the definitions it stands in."""
        if not isinstance(schema, Mapping):
            schema = {}
        if len(refs) > _MAX_DEPTH:
            raise self._refused(path, "is nested too deeply")
        if "$ref" in schema:
            target, name = self._follow(schema, path, refs)
            return self.node(target, path, (*refs, name))
        for word in ("allOf", "anyOf", "oneOf"):
            options = schema.get(word)
            if isinstance(options, Sequence) and not isinstance(options, str) and options:
                rest = {key: value for key, value in schema.items() if key != word}
                return self._options(list(options), rest, path, refs, every=word == "allOf")
        schema = self._without_null(schema, path)
        kind = self._kind(schema, path)
        result: dict[str, Any] = {"type": kind}
        result |= {key: schema[key] for key in _KEPT if schema.get(key) is not None}
        if kind == "object":
            self._object(schema, result, path, refs)
        elif kind == "array":
            result["items"] = self._items(schema, path, refs)
        if "enum" in schema:
            self._choices(schema["enum"], result, path)
        self._bounds(schema, result)
        self._format(schema, result)
        return result

    def _follow(self, schema: Mapping[str, Any], path: str, refs: tuple[str, ...]) -> tuple[dict[str, Any], str]:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        if name in refs:
            raise self._refused(path, f"contains itself ({name})", "Give it a fixed depth")
        target = self._definitions.get(name)
        if not isinstance(target, Mapping):
            raise self._refused(path, f"refers to {schema['$ref']!r}, which is not defined")
        return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}, name

    def _options(
        self, options: list[Any], rest: dict[str, Any], path: str, refs: tuple[str, ...], *, every: bool
    ) -> dict[str, Any]:
        real = [option for option in options if not _is_null(option)]
        if len(real) < len(options):
            self._nullable.add(path)
        if len(real) == 1 and isinstance(real[0], Mapping):
            return self.node({**real[0], **rest}, path, refs)
        if every:
            raise self._refused(path, "joins several schemas (allOf)", "Write them as one")
        found = [self.node(option, path, refs) for option in real]
        outer = {key: rest[key] for key in ("description", "default") if rest.get(key) is not None}
        kinds = {option["type"] for option in found}
        if kinds == {"string"} and all("enum" in option for option in found):
            values = [value for option in found for value in option["enum"]]
            return {"type": "string", "enum": list(dict.fromkeys(values)), **outer}
        if kinds == {"integer", "number"} and all(len(option) == 1 for option in found):
            return {"type": "number", **outer}
        if found and all(option == found[0] for option in found):
            return found[0] | outer
        raise self._refused(path, f"takes more than one type ({' or '.join(option['type'] for option in found)})")

    def _without_null(self, schema: Mapping[str, Any], path: str) -> Mapping[str, Any]:
        """The schema without null among its types and choices; a constant is a single choice."""
        kind, values = schema.get("type"), schema.get("enum")
        if "const" in schema:
            values = [schema["const"]]
        if isinstance(kind, list | tuple) and "null" in kind:
            self._nullable.add(path)
            kind = [item for item in kind if item != "null"]
        if isinstance(values, list | tuple) and None in values:
            self._nullable.add(path)
            values = [value for value in values if value is not None]
        changed = {**schema}
        if isinstance(kind, list | tuple):
            changed["type"] = kind[0] if len(kind) == 1 else kind
        elif kind is not None:
            changed["type"] = str(kind).lower()
        if values is not None:
            changed["enum"] = list(values)
        return changed

    def _kind(self, schema: Mapping[str, Any], path: str) -> str:
        kind = schema.get("type")
        if isinstance(kind, list | tuple):
            raise self._refused(path, f"takes more than one type ({' or '.join(map(str, kind))})")
        if kind is None and schema.get("enum"):
            kinds = {_kind_of(value) for value in schema["enum"]}
            if len(kinds) > 1:
                raise self._refused(path, f"has choices of more than one type ({', '.join(map(repr, schema['enum']))})")
            kind = kinds.pop()
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else None
        if kind not in _PYTHON:
            raise self._refused(path, f"is of type {kind}" if kind else "has no type")
        return str(kind)

    def _object(self, schema: Mapping[str, Any], result: dict[str, Any], path: str, refs: tuple[str, ...]) -> None:
        properties, others = schema.get("properties"), schema.get("additionalProperties")
        if isinstance(properties, Mapping) and properties:
            result["properties"] = {
                str(name): self.node(item, f"{path}.{name}", refs) for name, item in properties.items()
            }
            required = _names(schema, result)
            if required:
                result["required"] = required
        elif isinstance(others, Mapping) and others:
            result["additionalProperties"] = self.node(others, f"{path}.*", refs)

    def _items(self, schema: Mapping[str, Any], path: str, refs: tuple[str, ...]) -> dict[str, Any]:
        items = schema.get("items")
        if isinstance(items, Mapping) and items:
            return self.node(items, f"{path}[]", refs)
        places = [self.node(item, f"{path}[{index}]", refs) for index, item in enumerate(schema.get("prefixItems", ()))]
        if not places:
            raise self._refused(path, "is a list without the type of its items", "Say it, as in list[str]")
        if any(place != places[0] for place in places):
            raise self._refused(path, "is a list whose items have different types", "Use an object with named parts")
        return places[0]

    def _choices(self, values: list[Any], result: dict[str, Any], path: str) -> None:
        if result["type"] == "string":
            if "" in values:
                raise self._refused(path, "has an empty text among its choices", "Give it a name, such as 'none'")
            result["enum"] = values
            return
        # Choices can only be texts there. Others are said in words, and checked when the call arrives.
        _hint(result, f"one of {', '.join(_spelled(value) for value in values)}")
        numbers = [value for value in values if _kind_of(value) in ("integer", "number")]
        if numbers and len(numbers) == len(values):
            result["minimum"], result["maximum"] = min(numbers), max(numbers)

    def _bounds(self, schema: Mapping[str, Any], result: dict[str, Any]) -> None:
        # There are no exclusive bounds there: the next integer, or the bound itself, which is refused at the call.
        whole = result["type"] == "integer"
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        if isinstance(above, int | float) and not isinstance(above, bool):
            result["minimum"] = math.floor(above) + 1 if whole else above
        if isinstance(below, int | float) and not isinstance(below, bool):
            result["maximum"] = math.ceil(below) - 1 if whole else below

    def _format(self, schema: Mapping[str, Any], result: dict[str, Any]) -> None:
        given = schema.get("format")
        if not isinstance(given, str):
            return
        if given in _FORMATS.get(result["type"], ()):
            result["format"] = given
        elif result["type"] == "string":
            _hint(result, f"format: {given}")

    def _refused(self, path: str, what: str, remedy: str = "Give it one type, such as str") -> AgentError:
        return AgentError(
            f"Tool {self._tool}: parameter {path} {what}, over which a Live session closes in the handshake",
            remedy=remedy,
            field=path,
        )


def fitted(schema: Mapping[str, Any], args: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """`args` as a narrowed schema wants them (2.0 for an integer is 2), and one fault for each that does not fit.

    Looks at required properties, types, choices and bounds. What the schema does not name passes as it is; null passes
    for what is not required.
    """
    faults: list[str] = []
    value = _fit(schema, dict(args), "", faults)
    return value, faults


def _fit(schema: Mapping[str, Any], value: Any, path: str, faults: list[str]) -> Any:
    kind = str(schema.get("type", "object"))
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, _PYTHON[kind]) or (isinstance(value, bool) and kind != "boolean"):
        faults.append(f"{path or 'arguments'}: must be {_a(kind)}, not {_spelled(value)[:60]}")
    elif "enum" in schema and value not in schema["enum"]:
        faults.append(f"{path}: must be one of {', '.join(schema['enum'])}")
    elif value is not None and not isinstance(value, str | list | dict | bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and value < low) or (high is not None and value > high):
            faults.append(f"{path}: must be {_range(low, high)}")
    elif isinstance(value, list):
        return [_fit(schema.get("items", {}), item, f"{path}[{index}]", faults) for index, item in enumerate(value)]
    elif isinstance(value, dict):
        return _fit_object(schema, value, path, faults)
    return value


def _fit_object(schema: Mapping[str, Any], value: dict[str, Any], path: str, faults: list[str]) -> dict[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    faults += [f"{_join(path, name)}: is missing" for name in required if name not in value]
    result = {}
    for name, item in value.items():
        inner = properties.get(name, schema.get("additionalProperties"))
        passes = inner is None or (item is None and name not in required)
        result[name] = item if passes else _fit(inner, item, _join(path, name), faults)
    return result


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _names(schema: Mapping[str, Any], result: dict[str, Any]) -> list[str]:
    """The required names that are properties."""
    required = schema.get("required")
    names = required if isinstance(required, list | tuple) else ()
    return [name for name in names if name in result["properties"]]


def _is_null(option: Any) -> bool:
    return isinstance(option, Mapping) and option.get("type") == "null"


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return next((kind for kind, types in _PYTHON.items() if isinstance(value, types)), "null")


def _hint(result: dict[str, Any], text: str) -> None:
    said = result.get("description")
    result["description"] = f"{said} ({text})" if said else text


def _spelled(value: Any) -> str:
    return (
        {True: "true", False: "false"}[value] if isinstance(value, bool) else "null" if value is None else repr(value)
    )


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"from {low} to {high}"
