"""Print the lowest versions that pyproject.toml allows, as requirements for pip.

`make test-lowest` installs the output of `python -m tests.packaging.lowest`, so a lower bound that is too low fails.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from packaging.requirements import Requirement
from tests.packaging.tree import ROOT

EXTRAS = ("local", "vertex", "keyring")
"""Extras for users. The extra `test` adds only TEST_TOOLS."""

TEST_TOOLS = ("pytest", "pytest-asyncio", "pytest-xdist", "hypothesis", "packaging")


def requirements() -> Iterator[Requirement]:
    """Yield the requirements of the project, of EXTRAS and of TEST_TOOLS."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    yield from map(Requirement, lines)
    yield from (tool for tool in map(Requirement, extras["test"]) if tool.name in TEST_TOOLS)


def lowest(requirement: Requirement) -> str:
    """Return `name==version` for the lower bound, with its marker.

    Raises ValueError when there is no lower bound, or more than one.
    """
    bounds = [part.version for part in requirement.specifier if part.operator == ">="]
    if len(bounds) != 1:
        raise ValueError(f"{requirement} needs exactly one lower bound (>=)")
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}=={bounds[0]}{marker}"


if __name__ == "__main__":
    for each in requirements():
        print(lowest(each))
