"""The versions for `make test-lowest` are the lower bounds of pyproject.toml."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from tests.packaging.lowest import TEST_TOOLS, lowest, requirements


def test_every_requirement_has_one_lower_bound() -> None:
    pinned = [lowest(each) for each in requirements()]
    names = {line.partition("==")[0] for line in pinned}
    assert {"textual", "pocketsphinx", "google-auth", "keyring", *TEST_TOOLS} <= names
    assert len(names) == len(pinned)


@pytest.mark.parametrize(
    ("requirement", "pin"),
    [
        ("websockets>=15.0", "websockets==15.0"),
        ("textual>=8.2.5,<9", "textual==8.2.5"),
        ("a>=1; python_version < '3.14'", 'a==1 ; python_version < "3.14"'),
    ],
)
def test_the_lower_bound_becomes_the_version(requirement: str, pin: str) -> None:
    assert lowest(Requirement(requirement)) == pin


@pytest.mark.parametrize("requirement", ["click", "textual==8.2.8", "a<2"])
def test_a_requirement_without_a_lower_bound_is_refused(requirement: str) -> None:
    with pytest.raises(ValueError, match="exactly one lower bound"):
        lowest(Requirement(requirement))
