"""Declare immutable value classes that are cheap to import and to create.

To the type checker they are frozen dataclasses. At run time an assignment is not refused: a frozen dataclass sets each
field by a call, which makes creating one four to six times slower. `__eq__`, `__hash__` and `__repr__` are closures
over the field names; dataclasses would generate and compile them for each class, which takes most of the time of
importing a hundred of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def record(cls: type[T]) -> type[T]:
    """Make a class an immutable dataclass with slots; change by `dataclasses.replace`."""
    return _add_comparison(dataclass(slots=True, eq=False, repr=False)(cls))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def keyword_record(cls: type[T]) -> type[T]:
    """Make a class a `record` whose fields are keyword-only."""
    return _add_comparison(dataclass(slots=True, eq=False, repr=False, kw_only=True)(cls))


def _add_comparison(cls: type[T]) -> type[T]:
    """Compare, hash and print instances by their fields."""
    names = [one.name for one in fields(cls)]  # type: ignore[arg-type]
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_(self: Any) -> int:
        return hash(values(self))

    def show(self: Any) -> str:
        return f"{cls.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    for name, method in (("__eq__", equal), ("__hash__", hash_), ("__repr__", show)):
        setattr(cls, name, method)
    return cls
