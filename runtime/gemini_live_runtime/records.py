"""Values that do not change once made, of which very many are made, by classes of which there are many.

To the type checker they are frozen dataclasses. At run time nothing forbids an assignment: forbidding makes each field
of a new one a call, and a new one four to six times as slow. All they have in common is written once instead of being
generated and compiled for each class, which is most of what importing a hundred dataclasses takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def record(cls: type[T]) -> type[T]:
    """A dataclass with slots whose fields are only set when it is made; `dataclasses.replace` makes another."""
    return _compared(dataclass(slots=True, eq=False, repr=False)(cls))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def keyword_record(cls: type[T]) -> type[T]:
    """A `record` whose fields are given by name."""
    return _compared(dataclass(slots=True, eq=False, repr=False, kw_only=True)(cls))


def _compared(cls: type[T]) -> type[T]:
    """Compared, hashed and shown by its fields."""
    names = [one.name for one in fields(cls)]  # type: ignore[arg-type]
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    def shown(self: Any) -> str:
        return f"{cls.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    for name, method in (("__eq__", equal), ("__hash__", hashed), ("__repr__", shown)):
        setattr(cls, name, method)
    return cls
