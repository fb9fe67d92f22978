"""State keys with a declared type."""

from __future__ import annotations

import contextlib
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text
from gemini_live_runtime.errors import StateError, caller_place
from gemini_live_runtime.plain_types import MisfitError, plain_type
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.terms import Term

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


class StateKey(Term, Generic[T]):
    """A key whose values have a type.

    Pydantic checks it whenever the key is written or read through a state. Usable wherever `key(...)` is. `default` is
    the result of reading while the key is missing. Raises `StateError` for a key without a known scope.
    """

    __slots__ = ("_made_adapter", "_plain", "default", "defined_at", "description", "type")

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
        self._plain = plain_type(type)
        self._made_adapter: TypeAdapter[Any] | None = None if self._plain is not None else self._make_adapter()

    def to_json(self, value: Any) -> Any:
        """Return `value` as JSON; raise `StateError` when it does not fit the type."""
        if self._plain is not None:
            with contextlib.suppress(MisfitError):
                return self._plain.write(self._plain.read(value))
        from pydantic import ValidationError
        from pydantic_core import PydanticSerializationError

        try:
            return self._adapter.dump_python(self._adapter.validate_python(value), mode="json")
        except ValidationError as error:
            raise self._error(value, error) from None
        except PydanticSerializationError as error:
            raise StateError(f"{self.key} cannot be {value!r:.80}: {error}", field=self.key, value=value) from None

    def from_json(self, value: Any) -> T:
        """Return the typed value of a JSON value; raise `StateError` for a misfit."""
        copy: Any = deepcopy(value)
        if self._plain is not None:
            with contextlib.suppress(MisfitError):
                return self._plain.read(copy)  # type: ignore[no-any-return]
        from pydantic import ValidationError

        try:
            return self._adapter.validate_python(copy)  # type: ignore[no-any-return]
        except ValidationError as error:
            raise self._error(value, error) from None

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of its values, {} for a type that has none."""
        if self._plain is not None:
            return deepcopy(dict(self._plain.schema))
        from pydantic import PydanticUserError

        try:
            return self._adapter.json_schema()
        except PydanticUserError:
            return {}

    @property
    def _adapter(self) -> TypeAdapter[Any]:
        if self._made_adapter is None:
            self._made_adapter = self._make_adapter()
        return self._made_adapter

    def _make_adapter(self) -> TypeAdapter[Any]:
        """Return pydantic's adapter of the type; raise `StateError` if it has none."""
        # Imported here and above, for pydantic takes much memory and most keys have plain values.
        from pydantic import TypeAdapter

        try:
            return TypeAdapter(self.type)
        except USER_ERRORS as error:
            raise StateError(
                f"{self.key} cannot be of the type {self.type!r:.60}: {error_text(error).splitlines()[0]:.200}",
                remedy="Give a type that pydantic can check, such as str, int or a model",
                field="type",
                value=self.type,
            ) from None

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
