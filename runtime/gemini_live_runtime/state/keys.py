"""State keys with a declared type."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Generic, TypeVar, overload

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text
from gemini_live_runtime.errors import StateError, caller_place
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.terms import Term

T = TypeVar("T")


class StateKey(Term, Generic[T]):
    """A key whose values have a type.

    Pydantic checks it whenever the key is written or read through a state. Usable wherever `key(...)` is. `default` is
    the result of reading while the key is missing. Raises `StateError` for a key without a known scope.
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
        self.description = exact_text(description)
        self.defined_at = caller_place()
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(type)
        except USER_ERRORS as error:
            raise StateError(
                f"{key} cannot be of the type {type!r:.60}: {error_text(error).splitlines()[0]:.200}",
                remedy="Give a type that pydantic can check, such as str, int or a model",
                field="type",
                value=type,
            ) from None

    def to_json(self, value: Any) -> Any:
        """Return `value` as JSON; raise `StateError` when it does not fit the type."""
        try:
            return self._adapter.dump_python(self._adapter.validate_python(value), mode="json")
        except ValidationError as error:
            raise self._error(value, error) from None
        except PydanticSerializationError as error:
            raise StateError(f"{self.key} cannot be {value!r:.80}: {error}", field=self.key, value=value) from None

    def from_json(self, value: Any) -> T:
        """Return the typed value of a JSON value; raise `StateError` for a misfit."""
        try:
            typed: T = self._adapter.validate_python(deepcopy(value))
        except ValidationError as error:
            raise self._error(value, error) from None
        return typed

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its values."""
        return self._adapter.json_schema()

    def _error(self, value: Any, error: ValidationError) -> StateError:
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
