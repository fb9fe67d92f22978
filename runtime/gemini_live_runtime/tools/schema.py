"""Translate JSON schemas into the Live API's subset, and check arguments.

The service closes the connection during setup over a declaration that it cannot read: references, a union of types, a
list without the type of its items, an enum of anything but strings. A schema with an equivalent in the subset is
rewritten; any other raises an error that names the tool and the parameter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_schema import TYPES, Fault, InliningError, faults, inlined

_COPIED = (
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


def to_live_schema(schema: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """Translate the schema of a tool's arguments into the Live subset.

    References are inlined and `X or null` becomes X; a top-level property that may be null is not required. Raises
    `AgentError` naming the tool and the parameter when there is no equivalent.
    """
    if not isinstance(schema, Mapping):
        raise AgentError(
            f"Tool {tool}: its parameters cannot be {schema!r:.60}",
            remedy="Give a JSON schema as a dict",
            field="parameters",
            value=schema,
        )
    if schema.get("type", "object") != "object":
        raise AgentError(f"Tool {tool}: its parameters must be an object", field="parameters", value=schema.get("type"))
    return _Translator(tool).parameters(schema)


class _Translator:
    def __init__(self, tool: str) -> None:
        self._tool = tool
        self._nullable: set[str] = set()

    def parameters(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        try:
            schema = inlined(schema)
        except InliningError as error:
            raise self._inlining_error(error) from None
        properties = schema.get("properties")
        items = properties.items() if isinstance(properties, Mapping) else ()
        result: dict[str, Any] = {
            "type": "object",
            "properties": {str(name): self._translate(item, str(name)) for name, item in items},
        }
        required = [name for name in _required_names(schema, result) if name not in self._nullable]
        if required:
            result["required"] = required
        return result

    def _translate(self, schema: Any, path: str) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            schema = {}
        for word in ("allOf", "anyOf", "oneOf"):
            options = schema.get(word)
            if isinstance(options, Sequence) and not isinstance(options, str) and options:
                rest = {key: value for key, value in schema.items() if key != word}
                return self._options(list(options), rest, path, every=word == "allOf")
        schema = self._drop_null(schema, path)
        kind = self._kind(schema, path)
        result: dict[str, Any] = {"type": kind}
        result |= {key: schema[key] for key in _COPIED if schema.get(key) is not None}
        if kind == "object":
            self._object(schema, result, path)
        elif kind == "array":
            result["items"] = self._items(schema, path)
        if "enum" in schema:
            self._choices(schema["enum"], result, path)
        self._bounds(schema, result)
        self._format(schema, result)
        return result

    def _inlining_error(self, error: InliningError) -> AgentError:
        if error.problem == "recursive":
            return self._error(error.path, f"contains itself ({error.definition})", "Give it a fixed depth")
        if error.problem == "undefined":
            return self._error(error.path, f"refers to {error.reference!r}, which is not defined")
        return self._error(error.path, "is nested too deeply")

    def _options(self, options: list[Any], rest: dict[str, Any], path: str, *, every: bool) -> dict[str, Any]:
        real = [option for option in options if not _is_null(option)]
        if len(real) < len(options):
            self._nullable.add(path)
        if len(real) == 1 and isinstance(real[0], Mapping):
            return self._translate({**real[0], **rest}, path)
        if every:
            raise self._error(path, "joins several schemas (allOf)", "Write them as one")
        found = [self._translate(option, path) for option in real]
        outer = {key: rest[key] for key in ("description", "default") if rest.get(key) is not None}
        kinds = {option["type"] for option in found}
        if kinds == {"string"} and all("enum" in option for option in found):
            values = [value for option in found for value in option["enum"]]
            return {"type": "string", "enum": list(dict.fromkeys(values)), **outer}
        if kinds == {"integer", "number"} and all(len(option) == 1 for option in found):
            return {"type": "number", **outer}
        if found and all(option == found[0] for option in found):
            return found[0] | outer
        raise self._error(path, f"takes more than one type ({' or '.join(option['type'] for option in found)})")

    def _drop_null(self, schema: Mapping[str, Any], path: str) -> Mapping[str, Any]:
        """Drop null from the types and the enum, and note that the parameter is nullable."""
        kind, values = schema.get("type"), schema.get("enum")
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
            raise self._error(path, f"takes more than one type ({' or '.join(map(str, kind))})")
        if kind is None and schema.get("enum"):
            kinds = {_type_of(value) for value in schema["enum"]}
            if len(kinds) > 1:
                raise self._error(path, f"has choices of more than one type ({', '.join(map(repr, schema['enum']))})")
            kind = kinds.pop()
        if kind is None:
            kind = "object" if "properties" in schema else "array" if "items" in schema else None
        if kind not in TYPES or kind == "null":
            raise self._error(path, f"is of type {kind}" if kind else "has no type")
        return str(kind)

    def _object(self, schema: Mapping[str, Any], result: dict[str, Any], path: str) -> None:
        properties, others = schema.get("properties"), schema.get("additionalProperties")
        if isinstance(properties, Mapping) and properties:
            result["properties"] = {
                str(name): self._translate(item, f"{path}.{name}") for name, item in properties.items()
            }
            required = _required_names(schema, result)
            if required:
                result["required"] = required
        elif isinstance(others, Mapping) and others:
            result["additionalProperties"] = self._translate(others, f"{path}.*")

    def _items(self, schema: Mapping[str, Any], path: str) -> dict[str, Any]:
        items = schema.get("items")
        if isinstance(items, Mapping) and items:
            return self._translate(items, f"{path}[]")
        places = [self._translate(item, f"{path}[{index}]") for index, item in enumerate(schema.get("prefixItems", ()))]
        if not places:
            raise self._error(path, "is a list without the type of its items", "Say it, as in list[str]")
        if any(place != places[0] for place in places):
            raise self._error(path, "is a list whose items have different types", "Use an object with named parts")
        return places[0]

    def _choices(self, values: list[Any], result: dict[str, Any], path: str) -> None:
        if result["type"] == "string":
            if "" in values:
                raise self._error(path, "has an empty text among its choices", "Give it a name, such as 'none'")
            result["enum"] = values
            return
        # The subset has enums of strings only: spell others in the description, for the model, and check the call.
        _add_hint(result, f"one of {', '.join(_as_json(value) for value in values)}")
        numbers = [value for value in values if _type_of(value) in ("integer", "number")]
        if numbers and len(numbers) == len(values):
            result["minimum"], result["maximum"] = min(numbers), max(numbers)

    def _bounds(self, schema: Mapping[str, Any], result: dict[str, Any]) -> None:
        # The subset has no exclusive bounds: take the next integer, or the bound itself, which pydantic refuses later.
        whole = result["type"] == "integer"
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        if isinstance(above, int | float) and not isinstance(above, bool):
            result["minimum"] = math.floor(above) + 1 if whole else above
        if isinstance(below, int | float) and not isinstance(below, bool):
            result["maximum"] = math.ceil(below) - 1 if whole else below

    def _format(self, schema: Mapping[str, Any], result: dict[str, Any]) -> None:
        name = schema.get("format")
        if not isinstance(name, str):
            return
        if name in _FORMATS.get(result["type"], ()):
            result["format"] = name
        elif result["type"] == "string":
            _add_hint(result, f"format: {name}")

    def _error(self, path: str, what: str, remedy: str = "Give it one type, such as str") -> AgentError:
        return AgentError(
            f"Tool {self._tool}: parameter {path} {what}, which makes the Live API close the connection during setup",
            remedy=remedy,
            field=path,
        )


def check_arguments(schema: Mapping[str, Any], args: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments by a Live schema, and a sentence for each fault.

    2.0 for an integer becomes 2. Checks required properties, types, enums and bounds. Properties that the schema does
    not name pass unchanged; null passes for a property that is not required.
    """
    found = [text for fault in faults(dict(args), schema, lenient=True) for text in _worded(fault)]
    return _converted(schema, dict(args)), found


def _worded(fault: Fault) -> list[str]:
    """Word a fault for the model, which reads it as the answer to its call."""
    schema, path = fault.schema, ""
    for part in fault.path:
        path = f"{path}[{part}]" if isinstance(part, int) else _join(path, part)
    if fault.problem == "required":
        return [f"{_join(path, name)}: is missing" for name in schema["required"] if name not in fault.value]
    if fault.problem == "type":
        return [f"{path or 'arguments'}: must be {_with_article(schema['type'])}, not {_as_json(fault.value)[:60]}"]
    if fault.problem == "enum":
        return [f"{path}: must be one of {', '.join(schema['enum'])}"]
    return [f"{path}: must be {_range(schema.get('minimum'), schema.get('maximum'))}"]


def _converted(schema: Mapping[str, Any], value: Any) -> Any:
    """Return `value` with 2.0 as 2 where the schema wants an integer."""
    if schema.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_converted(schema.get("items", {}), item) for item in value]
    if isinstance(value, dict):
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        return {name: _converted(properties.get(name, others), item) for name, item in value.items()}
    return value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _required_names(schema: Mapping[str, Any], result: dict[str, Any]) -> list[str]:
    """Return the names in `required` that are properties of `result`."""
    required = schema.get("required")
    names = required if isinstance(required, list | tuple) else ()
    return [name for name in names if name in result["properties"]]


def _is_null(option: Any) -> bool:
    return isinstance(option, Mapping) and option.get("type") == "null"


def _type_of(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return "integer"
    return next(kind for kind, fits in TYPES.items() if fits(value))


def _add_hint(result: dict[str, Any], text: str) -> None:
    description = result.get("description")
    result["description"] = f"{description} ({text})" if description else text


def _as_json(value: Any) -> str:
    return (
        {True: "true", False: "false"}[value] if isinstance(value, bool) else "null" if value is None else repr(value)
    )


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"from {low} to {high}"
