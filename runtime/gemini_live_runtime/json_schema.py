"""Inline the references of a JSON schema, and check JSON values against it.

The keywords of `CHECKED` are supported. Errors and faults are data without wording: a model reads those of a tool's
arguments, an author those of an extractor's schema, and each caller words them for its reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Literal

from gemini_live_runtime.json_values import is_number, same_value
from gemini_live_runtime.records import record

MAX_DEPTH = 32
"""Levels of a schema: properties, items, alternatives and references counted together."""

ANNOTATIONS = frozenset(
    {"title", "description", "format", "default", "examples", "propertyOrdering", "deprecated", "$schema", "$id",
     "$comment"}
)  # fmt: skip
"""Keywords that no value can violate."""

CHECKED = frozenset(
    {"type", "enum", "const", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
     "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern", "anyOf",
     "oneOf"}
)  # fmt: skip
"""Keywords that `faults` checks; `inlined` turns `const` into an `enum` of one value."""

TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: is_number(value) and (isinstance(value, int) or value.is_integer()),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
"""Predicates by type name. As in JSON Schema, 2.0 is an integer and true is no number."""

_REFERENCE = re.compile(r"#/(?:\$defs|definitions)/([^/]+)")


class InliningError(Exception):
    """Reference that cannot be inlined, or too much nesting.

    `path` names the part of the schema, such as `x.sizes[].unit`. `reference` is the `$ref` as written and
    `definition` the name in it; both are "" for `too-deep`.
    """

    def __init__(
        self,
        path: str,
        problem: Literal["undefined", "recursive", "too-deep"],
        reference: str = "",
        definition: str = "",
    ) -> None:
        super().__init__(f"{path}: {problem} {reference}")
        self.path = path
        self.problem = problem
        self.reference = reference
        self.definition = definition


def inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a JSON schema with references replaced.

    Definitions and titles are left out, and `const` becomes an `enum` of one. Keywords beside a `$ref` win over those
    of its definition. Raises `InliningError`.
    """
    definitions = schema.get("$defs") or schema.get("definitions")
    plain: dict[str, Any] = _inlined(schema, definitions if isinstance(definitions, Mapping) else {}, "", ())
    return plain


def _inlined(schema: Any, definitions: Mapping[str, Any], path: str, inside: tuple[str, ...]) -> Any:
    """Inline one schema.

    `inside` has an entry for each enclosing level: a definition's name, or "" for any other.
    """
    if len(inside) > MAX_DEPTH:
        raise InliningError(path, "too-deep")
    if not isinstance(schema, Mapping):
        return schema

    def inner(part: Any, at: str) -> Any:
        return _inlined(part, definitions, at, (*inside, ""))

    plain: dict[str, Any] = {}
    if (reference := schema.get("$ref")) is not None:
        match = _REFERENCE.fullmatch(str(reference))
        name = match[1] if match else str(reference)
        if name in inside:
            raise InliningError(path, "recursive", str(reference), name)
        if match is None or not isinstance(definitions.get(name), Mapping):
            raise InliningError(path, "undefined", str(reference), name)
        plain = _inlined(definitions[name], definitions, path, (*inside, name))
    for keyword, value in schema.items():
        if keyword in ("$ref", "$defs", "definitions", "title", "discriminator"):
            continue
        if keyword == "properties" and isinstance(value, Mapping):
            plain[keyword] = {name: inner(item, f"{path}.{name}" if path else name) for name, item in value.items()}
        elif keyword in ("items", "additionalProperties"):
            plain[keyword] = inner(value, path + ("[]" if keyword == "items" else ".*"))
        elif keyword in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            plain[keyword] = [inner(item, path) for item in value]
        elif keyword == "prefixItems" and isinstance(value, list):
            plain[keyword] = [inner(item, f"{path}[{index}]") for index, item in enumerate(value)]
        elif keyword == "const":
            plain["enum"] = [value]
        else:
            plain[keyword] = deepcopy(value)
    return plain


Problem = Literal[
    "forbidden", "type", "enum", "no-alternative", "several-alternatives", "length", "pattern", "range", "item-count",
    "required",
]  # fmt: skip


@record
class Fault:
    """Value that violates a schema.

    `path` has property names and list indexes, outermost first.
    """

    path: tuple[str | int, ...]
    problem: Problem
    value: Any
    schema: Any
    """The part of the schema that `value` violates."""


def faults(value: Any, schema: Any, *, lenient: bool = False, path: tuple[str | int, ...] = ()) -> Iterator[Fault]:
    """Yield the faults of a JSON value by an inlined schema, outermost first.

    `lenient` lets null pass for optional properties and does not check lengths, item counts and patterns.
    """
    if not isinstance(schema, Mapping):
        if schema is False:
            yield Fault(path, "forbidden", value, schema)
        return
    problem = _general_problem(value, schema, lenient)
    if problem is not None:
        # Further keywords assume the right type, and would only repeat that the value is wrong.
        yield Fault(path, problem, value, schema)
    elif isinstance(value, str) and not lenient:
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            yield Fault(path, "length", value, schema)
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield Fault(path, "pattern", value, schema)
    elif is_number(value) and not _in_range(value, schema):
        yield Fault(path, "range", value, schema)
    elif isinstance(value, list):
        if not lenient and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield Fault(path, "item-count", value, schema)
        for index, item in enumerate(value):
            yield from faults(item, schema.get("items"), lenient=lenient, path=(*path, index))
    elif isinstance(value, dict):
        yield from _object_faults(value, schema, lenient, path)


def type_names(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a schema names, [] when it names none."""
    kinds = schema.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]


def _general_problem(value: Any, schema: Mapping[str, Any], lenient: bool) -> Problem | None:
    """Return the problem with keywords that apply to every type, or None."""
    kinds = type_names(schema)
    if kinds and not any(TYPES[kind](value) for kind in kinds):
        return "type"
    if "enum" in schema and not any(same_value(value, item) for item in schema["enum"]):
        return "enum"
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            fitting = sum(not any(faults(value, option, lenient=lenient)) for option in schema[keyword])
            if not fitting:
                return "no-alternative"
            if keyword == "oneOf" and fitting > 1:
                return "several-alternatives"
    return None


def _in_range(value: float, schema: Mapping[str, Any]) -> bool:
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        and ("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])
    )


def _object_faults(
    value: dict[str, Any], schema: Mapping[str, Any], lenient: bool, path: tuple[str | int, ...]
) -> Iterator[Fault]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    if any(name not in value for name in required):
        yield Fault(path, "required", value, schema)
    for name, item in value.items():
        if lenient and item is None and name not in required:
            continue
        part = properties.get(name, schema.get("additionalProperties", True))
        yield from faults(item, part, lenient=lenient, path=(*path, name))
