"""Records compare, hash and print like dataclasses, and are cheaper to declare."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from copy import deepcopy
from dataclasses import KW_ONLY, FrozenInstanceError, dataclass, field, fields, replace
from typing import ClassVar

import pytest

from gemini_live_runtime.records import frozen_record, keyword_record, mutable_record, record


@record
class Person:
    """A record with fields of all kinds."""

    name: str
    token: str = field(default="", repr=False)
    seen: int = field(default=0, compare=False)


@keyword_record
class Mark:
    """A record that prints itself."""

    text: str = ""

    def __repr__(self) -> str:
        return f"<{self.text}>"


def test_fields_are_compared_hashed_and_printed_as_they_say() -> None:
    ann = Person("Ann", "secret")
    assert ann == Person("Ann", "secret", seen=4)
    assert hash(ann) == hash(Person("Ann", "secret", seen=4))
    assert ann != replace(ann, token="other")
    assert repr(ann) == "Person(name='Ann', seen=0)"
    assert ann != ("Ann", "secret")


def test_a_method_of_the_record_itself_is_kept() -> None:
    assert repr(Mark(text="here")) == "<here>"
    assert Mark(text="here") == Mark(text="here")


@record
class Timed(Person):
    """A record of a record, with a field that it fills itself."""

    tags: list[str] = field(default_factory=list)
    length: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@mutable_record
class Counter:
    """A record that changes."""

    name: str
    count: int = 0
    notes: list[str] = field(default_factory=list)


@frozen_record
class Point:
    """A record that refuses assignments."""

    x: int
    y: int = field(default=0, kw_only=True)


@frozen_record(kw_only=True)
class Named:
    """A frozen record whose fields are given by name, and which fills one itself."""

    name: str
    length: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


def test_all_records_share_the_functions_that_compare_and_print_them() -> None:
    assert Person.__eq__ is Timed.__eq__ is Mark.__eq__
    assert Person.__hash__ is Timed.__hash__ is Mark.__hash__
    assert Person.__repr__ is Timed.__repr__
    assert Timed("Ann", tags=["a"]) != Timed("Ann", tags=["b"])
    assert Timed("Ann") != Person("Ann")


def test_a_mutable_record_is_compared_by_its_present_fields_and_has_no_hash() -> None:
    counter = Counter("turns")
    counter.count += 1
    assert counter == Counter("turns", 1)
    assert repr(counter) == "Counter(name='turns', count=1, notes=[])"
    assert counter.notes is not Counter("turns").notes
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


@pytest.mark.parametrize("number", ["first", "second"])
def test_an_instance_is_made_as_dataclasses_make_it(number: str) -> None:
    bob = Timed("Bob", seen=2)
    assert (bob.name, bob.token, bob.seen, bob.tags, bob.length) == ("Bob", "", 2, [], 3)
    assert bob.tags is not Timed("Bob").tags
    assert not hasattr(bob, "__dict__")


@pytest.mark.parametrize("arguments", [(), ("Ann", "token", 1, "more")])
def test_an_instance_with_wrong_arguments_is_refused_by_the_name_of_its_class(arguments: tuple[str, ...]) -> None:
    @record
    class Fresh:
        """A record without instances."""

        name: str
        token: str = ""
        seen: int = 0

    for _ in range(2):
        with pytest.raises(TypeError, match=r"Fresh\.__init__\(\) "):
            Fresh(*arguments)  # type: ignore[arg-type]


def test_a_frozen_record_refuses_assignments_and_can_be_copied() -> None:
    point = Point(1, y=2)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'y'"):
        del point.y  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        Named(name="here").name = "there"  # type: ignore[misc]
    assert (point, hash(point)) == (Point(1, y=2), hash(Point(1, y=2)))
    assert [replace(point, x=1), deepcopy(point), pickle.loads(pickle.dumps(point))] == [point] * 3
    assert Named(name="here").length == 4


def test_a_frozen_dataclass_can_be_made_of_a_frozen_record() -> None:
    @dataclass(frozen=True)
    class Place(Point):
        name: str = ""

    place = Place(1, name="here")
    assert (place.x, place.y, place.name) == (1, 0, "here")
    with pytest.raises(FrozenInstanceError):
        place.x = 2  # type: ignore[misc]


def test_annotations_are_kept_and_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(annotation: str, *_: object) -> bool:
        raise AssertionError(annotation)

    monkeypatch.setattr(dataclasses, "_is_type", searched)

    @record
    class Plain:
        name: str
        parts: list[int] = field(default_factory=list)

    assert Plain.__annotations__ == {"name": "str", "parts": "list[int]"}
    assert [one.type for one in fields(Plain)] == ["str", "list[int]"]  # type: ignore[arg-type]
    assert Plain("x").parts == []


def test_a_class_variable_and_an_argument_of_post_init_are_no_fields() -> None:
    @record
    class Special:
        limit: ClassVar[int] = 3
        name: str = ""

    @keyword_record
    class After:
        _: KW_ONLY
        name: str = ""

    assert [one.name for one in fields(Special)] == ["name"]  # type: ignore[arg-type]
    assert Special.limit == 3
    assert [one.name for one in fields(After)] == ["name"]  # type: ignore[arg-type]


def test_few_classes_that_an_engine_imports_have_methods_that_dataclasses_compile() -> None:
    # A frozen one takes half a millisecond of its start, a record a tenth of that.
    code = (
        "import sys, gemini_live_runtime.engine.__main__, gemini_live_runtime.engine.assemble\n"
        "found = {kind for name, module in list(sys.modules.items()) if name.startswith('gemini_live_runtime')\n"
        "         for kind in vars(module).values() if isinstance(kind, type)\n"
        "         and kind.__module__.startswith('gemini_live_runtime') and '__dataclass_params__' in vars(kind)\n"
        "         and any(getattr(vars(kind).get(method), '__code__', None)\n"
        "                 and vars(kind)[method].__code__.co_filename == '<string>'\n"
        "                 for method in ('__setattr__', '__eq__'))}\n"
        "print(*sorted({kind.__name__ for kind in found}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(ran.stdout.split()) < 20, ran.stdout
