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
def keyword_record(cls: type[T], *, with_repr: bool = True) -> type[T]:
    """Make a class a `record` whose fields are keyword-only.

    Without `with_repr` it is printed as its base class says.
    """
    return _add_comparison(dataclass(slots=True, eq=False, repr=False, kw_only=True)(cls), with_repr=with_repr)


def _add_comparison(cls: type[T], *, with_repr: bool = True) -> type[T]:
    """Compare, hash and print instances by their fields, as far as these say so.

    Methods of the class's own are kept.
    """
    compared = [one.name for one in fields(cls) if one.compare]  # type: ignore[arg-type]
    shown = [one.name for one in fields(cls) if one.repr]  # type: ignore[arg-type]
    values: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _: ()

    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_(self: Any) -> int:
        return hash(values(self))

    def show(self: Any) -> str:
        return f"{cls.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    for name, method in (("__eq__", equal), ("__hash__", hash_), ("__repr__", show)):
        if cls.__dict__.get(name) is None and (with_repr or method is not show):
            setattr(cls, name, method)
    return cls
