"""Patterns match alike in every Python that runs the program."""

from __future__ import annotations

import pkgutil
import re
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from gemini_live_runtime import secret_patterns
from gemini_live_runtime.journal import privacy

with warnings.catch_warnings():
    # `re._parser` by its older name, which type checkers know.
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_constants
    import sre_parse

_SIGNS = (sre_constants.LITERAL, sre_constants.NOT_LITERAL, sre_constants.IN, sre_constants.ANY)

MODULES = [
    import_module(f"{package.__name__}.{found.name}")
    for package in (secret_patterns, privacy)
    for found in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_pattern_repeats_a_group_possessively(module: ModuleType) -> None:
    # Before Python 3.11.5 such a repetition may find nothing (github.com/python/cpython/issues/106052), and what a
    # secret is found by then shows it. `(?>(?:...)*)` says the same.
    for pattern in _texts(vars(module)):
        try:
            parsed = sre_parse.parse(pattern)
        except re.error:
            continue  # no pattern, or a part of one
        assert not any(_possessive_groups(parsed)), pattern


def test_a_possessive_group_is_found_wherever_it_is() -> None:
    assert any(_possessive_groups(sre_parse.parse(r"a|(?:b(?=(?:c|de)*+f))?")))
    assert not any(_possessive_groups(sre_parse.parse(r"(?:b(?=[cd]*+f))?")))


def _texts(value: object) -> Iterator[str]:
    """Yield the patterns of a module's constants."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value.pattern
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _possessive_groups(part: Any) -> Iterator[bool]:
    """Yield True for each repetition that is possessive and of more than one sign."""
    if isinstance(part, sre_parse.SubPattern):
        part = part.data
    if isinstance(part, list):
        for one in part:
            yield from _possessive_groups(one)
    elif isinstance(part, tuple):
        if part and part[0] is sre_constants.POSSESSIVE_REPEAT:
            repeated = part[1][2]
            yield len(repeated) != 1 or repeated[0][0] not in _SIGNS
        for one in part:
            yield from _possessive_groups(one)
