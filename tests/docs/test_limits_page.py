"""The page of limits is that of the constants, and a test shows each limit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.docs.limits import limit, no_input, page

import gemini_live_runtime
import gemini_live_tui

TESTS = Path(__file__).resolve().parents[1]

LIMIT = re.compile(r'^ *(_?MAX_\w+)\b.* = (?!")', re.MULTILINE)

OTHERWISE_NAMED = re.compile(
    r"^ *((?!_?MAX_)(?:[A-Z_]*_)?(?:MOST|LONGEST|LARGEST|HIGHEST|LIMIT|KEPT)(?:_[A-Z_]+)?)(?:: \w+)? = [-(\dA-Z_]",
    re.M,
)
"""A number whose name says in another word than `MAX` that it is a limit."""


@cache
def names_in(file: str) -> frozenset[str]:
    """Names of the tests in a file, also of those in a class."""
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def test_the_page_of_limits_is_current() -> None:
    assert page.PAGE.read_text("utf-8") == page.render(), "run: python -m tests.docs.tables"


def test_every_limit_is_shown_by_a_test_that_exists() -> None:
    missing = []
    for limits in page.LIMITS.values():
        for row in limits:
            file, _, name = row.test.partition("::")
            if name not in names_in(file):
                missing.append(row.test)
    assert missing == []


def test_the_page_has_every_limit_and_what_is_left_out_is_no_limit_of_an_input() -> None:
    named = {name for names in no_input.NOT_INPUTS.values() for name in names}
    found, shown = set(constants()), shown_limits()
    assert len(found) > 200
    assert sorted(found - shown - named) == [], (
        "add a row in tests/docs/limits, with a test, or a reason in no_input.py"
    )
    assert sorted(named - found) == [], "these do not exist"
    assert sorted(named & shown) == [], "these have a row"


def test_a_limit_is_named_max() -> None:
    """Keep to the one name by which the test above finds limits."""
    found = [f"{module}.{name}" for module, text in sources() for name in OTHERWISE_NAMED.findall(text)]
    assert found == [], "name it MAX_..., or TIMEOUT_S for a time to wait"


def constants() -> Iterator[str]:
    """Yield all limits, such as `tools.folders.MAX_READ`."""
    for module, text in sources():
        yield from (f"{module}.{name}" for name in LIMIT.findall(text))


def sources() -> Iterator[tuple[str, str]]:
    """Yield name and text of each module of both packages."""
    for package in (gemini_live_runtime, gemini_live_tui):
        root = Path(str(package.__file__)).parent
        for path in root.rglob("*.py"):
            yield ".".join(path.relative_to(root).with_suffix("").parts), path.read_text("utf-8")


def shown_limits() -> set[str]:
    """Return the limits that the page's rows name."""
    found = set()
    for section in page.SECTIONS.values():
        for node in ast.walk(ast.parse(Path(str(section.__file__)).read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and "MAX_" in node.attr:
                module = getattr(section, node.value.id).__name__
                found.add(f"{module.partition('.')[2]}.{node.attr}")
    return found


def test_sizes_are_written_as_people_read_them() -> None:
    assert [limit.size(count) for count in (1 << 30, 16 << 20, 65536, 1000)] == [
        "1 GiB",
        "16 MiB",
        "64 KiB",
        "1,000 bytes",
    ]
