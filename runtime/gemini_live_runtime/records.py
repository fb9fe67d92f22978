"""Declare value classes that are cheap to import and to create.

To the type checker immutable ones are frozen dataclasses. At run time only a `frozen_record` refuses assignments, which
authors of agents use: it sets each field by a call, so that creating one takes four to six times as long. All share
`__eq__`, `__hash__` and `__repr__`, and `__init__` is made when the first instance is: dataclasses would generate and
compile them for each class, which takes most of the time of importing a hundred of them, of which a program uses a few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast, dataclass_transform, overload

if TYPE_CHECKING:
    from inspect import Signature

T = TypeVar("T")

_SPECIAL_TYPES = ("ClassVar", "InitVar", "KW_ONLY")
"""Names in annotations that say something else than the type of a field."""

_FACTORY = object()
"""Default of an argument whose value is made for each instance."""


@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def record(cls: type[T]) -> type[T]:
    """Make a class an immutable dataclass with slots; change by `dataclasses.replace`."""
    return _complete(_dataclass(cls))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field, Field))
def keyword_record(cls: type[T], *, with_repr: bool = True) -> type[T]:
    """Make a class a `record` whose fields are keyword-only.

    Without `with_repr` it is printed as its base class says.
    """
    return _complete(_dataclass(cls, kw_only=True), with_repr=with_repr)


@overload
def frozen_record(cls: type[T], /) -> type[T]: ...
@overload
def frozen_record(*, kw_only: bool) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def frozen_record(cls: type[T] | None = None, /, *, kw_only: bool = False) -> Any:
    """Make a class a `record` that refuses assignments, as a frozen dataclass does."""
    if cls is None:
        return partial(_freeze, kw_only=kw_only)
    return _freeze(cls, kw_only=kw_only)


@dataclass_transform(field_specifiers=(field, Field))
def mutable_record(cls: type[T]) -> type[T]:
    """Make a class a dataclass with slots, whose fields may be assigned.

    It is compared and printed by its fields, and has no hash.
    """
    made: Any = _complete(_dataclass(cls))
    made.__hash__ = None
    return cast("type[T]", made)


def _freeze(cls: type[T], *, kw_only: bool) -> type[T]:
    made: Any = _complete(_dataclass(cls, kw_only=kw_only))
    made.__dataclass_params__.frozen = True  # A dataclass made of it has to be frozen, too.

    def refuse_assignment(self: Any, name: str, value: object) -> None:
        if type(self) is made or name in made.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def refuse_deletion(self: Any, name: str) -> None:
        if type(self) is made or name in made.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    made.__setattr__, made.__delattr__ = refuse_assignment, refuse_deletion
    made.__getstate__, made.__setstate__ = _values_of, _set_values
    return cast("type[T]", made)


def _values_of(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_values(self: Any, values: list[Any]) -> None:
    for one, value in zip(fields(self), values, strict=True):
        object.__setattr__(self, one.name, value)


def _dataclass(cls: type[T], *, kw_only: bool = False) -> type[T]:
    """Make a class a dataclass with slots and without generated methods.

    Dataclasses search each annotation that is a text for three names, which takes a tenth of importing all records.
    """
    # `get_annotations` would evaluate those of Python 3.14, where this may find none: then nothing is saved.
    written = cls.__dict__.get("__annotations__", {})  # noqa: RUF063
    is_plain = bool(written) and not any(name in str(said) for said in written.values() for name in _SPECIAL_TYPES)
    if is_plain:
        cls.__annotations__ = dict.fromkeys(written, object)
    made = dataclass(slots=True, init=False, eq=False, repr=False, kw_only=kw_only)(cls)
    if is_plain:
        made.__annotations__ = written
        for name, annotation in written.items():
            made.__dataclass_fields__[name].type = annotation  # type: ignore[attr-defined]
    return made


def _complete(cls: type[T], *, with_repr: bool = True) -> type[T]:
    _add_init(cls)
    return _add_comparison(cls, with_repr=with_repr)


def _add_init(cls: type[Any]) -> None:
    """Make `__init__` when the first instance is created."""

    def make_init(self: Any, *args: Any, **options: Any) -> None:
        cls.__init__ = _init_of(cls)
        cls.__init__(self, *args, **options)

    cls.__init__ = make_init
    cls.__signature__ = _Signature(cls)


class _Signature:
    """Signature of a class whose `__init__` may not be made yet, for `inspect`."""

    def __init__(self, cls: type[Any]) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type[Any]) -> Signature:
        if owner is not self._cls:
            raise AttributeError("__signature__")  # A subclass may have an `__init__` of its own.
        # Imported here: no program that only runs needs it.
        from inspect import signature

        whole = signature(_init_of(owner))
        return whole.replace(parameters=list(whole.parameters.values())[1:])


def _init_of(cls: type[Any]) -> Callable[..., None]:
    """Return an `__init__` like that which dataclasses make for the fields of a class.

    `make_dataclass` would make a class around it, which takes three times as long.
    """
    names: dict[str, Any] = {"_factory": _FACTORY, "_set": object.__setattr__}
    is_frozen = cls.__dataclass_params__.frozen
    places, keywords, body = ["self"], list[str](), list[str]()
    for one in fields(cls):
        given = one.name
        if one.default_factory is not MISSING:
            names[f"_new_{one.name}"] = one.default_factory
            given = f"_new_{one.name}() if {one.name} is _factory else {one.name}" if one.init else f"_new_{one.name}()"
        elif one.default is not MISSING:
            names[f"_default_{one.name}"] = one.default
            given = one.name if one.init else f"_default_{one.name}"
        elif not one.init:
            continue
        if one.init:
            default = "" if given == one.name and one.default is MISSING else "=_factory"
            default = f"=_default_{one.name}" if one.default is not MISSING else default
            (keywords if one.kw_only else places).append(f"{one.name}{default}")
        body.append(f"_set(self, {one.name!r}, {given})" if is_frozen else f"self.{one.name} = {given}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    head = ", ".join([*places, *(["*", *keywords] if keywords else [])])
    exec(f"def __init__({head}):\n " + "\n ".join(body or ["pass"]), names)  # noqa: S102 - names are identifiers
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {one.name: one.type for one in fields(cls) if one.init}
    return init


def _add_comparison(cls: type[T], *, with_repr: bool = True) -> type[T]:
    """Compare, hash and print instances by their fields, as far as these say so.

    Methods of the class's own are kept. The others are the same functions for all records: there are hundreds.
    """
    compared = [one.name for one in fields(cls) if one.compare]  # type: ignore[arg-type]
    cls._compared = attrgetter(*compared) if compared else _nothing  # type: ignore[attr-defined]
    for name, method in (("__eq__", _equal), ("__hash__", _hash), ("__repr__", _show)):
        if cls.__dict__.get(name) is None and (with_repr or method is not _show):
            setattr(cls, name, method)
    return cls


def _nothing(record: Any) -> tuple[()]:
    return ()


def _equal(self: Any, other: Any) -> Any:
    cls = self.__class__
    return cls._compared(self) == cls._compared(other) if other.__class__ is cls else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.__class__._compared(self))


def _show(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({shown})"
