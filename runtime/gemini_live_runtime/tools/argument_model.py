"""Read a tool's arguments with pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.tools.argument import Argument


class _Schema(GenerateJsonSchema):
    """Schema generator that gives decimals one type, where pydantic gives two."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - declared so in the base class

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        bounds = {key: float(schema[key]) for key in ("ge", "gt", "le", "lt") if schema.get(key) is not None}
        return self.float_schema(core_schema.float_schema(**bounds))  # type: ignore[arg-type]


class ArgumentModel:
    """Pydantic model with a field for each argument of a tool.

    Raises `AgentError` for a type without a schema.
    """

    def __init__(self, tool: str, arguments: Mapping[str, Argument]) -> None:
        self._names = tuple(arguments)
        fields = {name: _field_of(name, argument, tool) for name, argument in arguments.items()}
        try:
            self._model, self.schema = _model(tool, fields)
        except Exception as error:
            name = _failing_parameter(tool, fields)
            where = f" {name}" if name else "s"
            raise AgentError(
                f"Tool {tool}: no schema can be made of its parameter{where}: {error}", field=name or "parameters"
            ) from None

    def read(self, args: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments by name, and a sentence for each fault."""
        try:
            values = self._model.model_validate(dict(args))
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False, include_context=False)
            return {}, [f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in faults]
        return {name: getattr(values, _field_name(index)) for index, name in enumerate(self._names)}, []


def _field_of(name: str, argument: Argument, tool: str) -> tuple[Any, Any]:
    if isinstance(argument.default, FieldInfo):
        raise AgentError(
            f"Tool {tool}: parameter {name} has a Field as its default",
            remedy="Write Annotated[TYPE, Field(...)] and a plain default",
            field=name,
        )
    extra = {"description": argument.description} if argument.description else {}
    return argument.annotation, Field(argument.default, alias=name, **extra)  # type: ignore[call-overload]


def _field_name(index: int) -> str:
    """Return a field name; a parameter's own could be reserved by pydantic."""
    return f"parameter_{index}"


def _model(tool: str, fields: Mapping[str, Any]) -> tuple[type[BaseModel], dict[str, Any]]:
    named = {_field_name(index): field for index, field in enumerate(fields.values())}
    model: type[BaseModel] = create_model(f"{tool}_arguments", __config__=ConfigDict(extra="ignore"), **named)
    return model, model.model_json_schema(schema_generator=_Schema)


def _failing_parameter(tool: str, fields: Mapping[str, Any]) -> str:
    """Return the first parameter without a schema, or ""."""
    for name, field in fields.items():
        try:
            _model(tool, {name: field})
        except Exception:
            return name
    return ""
