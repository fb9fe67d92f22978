"""State keys: their scopes, and keys with a declared type."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Generic, TypeVar, overload

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from gemini_live_runtime.errors import StateError, caller_place
from gemini_live_runtime.state.terms import Term

T = TypeVar("T")

SCOPES = ("app", "user", "session", "turn", "bg", "temp", "derived")
"""Scopes a key may begin with, as `scope:name`. `turn` is cleared when a turn begins; `derived` is computed."""


def check_key(key: object) -> str:
    """`key` if it can be one; raises `StateError` naming the remedy. Keys are `scope:name` or a bare name."""
    if not isinstance(key, str) or not key:
        raise StateError(f"A state key is a text that is not empty, not {key!r}", field="key", value=key)
    scope, colon, name = key.partition(":")
    if colon and (scope not in SCOPES or not name):
        raise StateError(
            f"The state key {key!r} has no known scope",
            remedy=f"Begin it with one of {', '.join(f'{s}:' for s in SCOPES)} or leave out the colon",
            field="key",
            value=key,
        )
    return key


class StateKey(Term, Generic[T]):
    """A key whose values have a type, checked by pydantic whenever it is written or read through a state.

    Usable wherever `key(...)` is. `default` is what reading gives while the key is missing. Raises `StateError` for a
    key without a known scope.
    """

    __slots__ = ("_adapter", "default", "defined_at", "description", "type")

    @overload
    def __init__(self, key: str, type: type[T], *, default: T | None = None, description: str = "") -> None: ...
    @overload
    def __init__(self: StateKey[Any], key: str, type: Any, *, default: Any = None, description: str = "") -> None: ...
    def __init__(self, key: str, type: Any, *, default: T | None = None, description: str = "") -> None:
        super().__init__(check_key(key))
        self.type = type
        self.default = default
        self.description = description
        self.defined_at = caller_place()
        self._adapter: TypeAdapter[Any] = TypeAdapter(type)

    def to_json(self, value: Any) -> Any:
        """The JSON value of `value`; raises `StateError` naming the key, the value and what was expected."""
        try:
            return self._adapter.dump_python(self._adapter.validate_python(value), mode="json")
        except ValidationError as error:
            raise self._wrong(value, error) from None
        except PydanticSerializationError as error:
            raise StateError(f"{self.key} cannot be {value!r:.80}: {error}", field=self.key, value=value) from None

    def from_json(self, value: Any) -> T:
        """The typed value of a JSON value; raises `StateError`."""
        try:
            typed: T = self._adapter.validate_python(deepcopy(value))
        except ValidationError as error:
            raise self._wrong(value, error) from None
        return typed

    def json_schema(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        return self._adapter.json_schema()

    def _wrong(self, value: Any, error: ValidationError) -> StateError:
        faults = "; ".join(
            ".".join(str(part) for part in fault["loc"]) + (": " if fault["loc"] else "") + fault["msg"]
            for fault in error.errors(include_url=False, include_input=False)[:3]
        )
        return StateError(
            f"{self.key} cannot be {value!r:.80}: {faults}",
            remedy="Give a value of its type",
            field=self.key,
            value=value,
        )
