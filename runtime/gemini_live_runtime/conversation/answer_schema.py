"""Check a text model's answers against a schema, field by field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Protocol

from pydantic import AliasChoices, AliasPath, BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from gemini_live_runtime.author_code import USER_ERRORS, error_text
from gemini_live_runtime.conversation.extraction import MAX_QUOTE, ExtractedFields, Refusal
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_schema import (
    ANNOTATIONS,
    CHECKED,
    TYPES,
    Fault,
    InliningError,
    Problem,
    faults,
    inlined,
    type_names,
)
from gemini_live_runtime.text import sanitise_line

MAX_REFUSED = 32
"""Refused fields that are reported of one answer."""


class AnswerSchema(Protocol):
    """Fields of an answer."""

    @property
    def json_schema(self) -> dict[str, Any]:
        """JSON schema without references."""
        ...

    def read(self, answer: dict[str, Any], /) -> ExtractedFields:
        """Return the fields that fit and the refused ones.

        A null that does not fit counts as left out.
        """
        ...


def answer_schema_of(schema: type[BaseModel] | Mapping[str, Any]) -> AnswerSchema:
    """Return the schema of answers; raise `AgentError` for one that cannot be used."""
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return PydanticSchema(schema)
    if isinstance(schema, Mapping):
        return JsonSchema(schema)
    raise AgentError(
        f"{schema!r:.80} is no schema", remedy="Give a pydantic model class or a JSON schema", field="schema"
    )


class PydanticSchema:
    """Answers that fit a pydantic model.

    Results name fields as in Python, the JSON schema by their alias. Defaults are no findings: a field that the answer
    leaves out stays out. A validator of the whole object that refuses it, or that needs a refused field, refuses
    everything.
    """

    __slots__ = ("_aliases", "_model", "_partial", "json_schema")

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self._aliases = {alias: name for name, info in model.model_fields.items() for alias in _aliases(name, info)}
        try:
            self.json_schema = _object_schema(model.model_json_schema())
            self._partial: type[BaseModel] = create_model(
                model.__name__,
                __base__=model,
                __doc__=model.__doc__,
                **{name: _optional(info) for name, info in model.model_fields.items()},
            )
        except AgentError:
            raise
        except Exception as error:
            raise AgentError(
                f"No schema can be made of {model.__name__}: {error!s:.200}",
                remedy="Use fields that JSON can hold",
                field="schema",
            ) from None

    def read(self, answer: dict[str, Any], /) -> ExtractedFields:
        """Return the fields that fit the model, and the refused ones."""
        allow_extra = self._model.model_config.get("extra") == "allow"
        refused = {
            name: Refusal(quote(name), "it is not in the schema")
            for name in answer
            if name not in self._aliases and not allow_extra
        }
        # First the whole model. Where it fails, the fields named by its errors are left out, and the rest is validated
        # by a copy of the model in which every field is optional.
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
                    reason = quote(f"{inner}: {fault['msg']}" if inner else fault["msg"])
                    refused[name] = Refusal(self._aliases.get(name, quote(name)), reason)
        except USER_ERRORS as error:
            return _refused_whole(refused, error_text(error))
        try:
            return _extracted(self._partial, left, refused)
        except ValidationError as error:
            return _refused_whole(refused, error.errors(include_url=False, include_input=False)[0]["msg"])
        except USER_ERRORS as error:
            return _refused_whole(refused, error_text(error))


class JsonSchema:
    """Answers that fit a JSON schema.

    Raises `AgentError` for keywords that are not checked here.
    """

    __slots__ = ("json_schema",)

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.json_schema = _object_schema(schema)
        _check_keywords(self.json_schema)

    def read(self, answer: dict[str, Any], /) -> ExtractedFields:
        """Return the fields that fit their property, and the refused ones."""
        properties = self.json_schema["properties"]
        extra = self.json_schema.get("additionalProperties", False)
        fields: dict[str, Any] = {}
        refused: dict[str, Refusal] = {}
        for name, value in answer.items():
            if name not in properties and extra is False:
                refused[name] = Refusal(quote(name), "it is not in the schema")
                continue
            fault = next(faults(value, properties.get(name, extra)), None)
            if fault is None:
                fields[name] = deepcopy(value)
            elif value is not None:
                refused[name] = Refusal(quote(name), quote(_reason(fault)))
        return ExtractedFields(fields, _bounded(refused))


def quote(text: str) -> str:
    """Return a model's text sanitised and cut to `MAX_QUOTE` characters."""
    return sanitise_line(text, MAX_QUOTE)


def _object_schema(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return an inlined copy of an object's schema; raise `AgentError` otherwise."""
    try:
        schema = inlined(described)
    except InliningError as error:
        if error.problem == "too-deep":
            raise AgentError("The schema is nested too deeply", remedy="Make it flatter", field="schema") from None
        problem, remedy = {
            "recursive": ("refers to itself", "Use types that do not contain themselves"),
            "undefined": ("is not in $defs", "Add the definition to $defs"),
        }[error.problem]
        raise AgentError(f"The schema's {error.reference!r:.60} {problem}", remedy=remedy, field="schema") from None
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        raise AgentError(
            "The schema of an extractor does not describe an object with fields",
            remedy='Give it "type": "object" and "properties", or use a pydantic model with fields',
            field="schema",
        )
    return schema


def _extracted(model: type[BaseModel], values: dict[str, Any], refused: dict[str, Refusal]) -> ExtractedFields:
    found = model.model_validate(values).model_dump(mode="json", exclude_unset=True, by_alias=False)
    return ExtractedFields(found, _bounded(refused))


def _refused_whole(refused: dict[str, Refusal], reason: str) -> ExtractedFields:
    return ExtractedFields({}, _bounded({"": Refusal("", quote(reason)), **refused}))


def _bounded(refused: Mapping[str, Refusal]) -> tuple[Refusal, ...]:
    listed = tuple(refused.values())
    if len(listed) <= MAX_REFUSED:
        return listed
    return (*listed[: MAX_REFUSED - 1], Refusal("", f"{len(listed) - MAX_REFUSED + 1} more fields were refused"))


def _optional(info: FieldInfo) -> Any:
    """Return the same field, which may be absent."""
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

_REASONS: dict[Problem, str] = {
    "forbidden": "no value is allowed here",
    "enum": "it is not one of the allowed values",
    "no-alternative": "it fits none of the alternatives",
    "several-alternatives": "it fits several alternatives",
    "length": "it is too short or too long",
    "pattern": "it has the wrong form",
    "range": "it is out of range",
    "item-count": "it has too few or too many items",
}


def _reason(fault: Fault) -> str:
    where = "".join(f"item {part}: " if isinstance(part, int) else f"{part}: " for part in fault.path)
    if fault.problem == "type":
        return f"{where}it is not {' or '.join(type_names(fault.schema))}"
    if fault.problem == "required":
        return f"{where}it lacks {', '.join(name for name in fault.schema['required'] if name not in fault.value)}"
    return where + _REASONS[fault.problem]


def _check_keywords(schema: Any) -> None:
    if not isinstance(schema, dict):
        return
    unknown = sorted(set(schema) - ANNOTATIONS - CHECKED)
    unknown += [f"type {kind!r}" for kind in type_names(schema) if kind not in TYPES]
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
