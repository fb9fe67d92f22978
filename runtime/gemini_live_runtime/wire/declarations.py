"""Messages that declare tools to the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemini_live_runtime.wire.base import Message, message, wire
from gemini_live_runtime.wire.enums import Behavior, SchemaType


@message
class Schema(Message):
    """Schema in the Live API's subset of OpenAPI. Property names are not renamed."""

    type: SchemaType | str | None = None
    title: str | None = None
    description: str | None = None
    format: str | None = None
    nullable: bool | None = None
    enum: tuple[str, ...] = ()
    items: Schema | None = None
    min_items: int | None = None
    max_items: int | None = None
    properties: Mapping[str, Schema] = wire(default_factory=dict)
    required: tuple[str, ...] = ()
    property_ordering: tuple[str, ...] = ()
    min_properties: int | None = None
    max_properties: int | None = None
    additional_properties: Any = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    any_of: tuple[Schema, ...] = ()
    default: Any = None
    example: Any = None
    ref: str | None = None
    defs: Mapping[str, Schema] = wire(default_factory=dict)


@message
class FunctionDeclaration(Message):
    """Function that the model may call.

    Set `parameters` or `parameters_json_schema`, not both.
    """

    name: str | None = None
    description: str | None = None
    parameters: Schema | None = None
    parameters_json_schema: Any = None
    response: Schema | None = None
    response_json_schema: Any = None
    behavior: Behavior | str | None = None


@message
class Tool(Message):
    """Entry of `tools`: function declarations, or one built-in tool.

    The value of a built-in tool is its options, `{}` for none.
    """

    function_declarations: tuple[FunctionDeclaration, ...] = ()
    google_search: Mapping[str, Any] | None = None
    code_execution: Mapping[str, Any] | None = None
    url_context: Mapping[str, Any] | None = None
    google_maps: Mapping[str, Any] | None = None
