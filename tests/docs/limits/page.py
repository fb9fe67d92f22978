"""Write docs/limits.md from the constants: every limit of what comes in.

`python -m tests.docs.tables` calls this. A module beside this one has the rows of a section.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from tests.docs.limits import (
    from_agent,
    from_client,
    from_console,
    from_engine,
    from_files,
    from_operator,
    from_programs,
    from_server,
    into_recording,
    to_server,
)
from tests.docs.limits.limit import Limit

PAGE = Path(__file__).resolve().parents[3] / "docs" / "limits.md"

SECTIONS: dict[str, ModuleType] = {
    "From other programs of the user": from_programs,
    "From a model's server": from_server,
    "To a model's server": to_server,
    "From a console, at the engine's socket": from_console,
    "From an engine, at the console": from_engine,
    "From an operator": from_operator,
    "From an agent": from_agent,
    "Into a recording": into_recording,
    "From a file": from_files,
    "From a client of the embedded server": from_client,
}
"""Modules with `LIMITS`, by the heading of their section."""

LIMITS: dict[str, tuple[Limit, ...]] = {heading: module.LIMITS for heading, module in SECTIONS.items()}

_INTRO = """\
# Limits

Every input has a limit, so that nothing that comes in can fill the memory or stop a session. Each row says what happens
beyond the limit, and which test shows it. This page is generated from the constants (`python -m tests.docs.tables`).
Limits of time for an agent's code are in [agents.md](agents.md).
"""


def render() -> str:
    """Return the page."""
    return "\n".join([_INTRO, *_sections()])


def _sections() -> Iterator[str]:
    for heading, limits in LIMITS.items():
        yield f"## {heading}\n"
        yield "| input | at most | beyond it | shown by |\n|---|---|---|---|"
        for limit in limits:
            file, _, name = limit.test.partition("::")
            yield f"| {limit.input} | {limit.most} | {limit.beyond} | [`{name}`](../tests/{file}) |"
        yield ""


def write() -> None:
    """Write docs/limits.md."""
    PAGE.write_text(render(), "utf-8")
