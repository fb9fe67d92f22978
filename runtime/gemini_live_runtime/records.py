"""Values that do not change once made, of which very many are made.

To the type checker they are frozen dataclasses. At run time nothing forbids an assignment: forbidding makes each field
of a new one a call, and a new one four to six times as slow.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def record(cls: type[T]) -> type[T]:
    """A dataclass with slots whose fields are only set when it is made; `dataclasses.replace` makes another."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def keyword_record(cls: type[T]) -> type[T]:
    """A `record` whose fields are given by name."""
    return dataclass(slots=True, unsafe_hash=True, kw_only=True)(cls)
