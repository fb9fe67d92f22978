"""What a mutation is: a part taken out of the session at the place where the session calls it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCES = Path("runtime/gemini_live_runtime/session")


@dataclass(frozen=True, slots=True)
class Mutation:
    """`old`, which occurs exactly once in `file`, becomes `new`; the tests in `tests` have to notice.

    `tests` are files of `tests/session`, without `test_` and `.py`, separated by spaces.
    """

    part: str
    file: str
    old: str
    tests: str
    new: str = "pass"

    @property
    def path(self) -> Path:
        """The file, from the root of the tree."""
        return SOURCES / self.file

    def problem(self, source: str) -> str:
        """Why it cannot be applied to the text of its file; "" when it can."""
        found = source.count(self.old)
        return "" if found == 1 else f"{self.part}: its text occurs {found} times in {self.file}, not once"


def rows(file: str, *rows: tuple[str, ...]) -> tuple[Mutation, ...]:
    """The mutations of one file: part, text, tests and, where it is not `pass`, what the text becomes."""
    return tuple(Mutation(row[0], file, *row[1:]) for row in rows)
