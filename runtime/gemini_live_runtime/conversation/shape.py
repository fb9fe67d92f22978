"""The shape of what an extractor looks for: its JSON schema, and reading an answer field by field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Protocol

from pydantic import AliasChoices, AliasPath, BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from gemini_live_runtime.conversation.extraction import MAX_QUOTE, Extracted, Refusal
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_number, same
from gemini_live_runtime.text import sanitise_line

MAX_REFUSED = 32
"""Refused fields that are told of one answer."""

MAX_SCHEMA_DEPTH = 32
"""Deepest nesting of a schema once its references are replaced."""


class Shape(Protocol):
    """What fields an answer has."""

    @property
    def schema(self) -> dict[str, Any]:
        """Its JSON schema, without references."""
        ...

    def read(self, answer: dict[str, Any], /) -> Extracted:
        """The fields that fit, as JSON values, and the others. A null that does not fit counts as left out."""
        ...


def shape_of(schema: type[BaseModel] | Mapping[str, Any]) -> Shape:
    """The shape that a pydantic model or a JSON schema describes; raises `AgentError` for one that cannot be used."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return ModelShape(schema)
    if isinstance(schema, Mapping):
        return SchemaShape(schema)
    raise AgentError(
        f"{schema!r:.80} is no schema", remedy="Give a pydantic model class or a JSON schema", field="schema"
    )


class ModelShape:
    """The fields of a pydantic model. Fields are named as in Python in what is read, by their alias in the schema.

    Defaults are no findings: what the answer leaves out stays out. A validator of the whole object that refuses it,
    or that cannot do without a field that was refused, refuses everything.
    """

    __slots__ = ("_aliases", "_model", "_partial", "schema")

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self._aliases = {alias: name for name, info in model.model_fields.items() for alias in _aliases(name, info)}
        try:
            self.schema = _of_object(inlined(model.model_json_schema()))
            self._partial: type[BaseModel] = create_model(
                model.__name__,
                __base__=model,
                __doc__=model.__doc__,
                **{name: _left_out(info) for name, info in model.model_fields.items()},
            )
        except AgentError:
            raise
        except Exception as error:
            raise AgentError(
                f"No schema can be made of {model.__name__}: {error!s:.200}",
                remedy="Use fields that JSON can hold",
                field="schema",
            ) from None

    def read(self, answer: dict[str, Any], /) -> Extracted:
        """The fields that fit the model."""
        allow_extra = self._model.model_config.get("extra") == "allow"
        refused = {
            name: Refusal(quoted(name), "it is not in the schema")
            for name in answer
            if name not in self._aliases and not allow_extra
        }
        left = {name: value for name, value in answer.items() if name not in refused}
        try:
            return _extracted(self._model, left, refused)
        except ValidationError as error:
            for fault in error.errors(include_url=False, include_input=False, include_context=False):
                if not fault["loc"]:
                    return _refused_whole(refused, fault["msg"])
                name = str(fault["loc"][0])
                if name in left and left.pop(name) is not None:
                    inner = ".".join(str(part) for part in fault["loc"][1:])
                    reason = quoted(f"{inner}: {fault['msg']}" if inner else fault["msg"])
                    refused[name] = Refusal(self._aliases.get(name, quoted(name)), reason)
        except (Exception, SystemExit) as error:
            return _refused_whole(refused, f"{type(error).__name__}: {error}")
        try:
            return _extracted(self._partial, left, refused)
        except ValidationError as error:
            return _refused_whole(refused, error.errors(include_url=False, include_input=False)[0]["msg"])
        except (Exception, SystemExit) as error:
            return _refused_whole(refused, f"{type(error).__name__}: {error}")


class SchemaShape:
    """The properties of a JSON schema. Raises `AgentError` for keywords that are not checked here."""

    __slots__ = ("schema",)

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = _of_object(inlined(schema))
        _check_keywords(self.schema)

    def read(self, answer: dict[str, Any], /) -> Extracted:
        """The fields that fit their property."""
        properties = self.schema["properties"]
        extra = self.schema.get("additionalProperties", False)
        fields: dict[str, Any] = {}
        refused: dict[str, Refusal] = {}
        for name, value in answer.items():
            if name not in properties and extra is False:
                refused[name] = Refusal(quoted(name), "it is not in the schema")
                continue
            problem = fault_of(value, properties.get(name, extra))
            if not problem:
                fields[name] = deepcopy(value)
            elif value is not None:
                refused[name] = Refusal(quoted(name), quoted(problem))
        return Extracted(fields, _told(refused))


def quoted(text: str) -> str:
    """`text` that may hold a model's words, sanitised and cut to `MAX_QUOTE` characters."""
    return sanitise_line(text, MAX_QUOTE)


def _of_object(schema: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        raise AgentError(
            "The schema of an extractor does not describe an object with fields",
            remedy='Give it "type": "object" and "properties", or use a pydantic model with fields',
            field="schema",
        )
    return schema


def _extracted(model: type[BaseModel], values: dict[str, Any], refused: dict[str, Refusal]) -> Extracted:
    found = model.model_validate(values).model_dump(mode="json", exclude_unset=True, by_alias=False)
    return Extracted(found, _told(refused))


def _refused_whole(refused: dict[str, Refusal], reason: str) -> Extracted:
    return Extracted({}, _told({"": Refusal("", quoted(reason)), **refused}))


def _told(refused: Mapping[str, Refusal]) -> tuple[Refusal, ...]:
    told = tuple(refused.values())
    if len(told) <= MAX_REFUSED:
        return told
    return (*told[: MAX_REFUSED - 1], Refusal("", f"{len(told) - MAX_REFUSED + 1} more fields were refused"))


def _left_out(info: FieldInfo) -> Any:
    """The same field, which may be absent."""
    copy = deepcopy(info)
    copy.default, copy.default_factory, copy.validate_default = None, None, False
    return (info.annotation, copy)


def _aliases(name: str, info: FieldInfo) -> list[str]:
    found = [name]
    for alias in (info.alias, info.validation_alias):
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        found += [str(item.path[0]) if isinstance(item, AliasPath) else item for item in choices if item is not None]
    return found


# -- JSON schema ---------------------------------------------------------------------------------------------------

_NOTES = frozenset(
    {"title", "description", "format", "default", "examples", "propertyOrdering", "deprecated", "$schema", "$id",
     "$comment"}
)  # fmt: skip
_CHECKED = frozenset(
    {"type", "enum", "const", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
     "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern", "anyOf",
     "oneOf"}
)  # fmt: skip


def inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a JSON schema with `$ref` replaced by what it names, titles left out and `const` as an `enum` of one.

    Raises `AgentError` for references to elsewhere and for a schema that contains itself.
    """
    plain: dict[str, Any] = _inlined(schema, schema, ())
    plain.pop("$defs", None)
    return plain


def _inlined(schema: Any, root: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if len(inside) > MAX_SCHEMA_DEPTH:
        raise AgentError("The schema is nested too deeply", remedy="Make it flatter", field="schema")
    if not isinstance(schema, Mapping):
        return schema
    plain: dict[str, Any] = {}
    reference = schema.get("$ref")
    if reference is not None:
        name = str(reference).removeprefix("#/$defs/")
        target = root.get("$defs", {}).get(name)
        if target is None or name in inside:
            what = "refers to itself" if name in inside else "is not in $defs"
            raise AgentError(
                f"The schema's {reference!r:.60} {what}",
                remedy="Use types that do not contain themselves",
                field="schema",
            )
        plain = _inlined(target, root, (*inside, name))
    for keyword, value in schema.items():
        if keyword in ("$ref", "title", "$defs"):
            continue
        if keyword == "properties" and isinstance(value, Mapping):
            plain[keyword] = {name: _inlined(item, root, (*inside, "")) for name, item in value.items()}
        elif keyword in ("items", "additionalProperties"):
            plain[keyword] = _inlined(value, root, (*inside, ""))
        elif keyword in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            plain[keyword] = [_inlined(item, root, (*inside, "")) for item in value]
        elif keyword == "const":
            plain["enum"] = [value]
        elif keyword != "discriminator":
            plain[keyword] = deepcopy(value)
    return plain


_KINDS: dict[str, Any] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: is_number(value) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def fault_of(value: Any, schema: Any) -> str:
    """Why a JSON value does not fit an inlined schema, in a few words; "" when it does."""
    if not isinstance(schema, dict):
        return "nothing may stand here" if schema is False else ""
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(_KINDS[kind](value) for kind in kinds):
        return f"it is not {' or '.join(kinds)}"
    if "enum" in schema and not any(same(value, item) for item in schema["enum"]):
        return "it is not one of the allowed values"
    for keyword in ("anyOf", "oneOf"):
        fitting = sum(not fault_of(value, option) for option in schema.get(keyword, ()))
        if keyword in schema and (not fitting or (keyword == "oneOf" and fitting > 1)):
            return "it fits none of the alternatives" if not fitting else "it fits several alternatives"
    if isinstance(value, str):
        return _text_fault(value, schema)
    if is_number(value):
        return _number_fault(value, schema)
    if isinstance(value, list):
        return _list_fault(value, schema)
    return _object_fault(value, schema) if isinstance(value, dict) else ""


def _text_fault(value: str, schema: dict[str, Any]) -> str:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return "it is too short or too long"
    return "it has the wrong form" if "pattern" in schema and not re.search(schema["pattern"], value) else ""


def _number_fault(value: float, schema: dict[str, Any]) -> str:
    fits = (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        and ("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])
    )
    return "" if fits else "it is out of range"


def _list_fault(value: list[Any], schema: dict[str, Any]) -> str:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return "it has too few or too many items"
    for at, item in enumerate(value):
        if fault := fault_of(item, schema.get("items")):
            return f"item {at}: {fault}"
    return ""


def _object_fault(value: dict[str, Any], schema: dict[str, Any]) -> str:
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"it lacks {', '.join(missing)}"
    properties, extra = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, item in value.items():
        if fault := fault_of(item, properties.get(name, extra)):
            return f"{name}: {fault}"
    return ""


def _check_keywords(schema: Any) -> None:
    if not isinstance(schema, dict):
        return
    unknown = sorted(set(schema) - _NOTES - _CHECKED)
    kinds = schema.get("type", [])
    unknown += [f"type {kind!r}" for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind not in _KINDS]
    if unknown:
        raise AgentError(
            f"The schema uses {', '.join(unknown)[:100]}, which answers are not checked for",
            remedy="Leave it out, or use a pydantic model",
            field="schema",
            value=unknown,
        )
    try:
        re.compile(schema.get("pattern", ""))
    except re.error as error:
        raise AgentError(f"The schema has an unusable pattern: {error}", field="pattern") from None
    parts = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    for part in (*parts, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        _check_keywords(part)
