"""Draw the pictures of `docs/architecture.md` from the imports: see `make docs`.

An arrow means "imports". Arrows that another way already shows are left out, so that the picture can be read: what is
drawn is the order of the packages, which import-linter holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import grimp

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"

RUNTIME = "gemini_live_runtime"
CONSOLE = "gemini_live_tui"
PICTURES: dict[str, str] = {"runtime": RUNTIME, "session": f"{RUNTIME}.session", "console": CONSOLE}
"""Name of each picture in the page, and the package whose parts it shows."""

_MARK = re.compile(r"<!-- imports: (\w+) -->\n```mermaid\n.*?```\n", re.DOTALL)

Arrows = dict[str, set[str]]


def arrows(graph: grimp.ImportGraph, package: str) -> Arrows:
    """Return which parts of `package` import which, type-only imports included."""
    parts = {child.removeprefix(f"{package}."): child for child in graph.find_children(package)}
    found: Arrows = {name: set() for name in parts}
    for name, module in parts.items():
        for other, target in parts.items():
            if name != other and graph.direct_import_exists(importer=module, imported=target, as_packages=True):
                found[name].add(other)
    return found


def without_shortcuts(found: Arrows) -> Arrows:
    """Leave out an arrow where a longer way leads to the same part."""

    def reaches(start: str, goal: str, seen: set[str]) -> bool:
        for step in found[start] - seen:
            seen.add(step)
            if step == goal or reaches(step, goal, seen):
                return True
        return False

    kept: Arrows = {name: set() for name in found}
    for name, targets in found.items():
        for target in targets:
            others = targets - {target}
            if not any(reaches(other, target, set()) for other in others):
                kept[name].add(target)
    return kept


def _lines(found: Arrows) -> Iterable[str]:
    yield "flowchart TD"
    for name in sorted(found):
        for target in sorted(found[name]):
            yield f"  {name} --> {target}"


def written(page: str) -> str:
    """Return the page with its pictures drawn anew."""
    graph = grimp.build_graph(RUNTIME, CONSOLE, exclude_type_checking_imports=False, cache_dir=None)

    def draw(mark: re.Match[str]) -> str:
        lines = "\n".join(_lines(without_shortcuts(arrows(graph, PICTURES[mark[1]]))))
        return f"<!-- imports: {mark[1]} -->\n```mermaid\n{lines}\n```\n"

    return _MARK.sub(draw, page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
