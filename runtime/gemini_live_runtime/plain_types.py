"""Read and write values of plain types as pydantic does, without importing it.

Pydantic takes 9 MB of memory and a fifth of the time in which an engine starts. Values that have their plain type
already, as almost all have, need none of it. Any other value is a `MisfitError`, and any other type is not plain:
pydantic converts the value or refuses it with its reason, so that it alone decides on both.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import record

Convert = Callable[[Any], Any]
"""Function that returns a copy of a value; raises `MisfitError`."""

_LENGTHS = ("min_length", "max_length")
_EXACT = 2**53
"""Largest whole number that every float can hold."""
_PLAIN_LEVELS = 64
"""Levels of lists and dicts in a plain value; pydantic has a limit of its own, which depends on the system."""


def camel_case(name: str) -> str:
    """Return a field's name as it stands in JSON files."""
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


JSON_CONFIG: dict[str, Any] = {
    "alias_generator": camel_case,
    "populate_by_name": True,
    "extra": "ignore",
    "allow_inf_nan": False,
}
"""Pydantic's configuration of records in files: names in camelCase, both spellings read, unknown fields ignored."""


class Within:
    """Bounds of a number or of a text's length: `Annotated[int, Within(ge=1, le=12)]`.

    A tool's parameter has them in its JSON schema, and arguments are checked. They mean what those of pydantic's
    `Field` do, which works as well and loads pydantic (9 MB of memory). `gt`, `ge`, `lt` and `le` are for int and
    float, lengths (characters) for str: a tool refuses others. Raises `AgentError` for no bounds, or for one that is no
    number.
    """

    __is_annotated_types_grouped_metadata__ = True

    def __init__(
        self,
        *,
        gt: float | None = None,
        ge: float | None = None,
        lt: float | None = None,
        le: float | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
    ) -> None:
        given = {"gt": gt, "ge": ge, "lt": lt, "le": le, "min_length": min_length, "max_length": max_length}
        self.bounds = {name: bound for name, bound in given.items() if bound is not None}
        for name, bound in self.bounds.items():
            kinds = (int,) if name in _LENGTHS else (int, float)
            if type(bound) not in kinds or bound != bound or (name in _LENGTHS and bound < 0):
                wanted = "a whole number from 0 on" if name in _LENGTHS else "a number"
                raise AgentError(
                    f"Within({name}={bound!r}) is no bound", remedy=f"Give {wanted}", field=name, value=repr(bound)
                )
        if not self.bounds:
            raise AgentError("Within() has no bounds", remedy=f"Give one of {', '.join(given)}", field="Within")

    def __repr__(self) -> str:
        return f"Within({', '.join(f'{name}={bound}' for name, bound in self.bounds.items())})"

    def __iter__(self) -> Iterator[object]:
        """Yield the bounds in the terms of annotated-types, which pydantic applies."""
        import annotated_types

        names = {"min_length": "MinLen", "max_length": "MaxLen"}
        for name, bound in self.bounds.items():
            yield getattr(annotated_types, names.get(name, name.title()))(bound)


class MisfitError(Exception):
    """Value that pydantic has to convert or to refuse."""


@record
class PlainType:
    """Plain type: how its values are read and written as JSON, and its JSON schema."""

    read: Convert
    write: Convert
    schema: Mapping[str, Any]


def plain_type(annotation: Any) -> PlainType | None:
    """Return the plain type of an annotation, or None for a type that needs pydantic.

    Plain are texts, numbers, flags and literal texts; lists, tuples of one type, dicts by text and options of these;
    and numbers and texts `Within` bounds.
    """
    return _type(annotation, _SIMPLE.get)


def _type(annotation: Any, type_of_class: Callable[[type[Any]], PlainType | None]) -> PlainType | None:
    if annotation is Any:
        return PlainType(_anything, _json, {})
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None:
        return type_of_class(annotation) if isinstance(annotation, type) else None
    if origin is Literal:
        return _literal(arguments)
    if origin is Annotated:
        return _bounded(arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        others = [item for item in arguments if item is not types.NoneType]
        return _optional(_type(others[0], type_of_class)) if len(others) == 1 else None
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return _list(_type(arguments[0], type_of_class), origin)
    if origin is dict and arguments[0] is str:
        return _dict(_type(arguments[1], type_of_class))
    return None


_records: dict[type[Any], PlainType | None] = {}


def plain_record(cls: type[Any]) -> PlainType | None:
    """Return the plain type of a record; None for one with fields that need pydantic.

    It reads a dict, and omits None in writing. In JSON its names are in camelCase if it has `JSON_CONFIG`.
    """
    if cls not in _records:
        _records[cls] = _record_type(cls)
    return _records[cls]


def _record_type(cls: type[Any]) -> PlainType | None:
    if not is_dataclass(cls):
        return None
    hints = get_type_hints(cls, include_extras=True)
    in_json = camel_case if _is_camel_case(cls) else str
    kinds: list[tuple[str, str, PlainType]] = []
    for one in fields(cls):
        if (kind := _type(hints[one.name], _type_of_class)) is None:
            return None
        kinds.append((one.name, in_json(one.name), kind))
    required = {one.name for one in fields(cls) if one.default is MISSING and one.default_factory is MISSING}

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise MisfitError
        given: dict[str, Any] = {}
        for name, json_name, kind in kinds:
            if json_name in value:
                given[name] = kind.read(value[json_name])
            if name != json_name and name in value:
                raise MisfitError
        if not required <= given.keys():
            raise MisfitError
        return cls(**given)

    def write(value: Any) -> dict[str, Any]:
        if type(value) is not cls:
            raise MisfitError
        written = ((json_name, kind.write(getattr(value, name))) for name, json_name, kind in kinds)
        return {name: item for name, item in written if item is not None}

    properties = {json_name: kind.schema for _, json_name, kind in kinds}
    return PlainType(read, write, {"type": "object", "properties": properties})


def _is_camel_case(cls: type[Any]) -> bool:
    return getattr(cls, "__pydantic_config__", None) is JSON_CONFIG


def _type_of_class(cls: type[Any]) -> PlainType | None:
    """Return the type of a record's field: simple, an enumeration, or a record."""
    if issubclass(cls, StrEnum):
        return _enumeration(cls)
    return plain_record(cls) if _is_camel_case(cls) else _SIMPLE.get(cls)


def is_plain_json(value: Any, levels: int = _PLAIN_LEVELS) -> bool:
    """Return True for texts, numbers, flags, null, and lists and dicts of these.

    The names in dicts are texts.
    """
    kind = type(value)
    if kind is str:
        return _is_unicode(value)
    if kind is list:
        return levels > 0 and all(is_plain_json(item, levels - 1) for item in value)
    if kind is dict:
        return levels > 0 and all(
            type(name) is str and _is_unicode(name) and is_plain_json(item, levels - 1) for name, item in value.items()
        )
    return kind in (int, float, bool, types.NoneType)


def _is_unicode(text: str) -> bool:
    """Return True for a text without lone surrogates, which pydantic refuses."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


# -- simple types ------------------------------------------------------------------------------------------------------


def _anything(value: Any) -> Any:
    return value


def _json(value: Any) -> Any:
    if is_plain_json(value):
        return value
    raise MisfitError


def _text(value: Any) -> str:
    if type(value) is str and _is_unicode(value):
        return value
    raise MisfitError


def _integer(value: Any) -> int:
    if type(value) is int:
        return value
    raise MisfitError


def _number(value: Any) -> float:
    if type(value) is int and -_EXACT <= value <= _EXACT:
        return float(value)
    return _float(value)


def _float(value: Any) -> float:
    if type(value) is float:
        return value
    raise MisfitError


def _flag(value: Any) -> bool:
    if type(value) is bool:
        return value
    raise MisfitError


_SIMPLE: Mapping[type, PlainType] = {
    str: PlainType(_text, _text, {"type": "string"}),
    int: PlainType(_integer, _integer, {"type": "integer"}),
    float: PlainType(_number, _float, {"type": "number"}),
    bool: PlainType(_flag, _flag, {"type": "boolean"}),
}


# -- made of others ----------------------------------------------------------------------------------------------------


def _enumeration(cls: type[StrEnum]) -> PlainType:
    members = {str(member): member for member in cls}

    def read(value: Any) -> StrEnum:
        if type(value) is str and value in members:
            return members[value]
        raise MisfitError

    def write(value: Any) -> str:
        if type(value) is cls:
            return str(value)
        raise MisfitError

    return PlainType(read, write, {"enum": list(members), "type": "string"})


def _literal(choices: tuple[Any, ...]) -> PlainType | None:
    if any(type(choice) is not str for choice in choices):
        return None  # 1 is equal to true
    allowed = frozenset(choices)

    def read(value: Any) -> str:
        if type(value) is str and value in allowed:
            return value
        raise MisfitError

    words = {"const": choices[0]} if len(choices) == 1 else {"enum": list(choices)}
    return PlainType(read, read, {**words, "type": "string"})


def _optional(inner: PlainType | None) -> PlainType | None:
    if inner is None:
        return None

    def or_none(convert: Convert) -> Convert:
        return lambda value: None if value is None else convert(value)

    return PlainType(or_none(inner.read), or_none(inner.write), {"anyOf": [inner.schema, {"type": "null"}]})


def _list(inner: PlainType | None, kind: type[Any]) -> PlainType | None:
    """Return a list, or a tuple, which JSON has as a list."""
    if inner is None:
        return None

    def items(convert: Convert, *, of: type[Any], to: type[Any]) -> Convert:
        def converted(value: Any) -> Any:
            if type(value) is of:
                return to(map(convert, value))
            raise MisfitError

        return converted

    schema = {"items": inner.schema, "type": "array"}
    return PlainType(items(inner.read, of=list, to=kind), items(inner.write, of=kind, to=list), schema)


def _dict(inner: PlainType | None) -> PlainType | None:
    if inner is None:
        return None

    def items(convert: Convert) -> Convert:
        def converted(value: Any) -> dict[str, Any]:
            if type(value) is dict:
                return {_text(name): convert(item) for name, item in value.items()}
            raise MisfitError

        return converted

    return PlainType(
        items(inner.read), items(inner.write), {"additionalProperties": inner.schema or True, "type": "object"}
    )


# -- bounds ------------------------------------------------------------------------------------------------------------

_BOUNDS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "gt": ("exclusiveMinimum", lambda value, bound: value > bound),
    "ge": ("minimum", lambda value, bound: value >= bound),
    "lt": ("exclusiveMaximum", lambda value, bound: value < bound),
    "le": ("maximum", lambda value, bound: value <= bound),
    "min_length": ("minLength", lambda value, bound: len(value) >= bound),
    "max_length": ("maxLength", lambda value, bound: len(value) <= bound),
}


def _bounded(annotation: Any, notes: tuple[Any, ...]) -> PlainType | None:
    if annotation not in _SIMPLE or not all(isinstance(note, Within) for note in notes):
        return None
    plain = _SIMPLE[annotation]
    bounds = {name: bound for note in notes for name, bound in note.bounds.items()}
    for name in bounds:
        if annotation is bool or (name in _LENGTHS) is not (annotation is str):
            fitting = ", ".join(other for other in _BOUNDS if (other in _LENGTHS) is (annotation is str))
            raise AgentError(
                f"Within({name}={bounds[name]}) is no bound of {annotation.__name__}",
                remedy="A flag has no bounds" if annotation is bool else f"Use {fitting}",
                field=name,
            )

    def read(value: Any) -> Any:
        found = plain.read(value)
        if all(_BOUNDS[name][1](found, bound) for name, bound in bounds.items()):
            return found
        raise MisfitError

    return PlainType(read, plain.write, {**plain.schema, **{_BOUNDS[name][0]: bounds[name] for name in bounds}})
