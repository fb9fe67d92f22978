"""The page of limits is that of the constants, and a test shows each limit."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.docs import limit_tables

from gemini_live_runtime import wire

TESTS = Path(__file__).resolve().parents[1]


@cache
def names_in(file: str) -> frozenset[str]:
    """Names of the tests in a file, also of those in a class."""
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def test_the_page_of_limits_is_current() -> None:
    assert limit_tables.PAGE.read_text("utf-8") == limit_tables.render(), "run: python -m tests.docs.tables"


def test_every_limit_is_shown_by_a_test_that_exists() -> None:
    missing = []
    for limits in limit_tables.LIMITS.values():
        for limit in limits:
            file, _, name = limit.test.partition("::")
            if name not in names_in(file):
                missing.append(limit.test)
    assert missing == []


def test_the_page_has_every_limit_of_the_wire() -> None:
    source = Path(limit_tables.__file__).read_text("utf-8")
    found = {
        f"{path.stem}.{name}"
        for path in Path(wire.__file__).parent.glob("*.py")
        for name in re.findall(r"^(MAX_\w+)\b.* = ", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(found) > 10
    assert sorted(name for name in found if not re.search(rf"\b{re.escape(name)}\b", source)) == []


def test_sizes_are_written_as_people_read_them() -> None:
    assert [limit_tables.size(count) for count in (1 << 30, 16 << 20, 65536, 1000)] == [
        "1 GiB",
        "16 MiB",
        "64 KiB",
        "1,000 bytes",
    ]
